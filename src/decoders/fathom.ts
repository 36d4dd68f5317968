import type { Decoder } from './decoder.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS = { account: 'sid', event: ({ name, gcode }: Params) => name || gcode || 'pageview' }

/** True for requests of Fathom's script, including those to the customer's own domain that points to Fathom. */
const isFathom = (request: VendorRequest) =>
  request.search.includes('sid=') &&
  /^[A-Z]{8}$/.test(request.query.sid ?? '') &&
  'h' in request.query &&
  'cid' in request.query

/** Page views, and events with names. Goals, the predecessors of events, have only a code. */
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
