import type { DecodedEvent, Decoder } from './decoder.ts'
import { looksLike, readJsonObjects } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import { readCalls } from './segment-calls.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Runs on the customer's own host or at `<workspace>.d.jitsu.com`. The API is Segment's, with different paths. */
export const jitsu: Decoder = {
  vendor: 'Jitsu',
  source: 'https://docs.jitsu.com/sending-data/http',
  hosts: ['jitsu.com'],
  routes: [
    {
      path: /\/api\/s\/(?:s2s\/)?(?:track|page|identify|group|alias|screen|batch|event)\/?$/,
      anyHost: true,
      mark: /^.*\n\{[\s\S]*"messageId"/,
      when: ({ body }) => looksLike(body, '{', '"messageId"'),
      read: readCalls,
    },
    // The previous generation of the product.
    {
      path: /\/api(?:\.\w+)?\/v1\/(?:s2s\/)?event\/?$/,
      anyHost: true,
      mark: /^(?=[\s\S]*"event_type")[\s\S]*"eventn_ctx/,
      when: ({ body }) => looksLike(body, '', '"event_type"', '"eventn_ctx'),
      read: readEvents,
    },
    sideChannel(/^\/api\/s\//),
    scriptLoad(/^\/(?:p|s\/lib)\.js$/),
  ],
}

function* readEvents({ query, body }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of readJsonObjects(body)) {
    const key = query.token ?? event.api_key ?? objectOf(event.eventn_ctx).api_key
    yield { event: scalarText(event.event_type), account: scalarOrNull(key), params: event }
  }
}
