import type { DecodedEvent, Decoder } from './decoder.ts'
import { readJsonObjects } from './json.ts'
import { decompressFromBase64 } from './lz-string.ts'
import { scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const clevertap: Decoder = {
  vendor: 'CleverTap',
  source: 'https://developer.clevertap.com/docs/web',
  hosts: ['clevertap-prod.com', 'clevertap.com', 'wzrkt.com', 'd2r1yp2w7bby2u.cloudfront.net'],
  routes: [
    { path: /^\/a$/, when: ({ query }) => 'd' in query, read: readCall },
    // E-mail subscriptions, and data that the page requests.
    sideChannel(/^\/[aer]$/),
    scriptLoad(/\/(?:js\/)?(?:a|clevertap|sw_webpush)(?:\.min)?\.js$/),
  ],
}

/** `d` is compressed JSON. Events have names. Page views, profiles and pings are named after their type. */
function readCall({ query }: VendorRequest): DecodedEvent[] {
  const { d = '', ...rest } = query
  const text = decompressFromBase64(d)
  if (text === null) throw new Error('the data cannot be decompressed')
  return readJsonObjects(text).map((call) => ({
    event: scalarText(call.evtName) || scalarText(call.type) || (rest.type ?? ''),
    account: scalarOrNull(call.id),
    params: { ...rest, ...call },
  }))
}
