import { cutText } from '../core/text.ts'
import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { type EmbeddedParam, entriesOf, withEmbedded } from './embedded-params.ts'
import { MAX_KEY_LENGTH, type Params, readQuery, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const HIT = /\/b\/(?:ss|collect)(?:\/(?<suites>[^/]*))?(?:\/|$)/

/** Maximum number of parts in the nested context data of a call; more than any page sends. */
const MAX_PARTS = 4000
const MAX_DEPTH = 20

/** Maximum number of listed events. A report suite has 1,000. */
const MAX_LISTED = 1000

/** The first fields of a product. Events and merchandising variables follow them. */
const PRODUCT_FIELDS = ['category', 'product', 'quantity', 'price']

/** Names for links that have no name, by kind of link. */
const LINKS = new Map([
  ['lnk_o', 'customLink'],
  ['lnk_d', 'downloadLink'],
  ['lnk_e', 'exitLink'],
])

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://experienceleague.adobe.com/en/docs/analytics/implementation/validate/query-parameters',
    meanings: {
      AQB: ['boolean', 'Start of the request'],
      AQE: ['boolean', 'End of the request'],
      g: ['url', 'Address of the page'],
      r: ['url', 'Address of the previous page'],
      pageName: ['text', 'Name of the page'],
      pageType: ['code', 'errorPage for an error page'],
      ch: ['text', 'Section of the site'],
      server: ['text', 'Server of the site'],
      cc: ['code', 'Currency (ISO 4217)'],
      ce: ['code', 'Character encoding of the request'],
      events: ['text', 'Events of the call'],
      'events.*': [null, 'Number or ID of an event'],
      products: ['text', 'Products of the call'],
      'products.#.category': ['text', 'Category of the product'],
      'products.#.product': ['identifier', 'Name or SKU of the product'],
      'products.#.quantity': ['number', 'Number of products'],
      'products.#.price': ['amount', 'Total price of the products'],
      purchaseID: ['identifier', 'ID of the order'],
      'v#': ['text', 'eVar: conversion variable'],
      'c#': ['text', 'Prop: traffic variable'],
      'h#': ['text', 'Hierarchy variable'],
      'l#': ['text', 'List variable'],
      'c.*': [null, 'Context data, set by the site'],
      v0: ['text', 'Code of the campaign'],
      vid: ['identifier', 'Visitor ID assigned by the site'],
      aid: ['identifier', 'Visitor ID of Adobe Analytics'],
      mid: ['identifier', 'Experience Cloud ID of the visitor'],
      mcorgid: ['identifier', 'ID of the Experience Cloud organization'],
      ns: ['text', 'Namespace of the visitor'],
      t: ['time', 'Local time of the visitor, with the offset from UTC'],
      ts: ['time', 'Time of the call'],
      pe: ['code', 'Kind of link: lnk_o custom, lnk_d download, lnk_e exit'],
      pev1: ['url', 'Target of the link'],
      pev2: ['text', 'Name of the link'],
      s: ['text', 'Screen resolution in pixels'],
      bw: ['number', 'Width of the browser in pixels'],
      bh: ['number', 'Height of the browser in pixels'],
      state: ['text', 'State of the visitor'],
      zip: ['text', 'Postal code of the visitor'],
    },
  },
]

/** Usually served from the customer's own host, so calls are recognised by the format of their path. */
export const adobeAnalytics: Decoder = {
  vendor: 'Adobe Analytics',
  source: 'https://experienceleague.adobe.com/en/docs/analytics/implementation/validate/query-parameters',
  keys: KEYS,
  hosts: ['omtrdc.net', '2o7.net', 'adobedc.net'],
  routes: [
    // The same call, sent again after a cookie has been set.
    { ...sideChannel(/\/b\/ss\//), anyHost: true, when: ({ search }) => /[?&]pccr=true(?:&|$)/.test(search) },
    { path: HIT, read: readHit },
    // Report suites, and a number for the type of response. Usually, the code version and a random number follow.
    { path: /\/b\/ss\/(?:[^/]*\/\d+(?:\.\d+)?(?:\/|$)|$)/, anyHost: true, read: readHit },
    { ...scriptLoad(/\/(?:AppMeasurement|s_code)(?:\.min)?\.js$/), anyHost: true },
  ],
}

/**
 * Yields the call itself, as a page view or with the name of the link. Then yields each entry of its events list:
 * `purchase`, `event12`. All of these have the parameters of the call. The value of an entry is in `events.<name>`.
 */
function* readHit({ path, search, body }: VendorRequest): Iterable<DecodedEvent> {
  if (body?.trimStart().startsWith('<')) throw new Error('the body is XML')
  const sent = readQuery(unfoldContext([search.slice(1), body?.trim()].filter(Boolean).join('&')))
  const suites = HIT.exec(path)?.groups?.suites
  const account = scalarOrNull(suites?.replaceAll(/%2c/gi, ',') || sent.rsid)
  const listed = readEvents(sent.events ?? '')
  const values = [...listed].map(([name, value]): EmbeddedParam => [`events.${name}`, value])
  const params = withEmbedded(sent, [...values, ...readProducts(sent.products ?? '')])
  yield { event: callName(sent), account, params }
  for (const event of listed.keys()) yield { event, account, params }
}

function callName({ pe, pev2 }: Params): string {
  return pe ? pev2 || (LINKS.get(pe) ?? pe) : 'pageView'
}

/**
 * `purchase:T1,event5=3.5,event6:id`: event names with a number, or with an id that prevents counting an event twice.
 */
function readEvents(list: string): Map<string, string> {
  const events = new Map<string, string>()
  for (const entry of list.split(',', MAX_LISTED)) {
    const [name = '', value = ''] = entry.trim().split(/[=:](.*)/s, 2)
    if (name && !events.has(name)) events.set(name, value)
  }
  return events
}

/**
 * `category;product;quantity;price;event1=2|event2=3;eVar1=a|eVar2=b`, once per product: `products.0.product`,
 * `products.0.eVar1`. https://experienceleague.adobe.com/en/docs/analytics/implementation/vars/page-vars/products
 */
function* readProducts(list: string): Iterable<EmbeddedParam> {
  for (const [index, entry] of entriesOf(list, ',').entries()) {
    const fields = entry.split(';', 6)
    for (const [at, field] of PRODUCT_FIELDS.entries()) yield [`products.${index}.${field}`, fields[at]]
    for (const part of fields.slice(PRODUCT_FIELDS.length).flatMap((values) => entriesOf(values, '|'))) {
      const [name, value] = part.split(/=(.*)/s, 2)
      yield [`products.${index}.${name}`, value]
    }
  }
}

/** Converts context data, `c.&page.&type=home&.page&.c`, to `c.page.type=home`. */
function unfoldContext(text: string): string {
  if (!/(?:^|&)\.[^&=]+=?(?:&|$)/.test(text)) return text
  const prefixes: string[] = []
  const parts: string[] = []
  for (const part of text.split('&', MAX_PARTS)) {
    const prefix = prefixes.at(-1) ?? ''
    // Some recorders write a key without a value as `c.=`.
    const key = part.endsWith('=') ? part.slice(0, -1) : part
    const isMark = !key.includes('=')
    // Without a limit, a hostile request could create keys of any length.
    if (isMark && key.endsWith('.')) prefixes.push(cutText(prefix + key, MAX_KEY_LENGTH))
    else if (isMark && key.startsWith('.')) prefixes.pop()
    else if (part) parts.push(prefix + part)
    if (prefixes.length > MAX_DEPTH) prefixes.pop()
  }
  return parts.join('&')
}
