import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
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

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://docs.snowplow.io/docs/collecting-data/collecting-from-own-applications/snowplow-tracker-protocol/going-deeper/event-parameters/',
    meanings: {
      e: ['code', 'Type of the event'],
      eid: ['identifier', 'ID of the event'],
      aid: ['identifier', 'ID of the application'],
      p: ['code', 'Platform, such as web or mob'],
      tna: ['text', 'Name of the tracker'],
      tv: ['code', 'Version of the tracker'],
      dtm: ['time', 'Time of the event by the device’s clock, in milliseconds since 1970'],
      stm: ['time', 'Time at which the event was sent, in milliseconds since 1970'],
      ttm: ['time', 'True time of the event, in milliseconds since 1970'],
      tz: ['code', 'Time zone of the visitor'],
      duid: ['identifier', 'Visitor ID: the browser, from a first-party cookie'],
      nuid: ['identifier', 'Visitor ID across sites, from the collector’s cookie'],
      tnuid: ['identifier', 'Visitor ID across sites, set by the tracker'],
      uid: ['identifier', 'User ID assigned by the site'],
      vid: ['number', 'Number of the session for this visitor'],
      sid: ['identifier', 'ID of the session'],
      ip: ['text', 'IP address of the visitor'],
      ua: ['text', 'User agent of the browser'],
      url: ['url', 'Address of the page'],
      refr: ['url', 'Address of the previous page'],
      page: ['text', 'Title of the page'],
      lang: ['code', 'Language of the browser'],
      cs: ['code', 'Character encoding of the page'],
      cd: ['number', 'Color depth of the screen in bits'],
      cookie: ['boolean', '1 if cookies are available'],
      res: ['text', 'Screen resolution in pixels'],
      vp: ['text', 'Visible area of the browser in pixels'],
      ds: ['text', 'Size of the document in pixels'],
      se_ca: ['text', 'Category of the event'],
      se_ac: ['text', 'Action of the event'],
      se_la: ['text', 'Label of the event'],
      se_pr: ['text', 'Property of the event'],
      se_va: ['number', 'Value of the event'],
      pp_mix: ['number', 'Minimum horizontal scroll position in pixels'],
      pp_max: ['number', 'Maximum horizontal scroll position in pixels'],
      pp_miy: ['number', 'Minimum vertical scroll position in pixels'],
      pp_may: ['number', 'Maximum vertical scroll position in pixels'],
      tr_id: ['identifier', 'ID of the order'],
      tr_af: ['text', 'Store or affiliation of the order'],
      tr_tt: ['amount', 'Total of the order'],
      tr_tx: ['amount', 'Tax of the order'],
      tr_sh: ['amount', 'Shipping cost of the order'],
      tr_ci: ['text', 'City of the order'],
      tr_st: ['text', 'State of the order'],
      tr_co: ['text', 'Country of the order'],
      tr_cu: ['code', 'Currency of the order (ISO 4217)'],
      ti_id: ['identifier', 'ID of the order to which the item belongs'],
      ti_sk: ['identifier', 'SKU of the item'],
      ti_nm: ['text', 'Name of the item'],
      ti_ca: ['text', 'Category of the item'],
      ti_pr: ['amount', 'Price of one item'],
      ti_qu: ['number', 'Number of items'],
      ti_cu: ['code', 'Currency of the item (ISO 4217)'],
      'ue_pr.data.schema': ['code', 'Schema of the self-describing event'],
      'ue_pr.data.data.*': [null, 'Field of the self-describing event'],
      'co.data.#.schema': ['code', 'Schema of an entity of the event'],
      'co.data.#.data.*': [null, 'Field of an entity of the event'],
    },
  },
]

/** Collectors run on the customer's own host. `e` is the event, `aid` is the application that sent it. */
export const snowplow: Decoder = {
  vendor: 'Snowplow',
  source: 'https://docs.snowplow.io/',
  keys: KEYS,
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
