import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson } from './json.ts'
import { scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const nextdoorPixel: Decoder = {
  vendor: 'Nextdoor Pixel',
  source: 'https://help.nextdoor.com/s/article/nextdoor-pixel',
  hosts: ['flask.nextdoor.com', 'ads.nextdoor.com'],
  routes: [{ path: /^\/pixel\/?$/, read: readEvent }, scriptLoad(/^\/public\/pixel\/ndp\.js$/, 'id')],
}

/** Reads an event from the query or a form. Large events are in JSON with the same keys. */
function readEvent(request: VendorRequest): DecodedEvent[] {
  const sent = isJson(request.body) ? { ...request.query, ...request.json } : request.fields
  return [{ event: scalarText(sent.ev), account: scalarOrNull(sent.pid), params: sent }]
}
