import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, readJsonObjects } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** https://developers.snap.com/api/marketing-api/Conversions-API */
const SERVER = /^\/v\d\/(?<account>[^/]+)\/events\/?$/

export const snapchatPixel: Decoder = {
  vendor: 'Snapchat Pixel',
  source: 'https://businesshelp.snapchat.com/s/article/pixel-website-install',
  hosts: ['tr.snapchat.com', 'tr6.snapchat.com', 'tr-shadow.snapchat.com', 'sc-static.net'],
  routes: [
    { path: /^\/p\/?$/, read: readTracks },
    serverEvents(SERVER, { list: 'data', event: 'event_name' }),
    // The previous version: one event, or a list of events.
    { path: /^\/v2\/conversion\/?$/, read: readConversions },
    // Requests that validate events without counting them, or return statistics on received events.
    sideChannel(/^\/v\d\/(?:conversion\/|[^/]+\/events\/)/),
    // Identity sync.
    sideChannel(/^\/(?:cm|collector)\//),
    scriptLoad(/^\/config\/[^/]+\/(?<account>[^/.]+)\.js$/),
    scriptLoad(/^\/scevent(?:\.min)?\.js$/),
  ],
}

/**
 * `{ctx, req: [{t: {pid, ev, …}}, …]}`. Entries without `t` report the start of the pixel or are logs. The previous
 * format was one event in a form.
 */
function* readTracks(request: VendorRequest): Iterable<DecodedEvent> {
  const { fields } = request
  if (!isJson(request.body) && 'pid' in fields) {
    yield { event: fields.ev ?? '', account: scalarOrNull(fields.pid), params: fields }
    return
  }
  const { ctx, req } = request.json
  for (const { t } of objectsOf(req)) {
    if (!t) continue
    const track = objectOf(t)
    yield { event: scalarText(track.ev), account: scalarOrNull(track.pid), params: { ctx, ...track } }
  }
}

function* readConversions({ body }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of readJsonObjects(body)) {
    const account = scalarOrNull(event.pixel_id ?? event.app_id)
    yield { event: scalarText(event.event_type), account, params: event }
  }
}
