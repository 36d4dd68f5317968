import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import { readRison } from './rison.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Events are named after their class (`PageView`, `Conversion`, `Feature`, …). The type and name of an event add
 * detail.
 */
export const bazaarvoice: Decoder = {
  vendor: 'Bazaarvoice',
  source: 'https://developers.bazaarvoice.com/v1.0-ConversationsAPI/docs/bv-pixel',
  hosts: ['bazaarvoice.com'],
  routes: [
    { path: /^\/(?:st|a)\.gif$/, read: readEvents },
    // Requests the visitor's id.
    sideChannel(/^\/(?:sid\.gif|id\.json)$/),
    scriptLoad(/^\/deployments\/(?<account>[\w-]+)\//),
    { ...scriptLoad(/\.js$/), when: ({ host }) => host.includes('static.') },
  ],
}

/**
 * One event in the query, or a list of events in Rison. The query contains the fields that all events in the list
 * share.
 */
function* readEvents({ query, fields }: VendorRequest): Iterable<DecodedEvent> {
  const { r_batch, ...shared } = fields
  const account = scalarOrNull(query.client ?? fields.client)
  const events = r_batch === undefined ? [{}] : objectsOf(readRison(r_batch))
  for (const event of events) {
    const params: Record<string, unknown> = { ...shared, ...event }
    yield { event: scalarText(params.cl), account, params }
  }
}
