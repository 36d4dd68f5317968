import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Formerly Podsights, whose tags are still in use. */
export const spotifyAdAnalytics: Decoder = {
  vendor: 'Spotify Ad Analytics',
  source: 'https://help.adanalytics.spotify.com/pixel-events',
  hosts: ['pixels.spotify.com', 'pixel.byspotify.com', 'pdst.fm', 'us-central1-adaptive-growth.cloudfunctions.net'],
  routes: [
    { path: /^\/v\d\/ingest\/?$|^\/pdst-events-prod-sink\/?$/, read: readEvents },
    scriptLoad(/^\/ping(?:\.min)?\.js$/),
  ],
}

/** `{batch: [{pid, events: [{action, body}]}]}`. The previous format was one event in the query: `key`, `action`. */
function* readEvents(request: VendorRequest): Iterable<DecodedEvent> {
  const { fields } = request
  if (!isJson(request.body) && 'key' in fields) {
    yield { event: fields.action ?? '', account: scalarOrNull(fields.key), params: fields }
    return
  }
  for (const { pid, events } of objectsOf(request.json.batch)) {
    for (const { action, body, ...rest } of objectsOf(events)) {
      yield { event: scalarText(action), account: scalarOrNull(pid), params: { ...rest, ...objectOf(body) } }
    }
  }
}
