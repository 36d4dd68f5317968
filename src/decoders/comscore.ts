import type { DecodedEvent, Decoder } from './decoder.ts'
import { type Params, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The publisher's id is `c2`. */
export const comscore: Decoder = {
  vendor: 'Comscore',
  source: 'https://github.com/MisterPhilip/omnibug',
  hosts: ['scorecardresearch.com', 'sitestat.com'],
  routes: [
    { path: /^\/[bpr]$/, read: ({ fields }) => [toEvent(fields, fields.c2)] },
    // The same hit, sent again after a cookie has been set.
    sideChannel(/^\/[bpr]2$/),
    scriptLoad(/^\/(?:c2|cs)\/(?<account>\d+)\/\w+\.js$/),
    scriptLoad(/\.js$/),
    // Digital Analytix on the customer's own host: `/<customer>/<site>/s`
    {
      path: /^\/[\w.-]+\/[\w.-]+\/s$/,
      anyHost: true,
      mark: /[?&]ns_(?:_t|type|ap_an)=/,
      when: ({ search }) => /[?&]ns_(?:_t|type|ap_an)=/.test(search),
      read: readSite,
    },
  ],
}

function readSite({ path, fields }: VendorRequest): DecodedEvent[] {
  return [toEvent(fields, path.slice(1, -2))]
}

/** Streaming hits have an event name. Any other hit is a page view, unless it is marked as hidden from the user. */
function toEvent(params: Params, account: string | undefined): DecodedEvent {
  const event = params.ns_st_ev || params.ns_ap_ev || params.ns_type || 'view'
  return { event, account: scalarOrNull(account), params }
}
