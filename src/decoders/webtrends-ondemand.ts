import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { productsOf, withEmbedded } from './embedded-params.ts'
import { emptyParams, type Params } from './params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The visitor's action, by value of `WT.dl`. */
const TYPES = new Map([
  ['0', 'Page View'],
  ['20', 'Download'],
  ['21', 'Anchor Click'],
  ['22', 'JavaScript Click'],
  ['23', 'Mailto Click'],
  ['24', 'Exit Click'],
  ['25', 'Right Click'],
  ['26', 'Form Submit (GET)'],
  ['27', 'Form Submit (POST)'],
  ['28', 'Form Button Click'],
  ['29', 'Image Map Click'],
])

/** Product lists: name, quantity, price. */
const PRODUCTS: Params = { 'WT.pn_sku': 'sku', 'WT.pn': 'name', 'WT.tx_u': 'units', 'WT.tx_s': 'subtotal' }

const HIT = /\/dcs\.gif$/
const ACCOUNT = /^\/(dcs\w+)\//

/** Parameters that only Webtrends sends. The successor product writes them in lower case. */
const OWN = /^(?!.*[?&]wt\.).*[?&](?:dcs|WT\.)\w+=/

const COLLECT: Route = { path: HIT, read: readHit }

/** The account is the id of the data source, which is the first segment of the path. */
export const webtrendsOndemand: Decoder = {
  vendor: 'Webtrends OnDemand',
  source: 'https://github.com/MisterPhilip/omnibug',
  hosts: ['webtrendslive.com', 'webtrends.com'],
  routes: [
    // The same hit, sent again after a cookie has been set.
    { ...sideChannel(HIT), anyHost: true, when: ({ search }) => search.includes('dcsredirect=') },
    // A copy that is sent to a streaming service.
    { ...sideChannel(HIT), when: ({ host }) => host === 'scs.webtrends.com' },
    COLLECT,
    // Requests the visitor's id.
    { ...sideChannel(/^\/dcs\w+\/wtid\.js$/), anyHost: true },
    { ...COLLECT, path: /^\/dcs\w+\/(?:.+\/)?dcs\.gif$/, anyHost: true },
    {
      ...COLLECT,
      anyHost: true,
      mark: /^(?!.*[?&]wt\.).*[?&](?:dcs|WT\.)\w+=/,
      when: ({ search }) => OWN.test(search),
    },
  ],
}

/** Reads a hit. The vendor's code encodes most values twice. */
function readHit({ path, query }: VendorRequest): DecodedEvent[] {
  const account = ACCOUNT.exec(path)?.[1] ?? null
  const type = query['WT.dl'] ?? '0'
  const params = emptyParams()
  for (const key in query) params[key] = decodedAgain(query[key] ?? '')
  return [{ event: TYPES.get(type) ?? type, account, params: withEmbedded(params, productsOf(params, PRODUCTS, ';')) }]
}

function decodedAgain(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch (error) {
    if (error instanceof URIError) return value
    throw error
  }
}
