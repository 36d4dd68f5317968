import type { Decoder } from './decoder.ts'
import { type EmbeddedParam, entriesOf } from './embedded-params.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad } from './route-builders.ts'

/** Fields after `AW:P`, which marks the start of each product: https://help.awin.com/docs/product-level-tracking-2 */
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
 * `tt` is the means by which a sale was reported: `ns` without a script, `js` by a script, `ss` by a server. Awin
 * counts each `ref` only once.
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
 * Yields the amount for each commission group (`parts=CG1:10.5|CG2:5`), and one product for each `bd[n]`, such as
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
