import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { type EmbeddedParam, entriesOf, withEmbedded } from './embedded-params.ts'
import { type Params, readQuery, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Event codes, with the names that pages use in calls. */
const EVENTS = new Map([
  ['vh', 'viewHome'],
  ['vl', 'viewList'],
  ['vp', 'viewItem'],
  ['vb', 'viewBasket'],
  ['vc', 'trackTransaction'],
  ['ac', 'addToCart'],
  ['vpg', 'viewPage'],
  ['vs', 'viewSearchResult'],
])

/** Item fields, with the names that pages use for them. */
const ITEM_FIELDS: Params = { i: 'id', pr: 'price', q: 'quantity' }

/**
 * Codes that describe the visitor or mark the end of the list, and are not events. They stand for extra data, e-mail,
 * customer, the retailer's visitor id and ZIP code.
 */
const NO_EVENTS = new Set(['exd', 'ce', 'ci', 'cri', 'rvi', 'cz', 'zc', 'ui', 'dis', 'cdo'])

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://help.criteo.com/kb/guide/en/all-criteo-onetag-events-and-parameters-vZbzbEeY86/Steps/775825',
    meanings: {
      a: ['identifier', 'Account ID'],
      v: ['code', 'Version of the library'],
      'call.p': ['text', 'Products of the event'],
      'call.id': ['identifier', 'ID of the order'],
      'call.item.#.id': ['identifier', 'ID of the product'],
      'call.item.#.price': ['amount', 'Price of one product'],
      'call.item.#.quantity': ['number', 'Number of products'],
    },
  },
]

export const criteoOneTag: Decoder = {
  vendor: 'Criteo OneTag',
  source: 'https://help.criteo.com/kb/guide/en/all-criteo-onetag-events-and-parameters-vZbzbEeY86/Steps/775825',
  keys: KEYS,
  hosts: ['criteo.com', 'criteo.net'],
  routes: [
    { path: /^\/event\/?$/, read: readEvents },
    scriptLoad(/^\/js\/ld\/ld\.js$/, 'a'),
    // Identity sync, and the browser's attribution API.
    sideChannel(/^\/(?:sid\/|sync|dis\/|um|idsync|register-(?:trigger|source)|interest-group)/),
  ],
}

/** `p0`, `p1`, … each contain a call, which is a query string with the event code in `e`. */
function* readEvents({ fields }: VendorRequest): Iterable<DecodedEvent> {
  const account = scalarOrNull(fields.a)
  for (const key in fields) {
    if (!/^p\d{1,3}$/.test(key)) continue
    const { e = '', ...call } = readQuery(fields[key] ?? '')
    if (!e || NO_EVENTS.has(e)) continue
    const params = withEmbedded({ ...fields, call }, readItems(call.p ?? ''))
    yield { event: EVENTS.get(e) ?? e, account, params }
  }
}

/** `[S1,S2]`, or `[i%3DS1%26pr%3D44.9%26q%3D2,…]`, with an encoded query string for each item. */
function* readItems(list: string): Iterable<EmbeddedParam> {
  for (const [index, entry] of entriesOf(list.replace(/^\[|\]$/g, ''), ',').entries()) {
    const [item = ''] = Object.keys(readQuery(entry))
    const fields = item.includes('=') ? readQuery(item) : { i: item }
    for (const key in ITEM_FIELDS) yield [`call.item.${index}.${ITEM_FIELDS[key]}`, fields[key]]
  }
}
