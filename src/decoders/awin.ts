import type { Decoder } from './decoder.ts'
import { type EmbeddedParam, entriesOf } from './embedded-params.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad } from './route-builders.ts'

/** Fields after `AW:P`, which begins each product: https://help.awin.com/docs/product-level-tracking-2 */
const PRODUCT_FIELDS = [
  'advertiserId',
  'orderReference',
  'productId',
  'productName',
  'price',
  'quantity',
  'sku',
  'commissionGroup',
  'category',
]

/**
 * `tt` is the channel that reported a sale: `ns` without a script, `js`, or `ss` from a server. Awin counts the same
 * `ref` once.
 */
export const awin: Decoder = {
  vendor: 'Awin',
  source: 'https://wiki.awin.com/index.php/Advertiser_Tracking_Guide/Standard_Implementation',
  hosts: ['awin1.com', 'zenaps.com', 'dwin1.com', 'dwin2.com'],
  routes: [
    pixel(/^\/sread\.(?:img|js|php|pl)$/, { account: 'merchant', event: () => 'sale', named: namedIn }),
    scriptLoad(/^\/(?<account>\d+)\.js$/),
  ],
}

/**
 * Yields the amount in each commission group (`parts=CG1:10.5|CG2:5`), and one product per `bd[n]`, such as
 * `AW:P|1234|T1|…`.
 */
function* namedIn(fields: Params): Iterable<EmbeddedParam> {
  for (const part of entriesOf(fields.parts, '|')) {
    const [group, amount] = part.split(/:(.*)/s, 2)
    yield [`parts.${group}`, amount]
  }
  for (const key in fields) {
    if (!/^bd\[\d+\]$/.test(key)) continue
    const [mark, ...values] = entriesOf(fields[key], '|')
    if (mark !== 'AW:P') continue
    for (const [at, field] of PRODUCT_FIELDS.entries()) yield [`${key}.${field}`, values[at]]
  }
}
