import type { DecodedEvent, Decoder } from './decoder.ts'
import { type EmbeddedParam, entriesOf, insideJson, withEmbedded } from './embedded-params.ts'
import { type Params, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const HIT = /\/hit\.xiti$/

/** Types of clicks, with the names that the successor product, Piano Analytics, uses. */
const CLICKS = new Map([
  ['A', 'click.action'],
  ['N', 'click.navigation'],
  ['T', 'click.download'],
  ['S', 'click.exit'],
])

/** The predecessor of Piano Analytics. Hits have the same file name on many hosts, including the customer's own. */
export const atInternet: Decoder = {
  vendor: 'AT Internet',
  source: 'https://developers.atinternet-solutions.com/as2-tagging-en/',
  hosts: ['xiti.com', 'ati-host.net'],
  routes: [
    // The same hit, sent again after a cookie has been set.
    { ...sideChannel(HIT), anyHost: true, when: ({ search }) => search.includes('Rdt=On') },
    { path: HIT, anyHost: true, read: readHit },
    { ...scriptLoad(/\/(?:smarttag|smart-tag)(?:[.-][\w.-]+)?\.js$/), anyHost: true },
  ],
}

function readHit({ fields }: VendorRequest): DecodedEvent[] {
  const params = withEmbedded(fields, namedIn(fields))
  return [{ event: nameOf(fields), account: scalarOrNull(fields.s ?? fields.xts), params }]
}

/**
 * Yields the page's name together with up to three chapters (`p=shop::men::cart`), variables that have a string instead
 * of a number (`x1=[member]`), and other page data in JSON (`stc`).
 */
function* namedIn(fields: Params): Iterable<EmbeddedParam> {
  const chapters = entriesOf(fields.p, '::')
  yield ['p.page', chapters.pop()]
  for (const [index, chapter] of chapters.entries()) yield [`p.chapter${index + 1}`, chapter]
  for (const key in fields) {
    if (/^[xf]\d+$/.test(key)) yield [`${key}.label`, /^\[(.*)\]$/s.exec(fields[key] ?? '')?.[1]]
  }
  yield* insideJson(fields, 'stc')
}

/** Returns the name of a hit. `type` contains the name unless the hit is a click or a page view. */
function nameOf({ type, click }: Params): string {
  if (type && type !== 'page') return type
  return click === undefined ? 'page.display' : (CLICKS.get(click) ?? 'click')
}
