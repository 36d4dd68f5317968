import { unfolded } from './json.ts'
import { emptyParams, flattenParams, MAX_PARAMS, type Params, pairCollector, scalarText } from './params.ts'

/** A parameter that is parsed from a value in a vendor-specific syntax. Empty values are omitted. */
export type EmbeddedParam = readonly [name: string, value: unknown]

/** Maximum number of entries read from one list; more than any page sends. */
export const MAX_ENTRIES = 100

/**
 * Adds up to 500 embedded parameters to the sent parameters. Existing parameters are not replaced: further values for
 * the same name become `name.1`, `name.2`, …
 */
export function withEmbedded(sent: Record<string, unknown>, named: Iterable<EmbeddedParam>): Record<string, unknown> {
  const present = Iterator.from(named).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const pairs = present.take(MAX_PARAMS).toArray()
  if (pairs.length === 0) return sent
  const params: Record<string, unknown> = Object.assign(emptyParams(), sent)
  const add = pairCollector(params)
  for (const [name, value] of pairs) add(name, value)
  return params
}

/** Yields the values in a parameter that contains JSON text, as `key.<path>`. Yields nothing for other values. */
export function insideJson(sent: Record<string, unknown>, key: string): EmbeddedParam[] {
  const value = unfolded(sent[key])
  return value === sent[key] ? [] : Object.entries(flattenParams({ [key]: value }).params)
}

/**
 * Returns the first 100 entries of a list that is written as a single string. Empty if the value is empty or not a
 * string.
 */
export function entriesOf(text: unknown, separator: string): string[] {
  const list = scalarText(text)
  return list === '' ? [] : list.split(separator, MAX_ENTRIES)
}

/**
 * Yields products whose fields are in separate parameters, each of which is a list in the same order: `skulist=A|B` and
 * `qlist=1|2` become `products.0.sku`, `products.1.quantity`, … `fields` maps each parameter to its field name.
 */
export function* productsOf(sent: Record<string, unknown>, fields: Params, separator: string): Iterable<EmbeddedParam> {
  for (const key in fields) {
    for (const [index, value] of entriesOf(sent[key], separator).entries()) {
      yield [`products.${index}.${fields[key]}`, value]
    }
  }
}
