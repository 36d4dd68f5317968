import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { looksLike } from './json.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const EVENTS: Route = { path: /^\/[\w/-]+$/, read: readEvents }

/** Events are collected at `<name>.pa-cd.com`, or on the customer's own host with any path. */
export const pianoAnalytics: Decoder = {
  vendor: 'Piano Analytics',
  source: 'https://developers.atinternet-solutions.com/piano-analytics/',
  hosts: ['pa-cd.com'],
  routes: [
    EVENTS,
    {
      ...EVENTS,
      anyHost: true,
      mark: /^(?=.*[?&]idclient=)(?=.*[?&]s=\d).*\n\{"events":\[/,
      when: (request) =>
        request.search.includes('idclient=') &&
        /^\d[\d,]*$/.test(request.query.s ?? '') &&
        looksLike(request.body, '{"events":['),
    },
    { ...scriptLoad(/\/piano-analytics(?:\.min)?\.js$/), anyHost: true },
  ],
}

/** `{events: [{name, data}, …]}`. The query contains the site. */
function* readEvents({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of objectsOf(json.events)) {
    yield { event: scalarText(event.name), account: scalarOrNull(query.s), params: { ...query, ...event } }
  }
}
