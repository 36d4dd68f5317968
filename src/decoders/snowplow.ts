import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, looksLike, unfolded } from './json.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { pixel, scriptLoad } from './route.ts'

/** How the body of a POST begins, under whatever path. */
const PAYLOAD = '{"schema":"iglu:com.snowplowanalytics.snowplow/payload_data/'

/**
 * Collectors run under the customer's own name. An event is `e` (`pv` page view, `pp` page ping, `se` structured, `ue`
 * self-describing, `tr` and `ti` transaction), its application `aid`.
 */
export const snowplow: Decoder = {
  vendor: 'Snowplow',
  source: 'https://docs.snowplow.io/',
  hosts: ['snplow.net'],
  routes: [
    { path: /\/com\.snowplowanalytics\.snowplow\/tp2\/?$/, anyHost: true, read: readPost },
    {
      path: /^\/[\w.-]+\/[\w.-]+\/?$/,
      anyHost: true,
      when: ({ body }) => looksLike(body, PAYLOAD),
      read: readPost,
    },
    {
      path: /\/i$/,
      anyHost: true,
      when: ({ search, query }) =>
        search.includes('tv=') && 'tv' in query && /^(?:p[vp]|[su]e|t[ri]|ad)$/.test(query.e ?? ''),
      read: ({ query }) => [toEvent(query)],
    },
    // Other tools' webhooks: the schema says what the event is.
    {
      ...pixel(/\/com\.snowplowanalytics\.iglu\/v1$/, { account: 'aid', event: 'schema' }),
      anyHost: true,
    },
    { ...scriptLoad(/\bsp(?:\.lite)?\.js$/), anyHost: true, when: ({ path }) => path.includes('snowplow') },
  ],
}

/** `{schema, data: [event, …]}`; a GET under this path asks for nothing. */
function* readPost(request: VendorRequest): Iterable<DecodedEvent> {
  if (request.body === null) return
  for (const event of objectsOf(request.json.data)) yield toEvent(event)
}

/** The JSON inside, plain (`ue_pr`, `co`) or in base64 (`ue_px`, `cx`), is opened under the plain one's key. */
function toEvent({ ue_px, ue_pr, cx, co, ...event }: Record<string, unknown>): DecodedEvent {
  const opened = { ue_pr: open(ue_pr, ue_px), co: open(co, cx) }
  return { event: scalarText(event.e), account: scalarOrNull(event.aid), params: { ...event, ...opened } }
}

function open(plain: unknown, encoded: unknown): unknown {
  return unfolded(typeof encoded === 'string' ? fromBase64(encoded) : plain)
}
