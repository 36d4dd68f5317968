import type { Decoder } from './decoder.ts'
import { unfolded } from './json.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const parsely: Decoder = {
  vendor: 'Parse.ly',
  source: 'https://docs.parse.ly/',
  hosts: ['parsely.com'],
  routes: [
    { path: /^\/(?:plogger|px)\/?$/, when: ({ query }) => 'rand' in query || 'idsite' in query, read: readHit },
    scriptLoad(/^\/keys\/(?<account>[^/]+)\/p\.js$/),
    scriptLoad(/^\/(?:p|track|pixel)\.js$/),
    sideChannel(/^\/mobileproxy\/?$/),
  ],
}

/** Reads a hit. The account is the key of the site. `data` and `metadata` contain JSON text. */
function readHit({ fields }: VendorRequest) {
  const { data, metadata, ...rest } = fields
  const params = { ...rest, data: unfolded(data), metadata: unfolded(metadata) }
  return [{ event: fields.action ?? '', account: scalarOrNull(fields.idsite), params }]
}
