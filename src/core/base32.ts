/** Digits of Crockford's base 32: https://www.crockford.com/base32.html */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

/** Returns the value in base 32 with `length` digits, most significant first. */
export function toBase32(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest >>= 5n) text = DIGITS[Number(rest & 31n)] + text
  return text
}

/** Returns the value of up to ten digits in base 32; NaN for other characters. */
export function fromBase32(text: string): number {
  let value = 0
  for (const character of text) {
    const digit = DIGITS.indexOf(character)
    value = digit < 0 ? Number.NaN : value * 32 + digit
  }
  return value
}
