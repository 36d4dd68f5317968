import type { DecodedEvent, Decoder } from './decoder.ts'
import { type EmbeddedParam, entriesOf, productsOf, withEmbedded } from './embedded-params.ts'
import { looksLike } from './json.ts'
import { emptyParams, type Params, readLines, readQuery } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const PAGE_FIELDS = [
  'version',
  'page',
  'javascript',
  'screen',
  'colors',
  'cookies',
  'timestamp',
  'referrer',
  'window',
  'java',
]

/** Product fields: name, cost, quantity and categories. */
const PRODUCT_FIELD = /^(?:ba|co|qn|ca\d{1,3})$/

/** Formerly Webtrekk. On any host, the path begins with the track id: `/<id>/wt?p=<version>,<page>,…` */
export const mappIntelligence: Decoder = {
  vendor: 'Mapp Intelligence',
  source: 'https://www.npmjs.com/package/@webtrekk-smart-pixel/core',
  hosts: ['wt-safetag.com'],
  routes: [
    {
      path: /^\/\d{12,18}(?:,\d+)*\/wt(?:\.pl)?$/,
      anyHost: true,
      mark: /^.*p=/,
      when: ({ search }) => search.includes('p='),
      read: ({ path, fields }) => [toEvent(path, fields)],
    },
    {
      path: /^\/\d{12,18}(?:,\d+)*\/batch$/,
      anyHost: true,
      mark: /^.*\n[\s\S]*p=/,
      when: ({ body }) => looksLike(body, '', 'p='),
      read: readBatch,
    },
    scriptLoad(/^\/resp\/api\/get\/(?<account>\d+)/),
    { ...scriptLoad(/\/(?:webtrekk_v\d[\w.-]*|smart-pixel(?:\.min)?)\.js$/), anyHost: true },
  ],
}

/** One query per line. The URL has the parameters that all lines share. */
function* readBatch({ path, query, body }: VendorRequest): Iterable<DecodedEvent> {
  for (const line of readLines(body ?? '')) {
    yield toEvent(path, Object.assign(emptyParams(), query, readQuery(line.trim().replace(/^wt(?=\?)/, ''))))
  }
}

/**
 * Returns an event. `ct` is the name of an action, `fn` the name of a form, `mk` the action on a media item. Any other
 * hit is a page view.
 */
function toEvent(path: string, params: Params): DecodedEvent {
  const { ct, mk, fn } = params
  const event = ct || mk || (fn ? 'form' : 'page')
  return { event, account: path.split('/')[1] ?? null, params: withEmbedded(params, namedIn(params)) }
}

/**
 * Yields the properties of the page and the browser, which are a list in `p`, and the products, whose fields are lists
 * in separate parameters.
 */
function* namedIn(params: Params): Iterable<EmbeddedParam> {
  for (const [index, value] of entriesOf(params.p, ',').slice(0, PAGE_FIELDS.length).entries()) {
    yield [`p.${PAGE_FIELDS[index]}`, value]
  }
  const fields = Object.keys(params).filter((key) => PRODUCT_FIELD.test(key))
  yield* productsOf(params, Object.fromEntries(fields.map((key) => [key, key])), ';')
}
