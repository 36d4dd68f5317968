import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import type { VendorRequest } from './vendor-request.ts'

const COLLECT = /(?:^\/pc\/(?<account>[^/]+))?\/sst\/?$/

/** Runs on the customer's own host. The account is the profile in the path. */
export const ensightenServerSide: Decoder = {
  vendor: 'Ensighten Server Side',
  source: 'https://github.com/MisterPhilip/omnibug',
  hosts: [],
  routes: [
    {
      path: COLLECT,
      anyHost: true,
      mark: /[?&]sstVersion=/,
      when: ({ query }) => 'sstVersion' in query,
      read: readEvents,
    },
  ],
}

/** `{settings, dataLayer, events: [{name, data}, …]}` */
function* readEvents(request: VendorRequest): Iterable<DecodedEvent> {
  const { events, ...rest } = request.body ? request.json : {}
  const shared = sharedOf({ ...request.query, ...rest })
  const account = scalarOrNull(COLLECT.exec(request.path)?.groups?.account)
  for (const event of objectsOf(events)) {
    yield { event: scalarText(event.name), account, params: { ...shared, ...event } }
  }
}
