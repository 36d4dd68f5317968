import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { fromBase64, looksLike, openedBase64, sentJsonMark } from './json.ts'
import { readJsonObject } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import { readCalls, SEGMENT_MEANINGS, toEvent } from './segment-calls.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS: readonly KeyReference[] = [
  { url: 'https://segment.com/docs/connections/spec/common/', meanings: SEGMENT_MEANINGS },
]

export const segment: Decoder = {
  vendor: 'Segment',
  source: 'https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/',
  keys: KEYS,
  hosts: [
    'api.segment.io',
    'api.segment.com',
    'segmentapis.com',
    'cdn.segment.com',
    'cdn.segment.io',
    'cdn.segment.build',
    'cdn-settings.segment.com',
  ],
  routes: [
    { path: /^\/v1\/(?:[tpigas]|track|page|identify|group|alias|screen|batch|b|import)\/?$/, read: readCalls },
    { path: /^\/v1\/pixel\/\w+$/, read: readPixel },
    // Counters of the library, and settings of the source.
    sideChannel(/^\/v1\/(?:m|projects\/[^/]+\/(?:settings|integrations))$/),
    scriptLoad(/^\/analytics\.js\/v1\/(?<account>[^/]+)\//),
    scriptLoad(/^\/(?:analytics-next|next-integrations)\//),
    // The customer's own host may serve both the API and the library. Compatible vendors use the same paths and keys,
    // and only their libraries reveal which vendor it is.
    {
      path: /^/,
      anyHost: true,
      mark: /^.*\n\{(?=[\s\S]*"writeKey":)[\s\S]*"name":"analytics\.js"/,
      when: ({ body }) => looksLike(body, '{', '"writeKey":', '"name":"analytics.js"'),
      read: readCalls,
    },
    {
      path: /\/v1\/pixel\/\w+$/,
      anyHost: true,
      mark: sentJsonMark('"writeKey":'),
      when: (request) =>
        request.search.includes('data=') && looksLike(openedBase64(request.query.data ?? ''), '{', '"writeKey":'),
      read: readPixel,
    },
    { ...scriptLoad(/\/analytics\.js\/v1\/(?<account>\w{20,40})\/analytics(?:\.min)?\.js$/), anyHost: true },
  ],
}

/** https://segment.com/docs/connections/sources/catalog/libraries/server/pixel-tracking-api/ */
function readPixel({ path, query }: VendorRequest): DecodedEvent[] {
  const call = query.data ? readJsonObject(fromBase64(query.data)) : query
  return [toEvent(call, path, query)]
}
