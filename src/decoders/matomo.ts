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
 * Matomo names only custom events. Other events use the name of the action type in its reporting API. The first
 * parameter present decides.
 */
const ACTIONS: [key: string, name: string][] = [
  ['search', 'search'],
  ['download', 'download'],
  ['link', 'outlink'],
  // Sent by some trackers other than Matomo's own.
  ['exit', 'outlink'],
  ['c_i', 'contentInteraction'],
  ['c_n', 'contentImpression'],
  ['idgoal', 'goal'],
  ['ma_id', 'media'],
  ['fa_vid', 'form'],
  ['hsr_vid', 'sessionRecording'],
  ['ping', 'ping'],
]

/** Custom variables of the visit, the page and the event. */
const CUSTOM_VARIABLES = ['_cvar', 'cvar', 'e_cvar']

/** Carts. The second parameter is Piwik PRO's. */
const ITEM_LISTS = ['ec_items', 'ec_products']

/** Item fields, in the order in which a product lists them. The sixth and later fields are Piwik PRO's. */
const ITEM_FIELDS = ['sku', 'name', 'category', 'price', 'quantity', 'brand', 'variant', 'customDimensions']
const MAX_ITEMS = 80

/** Runs on the customer's own host or at `<customer>.matomo.cloud`. Recognised by its file names and parameters. */
export const matomo: Decoder = {
  vendor: 'Matomo',
  source: 'https://developer.matomo.org/api-reference/tracking-api',
  hosts: [],
  routes: [
    anywhere({ path: /\/(?:matomo|piwik)\.php$/, read: readRequest }),
    // Renamed to escape ad blockers. Piwik PRO uses the same parameters, but its site ids are not numeric.
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
 * True for a tracking request with any path, recognised by the three parameters without which Matomo rejects it.
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

/** Returns the mark of the requests that `isTracking` accepts. */
export function trackingMark(site: string): RegExp {
  const inForm = formMark(`idsite=${site}`, 'rec=1\\b', 'url=.').source
  const inBatch = `^.*\\n\\s*\\{"requests":\\s*\\["(?=[^"]*\\bidsite=${site})(?=[^"]*\\brec=1\\b)[^"]*\\burl=`
  return new RegExp(`${inForm}|${inBatch}`)
}

/** Reads parameters in the query, in a form body, or for many requests in JSON: `{"requests": ["?idsite=1&…", …]}`. */
export function* readRequest(request: VendorRequest): Iterable<DecodedEvent> {
  if (!request.body?.trimStart().startsWith('{')) yield toEvent(request.fields)
  else for (const sent of readBatch(request, readJsonObject(request.body))) yield toEvent(sent)
}

/** Yields the parameters of each request in a batch, together with those of the URL. */
function* readBatch({ query }: VendorRequest, batch: unknown): Iterable<Record<string, unknown>> {
  const { requests } = objectOf(batch)
  for (const request of Array.isArray(requests) ? requests : []) {
    const sent = typeof request === 'string' ? readQuery(request.slice(request.indexOf('?') + 1)) : objectOf(request)
    yield Object.assign(emptyParams(), query, sent)
  }
}

/** Returns an event without the secret that allows a server to set protected fields. */
function toEvent({ token_auth, ...params }: Record<string, unknown>): DecodedEvent {
  const account = scalarOrNull(params.idsite)
  return { event: actionName(params), account, params: withEmbedded(params, namedIn(params)) }
}

function* namedIn(sent: Record<string, unknown>): Iterable<EmbeddedParam> {
  for (const key of CUSTOM_VARIABLES) if (key in sent) yield* readVariables(key, sent[key])
  for (const key of ITEM_LISTS) if (key in sent) yield* readItems(key, sent[key])
}

/** `{"1": ["Type", "Member"], …}`, one entry per slot: `_cvar.Type` is `Member`. */
function* readVariables(key: string, text: unknown): Iterable<EmbeddedParam> {
  const slots = unfolded(text)
  if (typeof slots !== 'object' || slots === null) return
  for (const slot of Object.values(slots).slice(0, MAX_ENTRIES)) {
    const [name, value] = Array.isArray(slot) ? slot.map(scalarText) : []
    if (name) yield [`${key}.${name}`, value]
  }
}

/**
 * Yields the fields of a cart's products as `ec_items.0.sku`. The parameter itself, a JSON list of lists, is not
 * removed.
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
