import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { isJson, unfolded } from './json.ts'
import { MAX_ENTRIES, type Named, withNamed } from './named.ts'
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
import type { VendorRequest } from './request.ts'
import { scriptLoad } from './route.ts'

/**
 * Matomo names only custom events; others get the name of the action type in its reporting API. The first existing
 * parameter decides.
 */
const ACTIONS: [key: string, name: string][] = [
  ['search', 'search'],
  ['download', 'download'],
  ['link', 'outlink'],
  // Some trackers other than Matomo's own.
  ['exit', 'outlink'],
  ['c_i', 'contentInteraction'],
  ['c_n', 'contentImpression'],
  ['idgoal', 'goal'],
  ['ma_id', 'media'],
  ['fa_vid', 'form'],
  ['hsr_vid', 'sessionRecording'],
  ['ping', 'ping'],
]

/** Of the visit, the page and the event. */
const CUSTOM_VARIABLES = ['_cvar', 'cvar', 'e_cvar']

/** Carts; the second one is Piwik PRO's. */
const ITEM_LISTS = ['ec_items', 'ec_products']

/** In the order in which a product lists them; from the sixth on Piwik PRO's. */
const ITEM_FIELDS = ['sku', 'name', 'category', 'price', 'quantity', 'brand', 'variant', 'customDimensions']
const MAX_ITEMS = 80

/** Runs under the customer's own name or at `<customer>.matomo.cloud`; told by its file names and parameters. */
export const matomo: Decoder = {
  vendor: 'Matomo',
  source: 'https://developer.matomo.org/api-reference/tracking-api',
  hosts: [],
  routes: [
    anywhere({ path: /\/(?:matomo|piwik)\.php$/, read: readRequest }),
    // Renamed to escape ad blockers. Piwik PRO, with textual site ids, shares the parameters.
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

/** Requests of a batch in which the parameters that every request requires are looked for. */
const MAX_CHECKED = 10

/**
 * True for a tracking request under any path, by the three parameters without which it is refused.
 * @param site form of the vendor's site ids
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

/** Mark of what `isTracking` accepts. */
export function trackingMark(site: string): RegExp {
  const inForm = formMark(`idsite=${site}`, 'rec=1\\b', 'url=.').source
  const inBatch = `^.*\\n\\s*\\{"requests":\\s*\\["(?=[^"]*\\bidsite=${site})(?=[^"]*\\brec=1\\b)[^"]*\\burl=`
  return new RegExp(`${inForm}|${inBatch}`)
}

/** Parameters in the query, in a form body, or many of them in JSON: `{"requests": ["?idsite=1&…", …]}`. */
export function* readRequest(request: VendorRequest): Iterable<DecodedEvent> {
  if (!request.body?.trimStart().startsWith('{')) yield toEvent(request.fields)
  else for (const sent of readBatch(request, readJsonObject(request.body))) yield toEvent(sent)
}

/** The parameters of each request of a batch, with those of the URL. */
function* readBatch({ query }: VendorRequest, batch: unknown): Iterable<Record<string, unknown>> {
  const { requests } = objectOf(batch)
  for (const request of Array.isArray(requests) ? requests : []) {
    const sent = typeof request === 'string' ? readQuery(request.slice(request.indexOf('?') + 1)) : objectOf(request)
    yield Object.assign(emptyParams(), query, sent)
  }
}

/** The secret that lets a server set protected fields is not kept. */
function toEvent({ token_auth, ...params }: Record<string, unknown>): DecodedEvent {
  const account = scalarOrNull(params.idsite)
  return { event: actionName(params), account, params: withNamed(params, namedIn(params)) }
}

function* namedIn(sent: Record<string, unknown>): Iterable<Named> {
  for (const key of CUSTOM_VARIABLES) if (key in sent) yield* readVariables(key, sent[key])
  for (const key of ITEM_LISTS) if (key in sent) yield* readItems(key, sent[key])
}

/** `{"1": ["Type", "Member"], …}`, a slot for each: `_cvar.Type` is `ScopeMember`. */
function* readVariables(key: string, text: unknown): Iterable<Named> {
  const slots = unfolded(text)
  if (typeof slots !== 'object' || slots === null) return
  for (const slot of Object.values(slots).slice(0, MAX_ENTRIES)) {
    const [name, value] = Array.isArray(slot) ? slot.map(scalarText) : []
    if (name) yield [`${key}.${name}`, value]
  }
}

/** Products of a cart are lists in a JSON list, which is kept; their fields are added as `ec_items.0.sku`. */
function* readItems(key: string, text: unknown): Iterable<Named> {
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
