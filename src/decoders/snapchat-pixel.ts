import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'

const SERVER = /^\/v\d\/(?<account>[^/]+)\/events\/?/

export const snapchatPixel: Decoder = {
  vendor: 'Snapchat Pixel',
  source: 'https://businesshelp.snapchat.com/s/article/pixel-website-install',
  hosts: ['tr.snapchat.com', 'tr6.snapchat.com', 'tr-shadow.snapchat.com', 'sc-static.net'],
  routes: [
    { path: /^\/p\/?$/, read: readTracks },
    { path: SERVER, read: readServerEvents },
    // Who the visitor is.
    sideChannel(/^\/(?:cm|collector)\//),
    scriptLoad(/^\/config\/[^/]+\/(?<account>[^/.]+)\.js$/),
    scriptLoad(/^\/scevent(?:\.min)?\.js$/),
  ],
}

/** `{ctx, req: [{t: {pid, ev, …}}, …]}`; what is no `t` is a start or a log. Formerly one event in a form. */
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

/** https://developers.snap.com/api/marketing-api/Conversions-API */
function* readServerEvents({ path, json }: VendorRequest): Iterable<DecodedEvent> {
  const account = scalarOrNull(SERVER.exec(path)?.groups?.account)
  for (const event of objectsOf(json.data)) yield { event: scalarText(event.event_name), account, params: event }
}
