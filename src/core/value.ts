/** White space as in `String.prototype.trim`, https://tc39.es/ecma262/#sec-white-space and line terminators; valid RE2. */
export const BLANK_PATTERN = String.raw`^[\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]*$`

/**
 * What counts as a number: an optional sign, decimal digits with an optional point, an optional exponent. No white
 * space, separators, hexadecimal or words such as `Infinity`. The text is valid RE2 and JavaScript syntax.
 */
export const NUMBER_PATTERN = String.raw`^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`

/** What the text of a parameter spells: a number as above, `true` or `false`, or anything else. */
export type ValueType = 'number' | 'boolean' | 'text'

const number = new RegExp(NUMBER_PATTERN)

export function typeOfValue(value: string): ValueType {
  if (value === 'true' || value === 'false') return 'boolean'
  return number.test(value) ? 'number' : 'text'
}
