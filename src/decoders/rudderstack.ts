import type { Decoder, KeyReference, Route } from './decoder.ts'
import { looksLike } from './json.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import { readCalls, SEGMENT_MEANINGS, toEvent } from './segment-calls.ts'
import type { VendorRequest } from './vendor-request.ts'

const CALLS: Route = {
  path: /\/v1\/(?:track|page|identify|group|alias|screen|batch|import|merge)\/?$/,
  read: readCalls,
}

const KEYS: readonly KeyReference[] = [
  { url: 'https://www.rudderstack.com/docs/event-spec/standard-events/', meanings: SEGMENT_MEANINGS },
]

/**
 * Uses Segment's API. Its data planes often run on the customer's own host. The write key is usually in a header, so
 * the account is unknown. Only beacons and pixels have the key in the query.
 */
export const rudderstack: Decoder = {
  vendor: 'RudderStack',
  source: 'https://www.rudderstack.com/docs/api/http-api/',
  keys: KEYS,
  hosts: ['rudderstack.com', 'rudderlabs.com'],
  routes: [
    { path: /\/pixel\/v1\/\w+$/, read: readPixel },
    CALLS,
    { ...CALLS, path: /\/v1\/[tpigasb]\/?$/ },
    // Settings of the source, and errors and counters of the library.
    sideChannel(/^\/(?:sourceConfig|rsaMetrics|metrics)\b/),
    scriptLoad(/\/(?:rudder-analytics|rsa)(?:[.-][\w.-]+)?\.js$/),
    // Modules that the library loads when it needs them.
    sideChannel(/\/(?:plugins|js-integrations)\//),
    {
      ...CALLS,
      path: /^/,
      anyHost: true,
      mark: /^.*\n\{[\s\S]*"RudderLabs JavaScript SDK"/,
      when: ({ body }) => looksLike(body, '{', '"RudderLabs JavaScript SDK"'),
    },
    {
      ...CALLS,
      path: /\/beacon\/v1\/batch\/?$/,
      anyHost: true,
      mark: /[?&]writeKey=/,
      when: ({ query }) => 'writeKey' in query,
    },
  ],
}

function readPixel({ path, query }: VendorRequest) {
  return [toEvent(query, path, query)]
}
