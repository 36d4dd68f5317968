import type { DecodedEvent, Decoder } from './decoder.ts'
import { unfolded } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const CLOUD = /^\/nmapi\/v2\/(?<account>[\w-]+)\//

/**
 * Digital Content Ratings, where the account is the app's id, and SiteCensus, which counts page views and where the
 * account is the client's id.
 */
export const nielsen: Decoder = {
  vendor: 'Nielsen',
  source: 'https://engineeringportal.nielsen.com/wiki/DCR_Static_Browser_SDK',
  hosts: ['imrworldwide.com'],
  routes: [
    // The first request only sets a cookie. The page then sends the same request again.
    { ...sideChannel(/^\/cgi-bin\/m$/), when: ({ query }) => query.ja === '1' },
    pixel(/^\/cgi-bin\/m$/, { account: 'ci', event: () => 'page_view' }),
    { path: /^\/cgi-bin\/gn$/, read: readPing },
    { path: CLOUD, read: readCloud },
    sideChannel(/^\/cgi-bin\/cfg$/),
    scriptLoad(/^\/conf\/(?<account>[\w-]+)\.js$/),
    scriptLoad(/\.js$/),
  ],
}

/** `at` is the event (`view`, `start`, `timer`), `prd` the product, and `c13=asid,P…` the app. */
function readPing({ fields }: VendorRequest): DecodedEvent[] {
  const { at, prd = '', c13 = '', ci } = fields
  return [{ event: at || prd, account: scalarOrNull(c13.replace(/^asid,/, '')) ?? scalarOrNull(ci), params: fields }]
}

/** `b` contains the whole event as JSON. */
function readCloud({ path, query }: VendorRequest): DecodedEvent[] {
  const sent = objectOf(unfolded(query.b))
  return [{ event: scalarText(sent.event), account: scalarOrNull(CLOUD.exec(path)?.groups?.account), params: sent }]
}
