/**
 * What `gt` and `lt` take for a number: an optional sign, decimal digits with an optional point, an optional exponent.
 * No white space, separators, hexadecimal or words such as `Infinity`. The text is RE2 as well as JavaScript syntax.
 */
export const NUMBER_PATTERN = String.raw`^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`

const grammar = new RegExp(NUMBER_PATTERN)

/** The nearest double, infinite when there is none so large; null when the text is no number. */
export function readNumber(text: string): number | null {
  return grammar.test(text) ? Number(text) : null
}

/** The text of a number field as JSON spells it, `12`, `0.5`, `1e21`; empty for null. */
export function spellNumber(value: number | null): string {
  return value === null ? '' : String(value).replace('e+', 'e')
}
