import type { DecodedEvent, Decoder } from './decoder.ts'
import { type Params, scalarOrNull } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'

const HIT = /\/hit\.xiti$/

/** Kinds of click, in the words of Piano Analytics, into which these hits are carried over. */
const CLICKS: Params = { A: 'click.action', N: 'click.navigation', T: 'click.download', S: 'click.exit' }

/** The generation before Piano Analytics. One file name under many hosts, also the customer's. */
export const atInternet: Decoder = {
  vendor: 'AT Internet',
  source: 'https://developers.atinternet-solutions.com/as2-tagging-en/',
  hosts: ['xiti.com', 'ati-host.net'],
  routes: [
    // The same hit again, after a cookie was set.
    { ...sideChannel(HIT), anyHost: true, when: ({ search }) => search.includes('Rdt=On') },
    { path: HIT, anyHost: true, read: readHit },
    { ...scriptLoad(/\/(?:smarttag|smart-tag)(?:[.-][\w.-]+)?\.js$/), anyHost: true },
  ],
}

function readHit({ fields }: VendorRequest): DecodedEvent[] {
  return [{ event: nameOf(fields), account: scalarOrNull(fields.s ?? fields.xts), params: fields }]
}

/** `type` says what it is, unless it is a click or a page. */
function nameOf({ type, click }: Params): string {
  if (type && type !== 'page') return type
  return click === undefined ? 'page.display' : (CLICKS[click] ?? 'click')
}
