import type { DecodedEvent, Decoder } from './decoder.ts'
import { type EmbeddedParam, entriesOf, withEmbedded } from './embedded-params.ts'
import { type Params, scalarOrNull } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const MERCHANT = /^\/merchants\/(?<account>[0-9A-F]{16})\/?$/i

/** Page commands by parameter. The first parameter that is present determines the name. */
const COMMANDS: [key: string, name: string][] = [
  ['co', 'purchase'],
  ['v', 'view'],
  ['vc', 'category'],
  ['q', 'searchTerm'],
  ['t', 'tag'],
]

/** Item fields, with the names used in the page's commands. */
const ITEM_FIELDS: Params = { i: 'item', p: 'price', q: 'quantity' }

/** Web Extend (formerly Scarab). The account is the merchant. Every page also sends the contents of the cart. */
export const emarsys: Decoder = {
  vendor: 'Emarsys',
  source:
    'https://help.sap.com/docs/SAP_EMARSYS/5d44574160f44536b0130abf58cb87cc/fde64a6f74c110148b6cd5d8d9d2d2a8.html',
  hosts: ['scarabresearch.com'],
  routes: [{ path: MERCHANT, read: readCommands }, scriptLoad(/^\/js\/(?<account>[0-9A-F]{16})\/scarab-v2\.js$/i)],
}

function readCommands({ path, query }: VendorRequest): DecodedEvent[] {
  const params = withEmbedded(query, readItems(query))
  const event = COMMANDS.find(([key]) => query[key])?.[1] ?? otherCommand(query)
  return [{ event, account: scalarOrNull(MERCHANT.exec(path)?.groups?.account), params }]
}

/**
 * `i:SKU1,p:42.5,q:1|i:SKU2,…`: the viewed product (`v`), the contents of the cart (`ca`), or the purchased items
 * (`co`).
 */
function* readItems(query: Params): Iterable<EmbeddedParam> {
  for (const key of ['v', 'ca', 'co']) {
    for (const [index, entry] of entriesOf(query[key], '|').entries()) {
      for (const part of entriesOf(entry, ',')) {
        const [code = '', value] = part.split(/:(.*)/s, 2)
        if (Object.hasOwn(ITEM_FIELDS, code)) yield [`${key}.${index}.${ITEM_FIELDS[code]}`, value]
      }
    }
  }
}

function otherCommand(query: Params): string {
  return 'ca' in query ? 'cart' : 'go'
}
