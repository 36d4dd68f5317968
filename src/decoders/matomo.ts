import type { DecodedEvent, Decoder, KeyMeanings, KeyReference, Route } from './decoder.ts'
import { type EmbeddedParam, MAX_ENTRIES, withEmbedded } from './embedded-params.ts'
import { isJson, unfolded } from './json.ts'
import {
  emptyParams,
  formMark,
  isForm,
  objectOf,
  readJsonObject,
  readQuery,
  scalarOrNull,
  scalarText,
} from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Matomo names only custom events. Other events have the name of their action type in Matomo's reporting API. The first
 * parameter that is present determines the name.
 */
const ACTIONS: [key: string, name: string][] = [
  ['search', 'search'],
  ['download', 'download'],
  ['link', 'outlink'],
  // Some third-party trackers send this parameter.
  ['exit', 'outlink'],
  ['c_i', 'contentInteraction'],
  ['c_n', 'contentImpression'],
  ['idgoal', 'goal'],
  ['ma_id', 'media'],
  ['fa_vid', 'form'],
  ['hsr_vid', 'sessionRecording'],
  ['ping', 'ping'],
]

/** Parameters with custom variables of the visit, the page and the event. */
const CUSTOM_VARIABLES = ['_cvar', 'cvar', 'e_cvar']

/** Parameters with the contents of a cart. The second is used by Piwik PRO. */
const ITEM_LISTS = ['ec_items', 'ec_products']

/** Item fields, in the order in which a product lists them. Piwik PRO uses the sixth and later fields. */
const ITEM_FIELDS = ['sku', 'name', 'category', 'price', 'quantity', 'brand', 'variant', 'customDimensions']
const MAX_ITEMS = 80

/** Meanings of the parameters of the tracking API. */
export const MATOMO_MEANINGS: KeyMeanings = {
  idsite: ['identifier', 'ID of the site'],
  rec: ['boolean', '1 if the request is to be recorded'],
  url: ['url', 'Address of the page'],
  action_name: ['text', 'Title of the action, usually of the page'],
  _id: ['identifier', 'Visitor ID: the browser'],
  uid: ['identifier', 'User ID assigned by the site'],
  cid: ['identifier', 'Visitor ID that replaces the one of the browser'],
  new_visit: ['boolean', '1 if a new visit begins'],
  rand: ['number', 'Random number that prevents caching'],
  apiv: ['code', 'Version of the tracking API'],
  urlref: ['url', 'Address of the previous page'],
  res: ['text', 'Screen resolution in pixels'],
  h: ['number', 'Hour of the visitor’s local time'],
  m: ['number', 'Minute of the visitor’s local time'],
  s: ['number', 'Second of the visitor’s local time'],
  cookie: ['boolean', '1 if cookies are available'],
  ua: ['text', 'User agent of the browser'],
  uadata: ['text', 'Client hints of the browser, as JSON'],
  lang: ['code', 'Language of the browser'],
  pv_id: ['identifier', 'ID of the page view, shared by its actions'],
  _rcn: ['text', 'Name of the campaign'],
  _rck: ['text', 'Keyword of the campaign'],
  _cvar: ['text', 'Custom variables of the visit, as JSON'],
  '_cvar.*': [null, 'Custom variable of the visit'],
  cvar: ['text', 'Custom variables of the page, as JSON'],
  'cvar.*': [null, 'Custom variable of the page'],
  'dimension#': ['text', 'Custom dimension'],
  link: ['url', 'Link to another site that was clicked'],
  download: ['url', 'File that was downloaded'],
  search: ['text', 'Words that were searched'],
  search_cat: ['text', 'Category of the search'],
  search_count: ['number', 'Number of search results'],
  e_c: ['text', 'Category of the event'],
  e_a: ['text', 'Action of the event'],
  e_n: ['text', 'Name of the event'],
  e_v: ['number', 'Value of the event'],
  c_n: ['text', 'Name of the content'],
  c_p: ['text', 'Piece of the content, such as an image'],
  c_t: ['url', 'Target of the content'],
  c_i: ['text', 'Interaction with the content'],
  idgoal: ['identifier', 'ID of the goal; 0 for an order or cart'],
  revenue: ['amount', 'Revenue of the goal or order'],
  ec_id: ['identifier', 'ID of the order'],
  ec_st: ['amount', 'Subtotal of the order, without shipping'],
  ec_tx: ['amount', 'Tax of the order'],
  ec_sh: ['amount', 'Shipping cost of the order'],
  ec_dt: ['amount', 'Discount on the order'],
  ec_items: ['text', 'Products of the order, as JSON'],
  'ec_items.#.sku': ['identifier', 'ID of the product (SKU)'],
  'ec_items.#.name': ['text', 'Name of the product'],
  'ec_items.#.category': ['text', 'Category of the product'],
  'ec_items.#.price': ['amount', 'Price of one product'],
  'ec_items.#.quantity': ['number', 'Number of products'],
  _pks: ['identifier', 'ID of the viewed product (SKU)'],
  _pkn: ['text', 'Name of the viewed product'],
  _pkc: ['text', 'Category of the viewed product'],
  _pkp: ['amount', 'Price of the viewed product'],
  gt_ms: ['duration', 'Time until the page was generated, in milliseconds'],
  pf_net: ['duration', 'Network time of the page, in milliseconds'],
  pf_srv: ['duration', 'Server time of the page, in milliseconds'],
  pf_tfr: ['duration', 'Transfer time of the page, in milliseconds'],
  pf_dm1: ['duration', 'Time until the DOM was interactive, in milliseconds'],
  pf_dm2: ['duration', 'Time from then until the DOM was complete, in milliseconds'],
  pf_onl: ['duration', 'Time of the load event, in milliseconds'],
  ping: ['boolean', '1 if the visit is only prolonged'],
  send_image: ['boolean', '0 if the server need not answer with an image'],
}

