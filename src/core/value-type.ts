/**
 * Matches strings that are empty or contain only white space, as defined by `String.prototype.trim`:
 * https://tc39.es/ecma262/#sec-white-space and line terminators. Valid RE2.
 */
export const BLANK_PATTERN = String.raw`^[\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]*$`

/**
 * Matches a number: an optional sign, decimal digits with an optional point, and an optional exponent. White space,
 * separators, hexadecimal digits and words such as `Infinity` are not allowed. Valid in both RE2 and JavaScript.
 */
export const NUMBER_PATTERN = String.raw`^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`

/** Type of a parameter's value: a number that matches `NUMBER_PATTERN`, `true` or `false`, or other text. */
export type ValueType = 'number' | 'boolean' | 'text'

const number = new RegExp(NUMBER_PATTERN)

export function typeOfValue(value: string): ValueType {
  if (value === 'true' || value === 'false') return 'boolean'
  return number.test(value) ? 'number' : 'text'
}
