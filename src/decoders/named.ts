import { unfolded } from './json.ts'
import { emptyParams, flattenParams, MAX_PARAMS, type Params, pairCollector, scalarText } from './params.ts'

/** A parameter that a value says in a syntax of its vendor's; the empty text is left out. */
export type Named = readonly [name: string, value: unknown]

/** Of one list; more than any page sends. */
export const MAX_ENTRIES = 100

/**
 * What was sent, and beside it what parts of it say under names of their own: at most 500. Nothing is replaced: of
 * several values for one name, or where a parameter of that name was sent, the later ones are `name.1`, `name.2`, …
 */
export function withNamed(sent: Record<string, unknown>, named: Iterable<Named>): Record<string, unknown> {
  const present = Iterator.from(named).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const pairs = present.take(MAX_PARAMS).toArray()
  if (pairs.length === 0) return sent
  const params: Record<string, unknown> = Object.assign(emptyParams(), sent)
  const add = pairCollector(params)
  for (const [name, value] of pairs) add(name, value)
  return params
}

/** What is inside a parameter that is a JSON object or list written as text, as `key.<path>`; else nothing. */
export function insideJson(sent: Record<string, unknown>, key: string): Named[] {
  const value = unfolded(sent[key])
  return value === sent[key] ? [] : Object.entries(flattenParams({ [key]: value }).params)
}

/** The first 100 entries of a list that is written as one text; none of what is empty or no text. */
export function entriesOf(text: unknown, separator: string): string[] {
  const list = scalarText(text)
  return list === '' ? [] : list.split(separator, MAX_ENTRIES)
}

/**
 * Products whose fields are lists of the same order, each in a parameter of its own: `skulist=A|B` and `qlist=1|2` are
 * `products.0.sku`, `products.1.quantity`, … `fields` names the field of each parameter.
 */
export function* productsOf(sent: Record<string, unknown>, fields: Params, separator: string): Iterable<Named> {
  for (const key in fields) {
    for (const [index, value] of entriesOf(sent[key], separator).entries()) {
      yield [`products.${index}.${fields[key]}`, value]
    }
  }
}
