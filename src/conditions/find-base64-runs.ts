import { isUtf8 } from 'node:buffer'

/** A run of base64 in either alphabet, without padding. All patterns here are in RE2 syntax. */
const RUN = '(?:[A-Za-z0-9+/_-]{4}){2,}(?:[A-Za-z0-9+/_-]{2,3})?'
/** A run that consists of letters and digits only, because the other base64 characters also separate words in URLs. */
const WORD = '(?:[A-Za-z0-9]{4}){2,}(?:[A-Za-z0-9]{2,3})?'
/** Patterns for runs that may be base64. Each pattern is searched separately. */
export const BASE64_PATTERNS = [RUN, WORD] as const

/** Base64 of `@` before a letter or digit, at each of the three positions in a base64 group. */
const AT = 'Q[D-H]|[EUk0][AB]|[BFJNRVZdhlptx159]A'
/** Base64 of `.` before a letter, at each of the three positions. */
const DOT = 'L[k-n]|[CSiy]5|[AEIMQUYcgkosw048]u'
/** Matches every text that contains a base64-encoded e-mail address. It also matches about 1 % of identifiers. */
export const MAY_HOLD_ADDRESS_PATTERN = `(?:${AT})[A-Za-z0-9+/_-]*(?:${DOT})`

// The two parts are tested separately, because this engine can't match the whole pattern in linear time.
const at = new RegExp(AT)
const dot = new RegExp(DOT)
const runs = BASE64_PATTERNS.map((pattern) => new RegExp(pattern, 'g'))

/** A run of base64 in a text, `[start, end)` in UTF-16 code units. */
export interface Base64Run {
  start: number
  end: number
  /** The decoded text. */
  text: string
}

/** Returns the base64 runs in the text that decode to valid text. Empty when no run can contain an e-mail address. */
export function base64Runs(text: string): Base64Run[] {
  if (text.length < 8 || !at.test(text) || !dot.test(text)) return []
  return runs.flatMap((run) =>
    [...text.matchAll(run)].flatMap(({ 0: part, index }) => {
      const decoded = decode(part)
      return decoded === null ? [] : [{ start: index, end: index + part.length, text: decoded }]
    }),
  )
}

/** Returns the decoded text; null when the bytes are not valid text. */
function decode(part: string): string | null {
  const bytes = Buffer.from(part, 'base64')
  if (!bytes.includes(0x40) || bytes.some(isControl) || !isUtf8(bytes)) return null
  return bytes.toString()
}

/** True for control characters other than tabs and line breaks. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte === 0x7f
}
