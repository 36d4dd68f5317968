import type { DecodedEvent, Decoder } from './decoder.ts'
import { productsOf, withEmbedded } from './embedded-params.ts'
import { type Params, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Product lists, as in Webtrends. */
const PRODUCTS: Params = { 'wt.pn_sku': 'sku', 'wt.pn': 'name', 'wt.tx_u': 'units', 'wt.tx_s': 'subtotal' }

/** Based on Webtrends, with the same parameters in lower case. The account is the first segment of the path. */
export const oracleInfinity: Decoder = {
  vendor: 'Oracle Infinity',
  source: 'https://docs.oracle.com/en/cloud/saas/marketing/infinity-develop/',
  hosts: ['oracleinfinity.io'],
  routes: [
    { path: /^\/\w+\/dcs\.gif$/, read: readHit },
    // Requests the visitor's id.
    sideChannel(/^\/v\d\/account\//),
    scriptLoad(/^\/acs\/account\/(?<account>\w+)\/js\//),
  ],
}

function readHit({ path, query }: VendorRequest): DecodedEvent[] {
  const isPage = (query['wt.dl'] ?? '0') === '0'
  const event = scalarText(query['ora.event'] ?? query['wt.ev']) || (isPage ? 'Page View' : 'Click')
  return [{ event, account: path.split('/')[1] ?? null, params: withEmbedded(query, productsOf(query, PRODUCTS, ';')) }]
}
