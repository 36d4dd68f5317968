import type { DecodedEvent, Decoder } from './decoder.ts'
import { looksLike } from './json.ts'
import {
  emptyParams,
  formMark,
  isForm,
  objectsOf,
  type Params,
  readLines,
  readQuery,
  scalarOrNull,
  scalarText,
  sharedOf,
} from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Google's tag gateway, which runs on the customer's own host, shortens the path to `/g/c`. */
const COLLECT = /\/g\/(?:s\/)?c(?:ollect)?\/?$/

/** Hosts of other vendors that use the same path. */
const OTHERS = /(?:^|\.)(?:clarity\.ms|transcend\.io|doubleclick\.net)$/

/** Requests that repeat a hit as a conversion, for Google Ads and for the browser's attribution API. */
const REPEATS = /^\/(?:measurement\/conversion|privacy-sandbox\/register-conversion|td\/ga\/rul)\b/

/** Property ids. An id with `GT-` is a Google tag, which represents one or more properties. */
const PROPERTY = /^GT?-/

/**
 * Some server-side containers hide the query from ad blockers. One value of the query is the base64 of `v=2&tid=G…`, or
 * of the whole `/g/collect?v=2&…`. Both begin with constant characters that occur in no other path or query.
 */
const HIDDEN_QUERY = /(?:^|[?&=])(?:dj0yJnRpZD1H|L2cvY29sbGVjdD9)/

/** Number of characters at the start of a body in which the parameters of its first hit are searched. */
const MAX_SEARCHED = 4000

/** Codes of the item fields in `pr1`, `pr2`, …: https://github.com/analytics-debugger/ga4mp (ga4Schema.js) */
const ITEM_FIELDS = new Map([
  ['id', 'item_id'],
  ['nm', 'item_name'],
  ['br', 'item_brand'],
  ['ca', 'item_category'],
  ['c2', 'item_category2'],
  ['c3', 'item_category3'],
  ['c4', 'item_category4'],
  ['c5', 'item_category5'],
  ['va', 'item_variant'],
  ['ln', 'item_list_name'],
  ['li', 'item_list_id'],
  ['lp', 'index'],
  ['pr', 'price'],
  ['qt', 'quantity'],
  ['cp', 'coupon'],
  ['ds', 'discount'],
  ['af', 'affiliation'],
  ['lo', 'location_id'],
  ['pi', 'promotion_id'],
  ['pn', 'promotion_name'],
  ['cn', 'creative_name'],
  ['cs', 'creative_slot'],
])

/**
 * The protocol of Google's tag has no official documentation. Every event has a name, `en`, parameters of the event
 * (`ep.*`, `epn.*`) and parameters of the user (`up.*`, `upn.*`). A POST body has one event per line, and the query has
 * the parameters that all lines share.
 */
