/**
 * What `gt` and `lt` accept as a number: an optional sign, decimal digits with an optional point, an optional exponent.
 * No white space, separators, hexadecimal or words such as `Infinity`. The text is valid RE2 and JavaScript syntax.
 */
export const NUMBER_PATTERN = String.raw`^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`

const grammar = new RegExp(NUMBER_PATTERN)

/** Returns the nearest double, infinite when the number is too large; null when the text is no number. */
export function readNumber(text: string): number | null {
  return grammar.test(text) ? Number(text) : null
}

/** Returns the text of a number field as in JSON, `12`, `0.5`, `1e21`; empty for null. */
export function spellNumber(value: number | null): string {
  return value === null ? '' : String(value).replace('e+', 'e')
}
