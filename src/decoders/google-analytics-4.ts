import type { DecodedEvent, Decoder, KeyMeanings, KeyReference } from './decoder.ts'
import { CONSENT_KEYS } from './google-tag.ts'
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

/** Returns the meanings of parameters of events, in the protocol of the tag (`ep.*`, `epn.*`) and of servers. */
function ofEvents(meanings: KeyMeanings): KeyMeanings {
  const inItems = Object.entries(meanings).filter(([key]) => key.startsWith('items.'))
  const own = Object.entries(meanings).filter(([key]) => !key.startsWith('items.'))
  const named = ['', 'ep.', 'epn.'].flatMap((prefix) => own.map(([key, meaning]) => [prefix + key, meaning] as const))
  return Object.fromEntries([...inItems, ...named])
}

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://www.thyngster.com/app-web-google-analytics-measurement-protocol-version-2/',
    meanings: {
      v: ['code', 'Version of the protocol'],
      tid: ['identifier', 'Measurement ID of the property'],
      gtm: ['code', 'Build of the Google tag and its container'],
      _p: ['identifier', 'Random number of the page load, shared by its hits'],
      cid: ['identifier', 'Client ID: the browser, from the cookie _ga'],
      uid: ['identifier', 'User ID assigned by the site'],
      sid: ['identifier', 'Session ID: the time at which the session began'],
      sct: ['number', 'Number of the session for this client: 1 for the first'],
      seg: ['boolean', '1 if the session is engaged'],
      _s: ['number', 'Number of the hit on this page load'],
      _ss: ['boolean', '1 for the first hit of a session'],
      _fv: ['boolean', 'Present on the first visit of the client'],
      _et: ['duration', 'Engagement time since the last hit, in milliseconds'],
      en: ['text', 'Name of the event'],
      cu: ['code', 'Currency of the event (ISO 4217)'],
      dl: ['url', 'Address of the page'],
      dr: ['url', 'Address of the previous page'],
      dt: ['text', 'Title of the page'],
      ul: ['code', 'Language of the browser'],
      sr: ['text', 'Screen resolution in pixels'],
      tt: ['text', 'Type of traffic, such as internal'],
      ir: ['boolean', '1 if the referrer is to be ignored'],
      _c: ['boolean', '1 if the event counts as a conversion'],
      _dbg: ['boolean', '1 if the hit is shown in DebugView'],
      uaa: ['text', 'Processor architecture, from client hints'],
      uab: ['number', 'Bits of the processor architecture, from client hints'],
      uafvl: ['text', 'Browsers with full versions, from client hints'],
      uamb: ['boolean', '1 for a mobile device, from client hints'],
      uam: ['text', 'Model of the device, from client hints'],
      uap: ['text', 'Platform, from client hints'],
      uapv: ['text', 'Version of the platform, from client hints'],
      uaw: ['boolean', '1 for a 32-bit browser on 64-bit Windows, from client hints'],
      'ep.*': [null, 'Parameter of the event, set by the site'],
      'epn.*': ['number', 'Numeric parameter of the event, set by the site'],
      'up.*': [null, 'Property of the user, set by the site'],
      'upn.*': ['number', 'Numeric property of the user, set by the site'],
    },
  },
  CONSENT_KEYS,
  {
    url: 'https://developers.google.com/analytics/devguides/collection/ga4/reference/events',
    meanings: ofEvents({
      transaction_id: ['identifier', 'ID of the order'],
      value: ['amount', 'Monetary value of the event'],
      currency: ['code', 'Currency of the event (ISO 4217)'],
      tax: ['amount', 'Tax of the order'],
      shipping: ['amount', 'Shipping cost of the order'],
      coupon: ['text', 'Coupon applied to the whole event'],
      affiliation: ['text', 'Store or affiliation of the order'],
      payment_type: ['text', 'Chosen method of payment'],
      shipping_tier: ['text', 'Chosen kind of delivery'],
      item_list_id: ['identifier', 'ID of the list in which items were shown'],
      item_list_name: ['text', 'Name of the list in which items were shown'],
      promotion_id: ['identifier', 'ID of the promotion'],
      promotion_name: ['text', 'Name of the promotion'],
      creative_name: ['text', 'Name of the promotion’s creative'],
      creative_slot: ['text', 'Place of the promotion’s creative'],
      method: ['text', 'Method of signing in, signing up or sharing'],
      search_term: ['text', 'Words that were searched'],
      content_type: ['text', 'Type of the shared or selected content'],
      content_id: ['identifier', 'ID of the selected content'],
      group_id: ['identifier', 'ID of the group that was joined'],
      'items.#.item_id': ['identifier', 'ID of the item'],
      'items.#.item_name': ['text', 'Name of the item'],
      'items.#.item_brand': ['text', 'Brand of the item'],
      'items.#.item_category': ['text', 'Category of the item'],
      'items.#.item_category#': ['text', 'Further level of the item’s category'],
      'items.#.item_variant': ['text', 'Variant of the item, such as its color'],
      'items.#.item_list_id': ['identifier', 'ID of the list in which the item was shown'],
      'items.#.item_list_name': ['text', 'Name of the list in which the item was shown'],
      'items.#.index': ['number', 'Position of the item in its list'],
      'items.#.price': ['amount', 'Price of one item'],
      'items.#.quantity': ['number', 'Number of items'],
      'items.#.coupon': ['text', 'Coupon applied to the item'],
      'items.#.discount': ['amount', 'Discount on one item'],
      'items.#.affiliation': ['text', 'Store or affiliation of the item'],
      'items.#.location_id': ['identifier', 'Place ID of the store'],
      'items.#.promotion_id': ['identifier', 'ID of the item’s promotion'],
      'items.#.promotion_name': ['text', 'Name of the item’s promotion'],
      'items.#.creative_name': ['text', 'Name of the promotion’s creative'],
      'items.#.creative_slot': ['text', 'Place of the promotion’s creative'],
    }),
  },
  {
    url: 'https://support.google.com/analytics/answer/9216061',
    meanings: ofEvents({
      percent_scrolled: ['number', 'Share of the page that was scrolled, in percent'],
      link_url: ['url', 'Target of the link'],
      link_domain: ['text', 'Domain of the link’s target'],
      link_text: ['text', 'Text of the link'],
      link_id: ['text', 'id attribute of the link'],
      link_classes: ['text', 'class attribute of the link'],
      outbound: ['boolean', 'True if the link leads to another domain'],
      file_name: ['text', 'Path of the downloaded file'],
      file_extension: ['text', 'Extension of the downloaded file'],
      video_title: ['text', 'Title of the video'],
      video_url: ['url', 'Address of the video'],
      video_provider: ['text', 'Service that plays the video'],
      video_current_time: ['duration', 'Position in the video, in seconds'],
      video_duration: ['duration', 'Length of the video, in seconds'],
      video_percent: ['number', 'Played share of the video, in percent'],
      form_id: ['text', 'id attribute of the form'],
      form_name: ['text', 'name attribute of the form'],
      form_destination: ['url', 'Address to which the form is sent'],
      form_submit_text: ['text', 'Text of the button that sent the form'],
    }),
  },
  {
    url: 'https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference',
    meanings: {
      client_id: ['identifier', 'Client ID: the browser'],
      app_instance_id: ['identifier', 'Installation of the app'],
      user_id: ['identifier', 'User ID assigned by the site'],
      timestamp_micros: ['time', 'Time of the event, in microseconds since 1970'],
      non_personalized_ads: ['boolean', 'True if ads must not be personalized'],
      session_id: ['identifier', 'Session to which the event belongs'],
      engagement_time_msec: ['duration', 'Engagement time, in milliseconds'],
      'user_properties.*': [null, 'Property of the user, set by the sender'],
    },
  },
]

/**
 * The protocol of Google's tag has no official documentation. Every event has a name, `en`, parameters of the event
 * (`ep.*`, `epn.*`) and parameters of the user (`up.*`, `upn.*`). A POST body has one event per line, and the query has
 * the parameters that all lines share.
 */
export const googleAnalytics4: Decoder = {
  vendor: 'Google Analytics 4',
  source: 'https://www.thyngster.com/app-web-google-analytics-measurement-protocol-version-2/',
  keys: KEYS,
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