export const googleAnalytics4: Decoder = {
  vendor: 'Google Analytics 4',
  source: 'https://www.thyngster.com/app-web-google-analytics-measurement-protocol-version-2/',
  hosts: [
    'google-analytics.com',
    'analytics.google.com',
    'stats.g.doubleclick.net',
    'googletagmanager.com',
    'google.com',
    'pagead2.googlesyndication.com',
    'td.doubleclick.net',
    // Hosts of server-side containers without a custom domain.
    'appspot.com',
  ],
  routes: [
    // Sends the visitor's identity to Google's advertising products. The request repeats a hit and has no event name.
    { ...sideChannel(COLLECT), when: ({ host }) => host === 'stats.g.doubleclick.net' },
    sideChannel(REPEATS),
    { path: COLLECT, read: readCollect },
    // Validates hits without collecting them.
    { ...sideChannel(/\/debug\/mp\/collect\/?$/), anyHost: true, when: isMeasurementProtocol },
    sideChannel(/^\/debug\/mp\/collect\/?$/),
    { path: /^\/mp\/collect\/?$/, read: readMeasurementProtocol },
    { path: COLLECT, anyHost: true, mark: /[?&\n]tid=GT?-/, when: isForProperty, read: readCollect },
    // A health check of a server-side container.
    {
      ...sideChannel(/^\/g\/collect\/?$/),
      anyHost: true,
      when: ({ host, search, body }) => search === '' && !body && !OTHERS.test(host),
    },
    {
      path: /\/ccm\/collect$/,
      anyHost: true,
      mark: /[?&]tid=GT?-/,
      when: ({ query }) => isProperty(query.tid),
      read: readCollect,
    },
    {
      ...scriptLoad(/\/gtag\/(?:js|destination)$/, 'id'),
      anyHost: true,
      mark: /[?&]id=GT?-/,
      when: ({ query }) => isProperty(query.id),
    },
    // Requests through a proxy, a server-side container or Google's tag gateway, with any path.
    {
      path: /^/,
      anyHost: true,
      mark: formMark('v=2\\b', 'tid=GT?-[A-Z\\d]', '(?:cid|_p)=.'),
      when: isHit,
      read: readCollect,
    },
    {
      path: /^/,
      anyHost: true,
      mark: /^(?=.*[?&](?:measurement_id=GT?-|firebase_app_id=\d+(?::|%3A))).*\n\s*\{[\s\S]*"events"/,
      when: isMeasurementProtocol,
      read: readMeasurementProtocol,
    },
    {
      path: /^/,
      anyHost: true,
      mark: /^.*[?&=\n](?:dj0yJnRpZD1H|L2cvY29sbGVjdD9)|^.*\n[\s\S]*[&=](?:dj0yJnRpZD1H|L2cvY29sbGVjdD9)/,
      when: ({ search, body }) => HIDDEN_QUERY.test(search) || HIDDEN_QUERY.test(body?.slice(0, MAX_SEARCHED) ?? ''),
      read: readHidden,
    },
  ],
}

function isProperty(id: string | undefined): boolean {
  return id !== undefined && PROPERTY.test(id)
}

/** True for Measurement Protocol requests: no other request has all of these parameters. */
function isMeasurementProtocol(request: VendorRequest): boolean {
  const { search, body } = request
  if (body === null || !/[?&](?:measurement_id|firebase_app_id)=/.test(search)) return false
  const { measurement_id, firebase_app_id = '' } = request.query
  return (
    (isProperty(measurement_id) || /^\d+:\d+:\w+:\w+$/.test(firebase_app_id)) &&
    looksLike(body.trimStart(), '{', '"events"')
  )
}

/**
 * True when the request is for a GA4 property or a Google tag. If a hit is long, all of its parameters are in the body.
 */
function isForProperty({ query, body }: VendorRequest): boolean {
  return isProperty(query.tid) || (query.tid === undefined && /(?:^|&)tid=GT?-/.test(body ?? ''))
}

/**
 * True for a request with the version, a property and a client id (or the page's random number). No other request has
 * all of these. If a hit is long, they are in the first line of the body.
 */
function isHit(request: VendorRequest): boolean {
  const { host, search, body } = request
  if (host.endsWith('google-analytics.com')) return false
  if (search.includes('tid=G')) return isHitOf(request.query)
  const start = body?.slice(0, MAX_SEARCHED) ?? ''
  return (
    isForm(start) &&
    /(?:^|&)tid=GT?-/.test(start) &&
    isHitOf(readQuery(start.split('\n', 1)[0] ?? '', { ...request.query }))
  )
}

function isHitOf({ v, tid = '', cid, _p }: Params): boolean {
  return v === '2' && /^GT?-[A-Z\d]+$/.test(tid) && Boolean(cid || _p)
}

function readCollect({ query, body }: VendorRequest): Iterable<DecodedEvent> {
  return readEvents(query, body)
}

function readHidden({ search, query, fields, body }: VendorRequest): Iterable<DecodedEvent> {
  const isInQuery = HIDDEN_QUERY.test(search)
  const parts = Object.entries(isInQuery ? query : fields).flat()
  const hidden = parts.find((part) => HIDDEN_QUERY.test(part)) ?? ''
  // A plus sign of the base64 alphabet was not escaped, and was therefore decoded as a space.
  const text = Buffer.from(hidden.replaceAll(' ', '+'), 'base64').toString()
  return readEvents(readQuery(text.slice(text.indexOf('?') + 1)), isInQuery ? body : null)
}

function* readEvents(common: Params, body: string | null): Iterable<DecodedEvent> {
  const lines = readLines(body ?? '')
  if (lines.length === 0) yield toEvent(common)
  for (const line of lines) yield toEvent(Object.assign(emptyParams(), common, readQuery(line.trim())))
}

function toEvent(sent: Params): DecodedEvent {
  const items: Record<string, Params> = {}
  const params: Record<string, unknown> = emptyParams()
  for (const key in sent) {
    const item = /^pr(\d{1,3})$/.exec(key)?.[1]
    if (item) items[Number(item) - 1] = readItem(sent[key] ?? '')
    else params[key] = sent[key]
  }
  // `t` is the name of the hit in the previous protocol, and some senders still include it.
  return {
    event: sent.en ?? sent.t ?? '',
    account: scalarOrNull(sent.tid),
    params: Object.assign(params, { items }),
  }
}

/**
 * Returns the fields of an item, `idSKU1~nmShirt~pr20~k0size~v0XL`, with the names that the page used. A field consists
 * of a two-letter code and a value. The name and value of a custom field have the same digit. A tilde inside a value is
 * doubled.
 */
function readItem(text: string): Params {
  const item = emptyParams()
  const names = emptyParams()
  for (const part of text.split(/(?<!~)~(?!~)/)) {
    const code = part.slice(0, 2)
    const value = part.slice(2).replaceAll('~~', '~')
    if (/^k[0-9A-Z]$/.test(code)) names[code.slice(1)] = value
    else if (/^v[0-9A-Z]$/.test(code)) item[names[code.slice(1)] ?? code] = value
    else if (code) item[ITEM_FIELDS.get(code) ?? code] = value
  }
  return item
}

/** https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference */
function* readMeasurementProtocol(request: VendorRequest): Iterable<DecodedEvent> {
  if (request.body === null) return
  const { query, json } = request
  const { events, ...rest } = json
  const shared = sharedOf(rest)
  const account = scalarOrNull(query.measurement_id ?? query.firebase_app_id)
  for (const { name, ...event } of objectsOf(events)) {
    yield { event: scalarText(name), account, params: { ...shared, ...event } }
  }
}
