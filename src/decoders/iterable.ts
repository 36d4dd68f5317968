import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarText } from './params.ts'
import { jsonEvent, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The account key is in a header, so events have no account. */
export const iterable: Decoder = {
  vendor: 'Iterable',
  source: 'https://api.iterable.com/api/docs',
  hosts: ['api.iterable.com', 'api.eu.iterable.com'],
  routes: [
    { path: /^\/api\/events\/trackBulk$/, read: readBulk },
    jsonEvent(/^\/api\/events\/track$/, { event: 'eventName' }),
    // Calls without a custom name are named after the last segment of their path.
    jsonEvent(/^\/api\/(?:events|commerce|users)\/(?<event>\w+)$/),
    sideChannel(/^\/api\/(?:inApp|embedded-messaging|auth|anonymoususer)\//),
  ],
}

function* readBulk({ json }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of objectsOf(json.events)) yield { event: scalarText(event.eventName), account: null, params: event }
}
