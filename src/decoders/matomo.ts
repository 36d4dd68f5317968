import type { DecodedEvent, Decoder, Route } from './decoder.ts'
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

/**
 * Runs on the customer's own host or at `<customer>.matomo.cloud`. Requests are recognised by file name and parameters.
 */
export const matomo: Decoder = {
  vendor: 'Matomo',
  source: 'https://developer.matomo.org/api-reference/tracking-api',
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
