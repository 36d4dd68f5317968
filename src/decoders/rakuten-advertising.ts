import type { Decoder } from './decoder.ts'
import { productsOf } from './embedded-params.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad } from './route-builders.ts'

/** Parameters that list the products of an order: https://pubhelp.rakutenadvertising.com/hc/en-us */
const LISTS: Params = { skulist: 'sku', qlist: 'quantity', amtlist: 'amount', namelist: 'name' }

export const rakutenAdvertising: Decoder = {
  vendor: 'Rakuten Advertising',
  source: 'https://pubhelp.rakutenadvertising.com/hc/en-us',
  hosts: ['track.linksynergy.com', 'tag.rmp.rakuten.com'],
  routes: [
    pixel(/^\/(?:ep|eventnvppixel|nvp|cep)$/, {
      account: 'mid',
      event: () => 'conversion',
      named: (fields) => productsOf(fields, LISTS, '|'),
    }),
    scriptLoad(/^\/(?<account>\d+)\.ct\.js$/),
  ],
}
