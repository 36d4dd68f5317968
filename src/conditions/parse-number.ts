import { NUMBER_PATTERN } from '../core/value-type.ts'

const grammar = new RegExp(NUMBER_PATTERN)

/**
 * Returns the nearest double, or infinity when the number is too large. Returns null when the text does not match
 * `NUMBER_PATTERN`.
 */
export function readNumber(text: string): number | null {
  return grammar.test(text) ? Number(text) : null
}

/** Returns a number field as a string in JSON notation, such as `12`, `0.5` or `1e21`; empty for null. */
export function spellNumber(value: number | null): string {
  return value === null ? '' : String(value).replace('e+', 'e')
}
