import type { Decoder } from './decoder.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS = { account: 'sid', event: ({ name, gcode }: Params) => name || gcode || 'pageview' }

/**
 * True for Fathom's script requests, including those through a custom domain of the customer, which points to Fathom.
 */
const isFathom = (request: VendorRequest) =>
  request.search.includes('sid=') &&
  /^[A-Z]{8}$/.test(request.query.sid ?? '') &&
  'h' in request.query &&
  'cid' in request.query

/** Page views, and events by name. Goals, the predecessors of events, only have a code. */
export const fathom: Decoder = {
  vendor: 'Fathom',
  source: 'https://usefathom.com/docs/script/script-advanced',
  hosts: ['cdn.usefathom.com', 'collect.usefathom.com', 'cdn-eu.usefathom.com', 'starman.fathomdns.com'],
  routes: [
    scriptLoad(/^\/(?:script|tracker)\.js$/),
    { ...pixel(/^\/(?:event)?$/, KEYS), when: ({ query }) => 'sid' in query },
    {
      ...pixel(/^\/(?:event)?$/, KEYS),
      anyHost: true,
      mark: /^(?=.*[?&]h=)(?=.*[?&]cid=).*[?&]sid=[A-Z]{8}(?:&|\n)/,
      when: isFathom,
    },
  ],
}
