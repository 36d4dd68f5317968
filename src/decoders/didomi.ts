import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { readJsonObjects } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const EVENTS: Route = { path: /\/v1\/events\/?$/, read: readEvents }

/** https://developers.didomi.io/cmp/web-sdk/reference/events */
export const didomi: Decoder = {
  vendor: 'Didomi',
  source: 'https://developers.didomi.io/cmp/web-sdk/getting-started',
  hosts: ['privacy-center.org', 'api.didomi.io'],
  routes: [
    EVENTS,
    scriptLoad(/^\/(?<account>[0-9a-f]{8}-[0-9a-f-]{27})\/loader\.js$/),
    scriptLoad(/^\/sdk\//),
    // Requests through the customer's own host.
    { ...EVENTS, anyHost: true, mark: /"sdk-web"/, when: ({ body }) => body?.includes('"sdk-web"') ?? false },
  ],
}

/** `consent.given`, `pageview`, …: one object or a list of objects. */
function* readEvents({ body }: VendorRequest): Iterable<DecodedEvent> {
  for (const sent of readJsonObjects(body)) {
    yield { event: scalarText(sent.type), account: scalarOrNull(objectOf(sent.source).key), params: sent }
  }
}
