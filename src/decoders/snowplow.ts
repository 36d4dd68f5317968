import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, isJson, looksLike, readJsonObjects, unfolded } from './json.ts'
import { objectOf, objectsOf, type Params, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Start of a POST body. The path can be any. */
const PAYLOAD = '{"schema":"iglu:com.snowplowanalytics.snowplow/payload_data/'

/**
 * Meaning of `e`, with the names used in Snowplow's event tables. A self-describing event (`ue`) is named after its
 * schema.
 */
const NAMES = new Map([
  ['pv', 'page_view'],
  ['pp', 'page_ping'],
  ['se', 'struct'],
  ['ue', 'unstruct'],
  ['tr', 'transaction'],
  ['ti', 'transaction_item'],
  ['ad', 'ad_impression'],
])

/** Event codes. */
const EVENT = /^(?:p[vp]|[su]e|t[ri]|ad)$/

/** Collectors run on the customer's own host. `e` is the event, `aid` is the application that sent it. */
export const snowplow: Decoder = {
  vendor: 'Snowplow',
  source: 'https://docs.snowplow.io/',
  hosts: ['snplow.net'],
  routes: [
    { path: /\/com\.snowplowanalytics\.snowplow\/tp2\/?$/, anyHost: true, read: readPost },
    {
      path: /^/,
      anyHost: true,
      mark: /^.*\n\{"schema":"iglu:com\.snowplowanalytics\.snowplow\/payload_data\//,
      when: ({ body }) => looksLike(body, PAYLOAD),
      read: readPost,
    },
    {
      path: /\/i$/,
      anyHost: true,
      mark: /^(?=.*[?&]tv=).*[?&]e=(?:p[vp]|[su]e|t[ri]|ad)(?:&|\n)/,
      when: (request) => request.search.includes('tv=') && 'tv' in request.query && EVENT.test(request.query.e ?? ''),
      read: ({ query }) => [toEvent(query)],
    },
    // Requests with a renamed path, which evades ad blockers. All trackers send `p`, and the UUID of the event as
    // `eid`.
    {
      path: /^/,
      anyHost: true,
      mark: /^(?=.*[?&]tv=)(?=.*[?&]p=)(?=.*[?&]eid=[\da-f-]{36}).*[?&]e=(?:p[vp]|[su]e|t[ri]|ad)(?:&|\n)/,
      when: (request) => request.search.includes('tv=') && isTrackers(request.query),
      read: ({ query }) => [toEvent(query)],
    },
    // Webhooks of other tools. The schema identifies the event.
    { path: /\/com\.snowplowanalytics\.iglu\/v1\/?$/, anyHost: true, read: readWebhook },
    { ...scriptLoad(/snowplow.*\bsp(?:\.lite)?\.js$/), anyHost: true },
  ],
}

function isTrackers({ e = '', p, eid = '' }: Params): boolean {
  return EVENT.test(e) && p !== undefined && /^[\da-f-]{36}$/.test(eid)
}

/** `{schema, data: [event, …]}`. A GET request with this path carries no event. */
function* readPost(request: VendorRequest): Iterable<DecodedEvent> {
  if (request.body === null) return
  for (const event of objectsOf(request.json.data)) yield toEvent(event)
}

/**
 * Returns an event. It may contain JSON, in plain text (`ue_pr`, `co`) or in base64 (`ue_px`, `cx`), which is parsed
 * and stored under the plain-text key.
 */
function toEvent({ ue_px, ue_pr, cx, co, ...event }: Record<string, unknown>): DecodedEvent {
  const opened = { ue_pr: open(ue_pr, ue_px), co: open(co, cx) }
  const code = scalarText(event.e)
  const schema = scalarText(objectOf(objectOf(opened.ue_pr).data).schema)
  const name = (code === 'ue' && schemaName(schema)) || (NAMES.get(code) ?? code)
  return { event: name, account: scalarOrNull(event.aid), params: { ...event, ...opened } }
}

/** `iglu:com.snowplowanalytics.snowplow/link_click/jsonschema/1-0-1` → `link_click`. Empty for any other text. */
function schemaName(schema: string): string {
  return /^iglu:[^/]+\/([^/]+)\//.exec(schema)?.[1] ?? ''
}

/**
 * `{schema, data}`. If the schema is in the query, the data is a list of objects, one object, or the fields of a form
 * or the query: https://docs.snowplow.io/docs/sources/webhooks/iglu-webhook/
 */
function* readWebhook({ body, query, fields }: VendorRequest): Iterable<DecodedEvent> {
  for (const sent of isJson(body) ? readJsonObjects(body) : [fields]) {
    const isSelfDescribing = typeof sent.schema === 'string' && typeof sent.data === 'object'
    const { schema, data } = isSelfDescribing ? sent : { schema: query.schema ?? sent.schema, data: sent }
    for (const one of Array.isArray(data) ? objectsOf(data) : [objectOf(data)]) {
      yield { event: scalarText(schema), account: scalarOrNull(query.aid), params: { ...query, schema, ...one } }
    }
  }
}

function open(plain: unknown, encoded: unknown): unknown {
  return unfolded(typeof encoded === 'string' ? fromBase64(encoded) : plain)
}