const KEYS: readonly KeyReference[] = [
  { url: 'https://developer.matomo.org/api-reference/tracking-api', meanings: MATOMO_MEANINGS },
]

/**
 * Runs on the customer's own host or at `<customer>.matomo.cloud`. Requests are recognised by file name and parameters.
 */
export const matomo: Decoder = {
  vendor: 'Matomo',
  source: 'https://developer.matomo.org/api-reference/tracking-api',
  keys: KEYS,
  hosts: [],
  routes: [
    anywhere({ path: /\/(?:matomo|piwik)\.php$/, read: readRequest }),
    // Requests with a renamed path, which evades ad blockers. Piwik PRO uses the same parameters, but its site ids are
    // not numeric.
    anywhere({
      path: /^(?!.*\/ppms\.php$)/,
      mark: trackingMark('\\d'),
      when: (request) => isTracking(request, /^\d+$/),
      read: readRequest,
    }),
    anywhere(scriptLoad(/\/(?:matomo|piwik)(?:\.min)?\.js$/)),
  ],
}

function anywhere(route: Route): Route {
  return { ...route, anyHost: true }
}

/** Maximum number of requests in a batch that are searched for the required parameters. */
const MAX_CHECKED = 10

/**
 * True for a tracking request with any path. It is recognised by the three parameters that Matomo requires.
 * @param site format of the vendor's site ids
 */
export function isTracking(request: VendorRequest, site: RegExp): boolean {
  const { search, body } = request
  const mayBeInBody = (isJson(body) || isForm(body)) && body.includes('idsite')
  if (!search.includes('idsite=') && !mayBeInBody) return false
  const all = isJson(body) ? readBatch(request, unfolded(body)) : [request.fields]
  let checked = 0
  for (const { idsite, rec, url } of all) {
    if (site.test(scalarText(idsite)) && scalarText(rec) === '1' && scalarText(url) !== '') return true
    if (++checked === MAX_CHECKED) return false
  }
  return false
}

/** Returns the mark of the requests that `isTracking` recognises. */
export function trackingMark(site: string): RegExp {
  const inForm = formMark(`idsite=${site}`, 'rec=1\\b', 'url=.').source
  const inBatch = `^.*\\n\\s*\\{"requests":\\s*\\["(?=[^"]*\\bidsite=${site})(?=[^"]*\\brec=1\\b)[^"]*\\burl=`
  return new RegExp(`${inForm}|${inBatch}`)
}

/**
 * Reads parameters from the query, from a form body, or for many requests from JSON: `{"requests": ["?idsite=1&…",
 * …]}`.
 */
export function* readRequest(request: VendorRequest): Iterable<DecodedEvent> {
  if (!request.body?.trimStart().startsWith('{')) yield toEvent(request.fields)
  else for (const sent of readBatch(request, readJsonObject(request.body))) yield toEvent(sent)
}

/** Yields the parameters of each request in a batch, combined with those of the URL. */
function* readBatch({ query }: VendorRequest, batch: unknown): Iterable<Record<string, unknown>> {
  const { requests } = objectOf(batch)
  for (const request of Array.isArray(requests) ? requests : []) {
    const sent = typeof request === 'string' ? readQuery(request.slice(request.indexOf('?') + 1)) : objectOf(request)
    yield Object.assign(emptyParams(), query, sent)
  }
}

/** Returns an event without `token_auth`, the secret that allows a server to set protected fields. */
function toEvent({ token_auth, ...params }: Record<string, unknown>): DecodedEvent {
  const account = scalarOrNull(params.idsite)
  return { event: actionName(params), account, params: withEmbedded(params, namedIn(params)) }
}

function* namedIn(sent: Record<string, unknown>): Iterable<EmbeddedParam> {
  for (const key of CUSTOM_VARIABLES) if (key in sent) yield* readVariables(key, sent[key])
  for (const key of ITEM_LISTS) if (key in sent) yield* readItems(key, sent[key])
}

/** `{"1": ["Type", "Member"], …}`, with one entry per slot, becomes `_cvar.Type` with the value `Member`. */
function* readVariables(key: string, text: unknown): Iterable<EmbeddedParam> {
  const slots = unfolded(text)
  if (typeof slots !== 'object' || slots === null) return
  for (const slot of Object.values(slots).slice(0, MAX_ENTRIES)) {
    const [name, value] = Array.isArray(slot) ? slot.map(scalarText) : []
    if (name) yield [`${key}.${name}`, value]
  }
}

/**
 * Yields the fields of the products in a cart, such as `ec_items.0.sku`. The parameter itself, a list of lists in JSON,
 * is not removed.
 */
function* readItems(key: string, text: unknown): Iterable<EmbeddedParam> {
  const list = unfolded(text)
  for (const [index, item] of Array.isArray(list) ? list.slice(0, MAX_ITEMS).entries() : []) {
    for (const [at, field] of ITEM_FIELDS.entries()) yield [`${key}.${index}.${field}`, item?.[at]]
  }
}

function actionName(params: Record<string, unknown>): string {
  if (params.e_c || params.e_a) return scalarText(params.e_a || params.e_c)
  if (scalarText(params.idgoal) === '0') return params.ec_id ? 'ecommerceOrder' : 'ecommerceCartUpdate'
  return ACTIONS.find(([key]) => params[key])?.[1] ?? 'pageview'
}
