import { NUMBER_PATTERN } from '../core/value-type.ts'

const grammar = new RegExp(NUMBER_PATTERN)

/**
 * Returns the nearest double, infinite for numbers that are too large; null when the text does not match
 * `NUMBER_PATTERN`.
 */
export function readNumber(text: string): number | null {
  return grammar.test(text) ? Number(text) : null
}

/** Returns the text of a number field as in JSON, `12`, `0.5`, `1e21`; empty for null. */
export function spellNumber(value: number | null): string {
  return value === null ? '' : String(value).replace('e+', 'e')
}
