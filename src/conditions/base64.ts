import { isUtf8 } from 'node:buffer'

/** A run of base64 in either alphabet, without padding. All patterns here are in RE2 syntax. */
const RUN = '(?:[A-Za-z0-9+/_-]{4}){2,}(?:[A-Za-z0-9+/_-]{2,3})?'
/** A run of letters and digits only: the other characters of base64 also separate the words of an address. */
const WORD = '(?:[A-Za-z0-9]{4}){2,}(?:[A-Za-z0-9]{2,3})?'
/** Patterns of runs that may be base64. Each is searched for separately. */
export const BASE64_PATTERNS = [RUN, WORD] as const

/** `@` before a letter or digit, as encoded at each of the three positions of a base64 group. */
const AT = 'Q[D-H]|[EUk0][AB]|[BFJNRVZdhlptx159]A'
/** `.` before a letter, encoded likewise. */
const DOT = 'L[k-n]|[CSiy]5|[AEIMQUYcgkosw048]u'
/** Matches every text that contains an address in base64, and about 1 % of identifiers. */
export const MAY_HOLD_ADDRESS_PATTERN = `(?:${AT})[A-Za-z0-9+/_-]*(?:${DOT})`

// Tested one after the other, because the whole pattern would not run in linear time here.
const at = new RegExp(AT)
const dot = new RegExp(DOT)
const runs = BASE64_PATTERNS.map((pattern) => new RegExp(pattern, 'g'))

/** A run of base64 inside a text, `[start, end)` in UTF-16 units. */
export interface Base64Run {
  start: number
  end: number
  /** The decoded text. */
  text: string
}

/** Returns the base64 parts of the text whose decoded text may contain an address. */
export function base64Runs(text: string): Base64Run[] {
  if (text.length < 8 || !at.test(text) || !dot.test(text)) return []
  return runs.flatMap((run) =>
    [...text.matchAll(run)].flatMap(({ 0: part, index }) => {
      const decoded = decode(part)
      return decoded === null ? [] : [{ start: index, end: index + part.length, text: decoded }]
    }),
  )
}

/** Returns the decoded text; null when the bytes are not text. */
function decode(part: string): string | null {
  const bytes = Buffer.from(part, 'base64')
  if (!bytes.includes(0x40) || bytes.some(isControl) || !isUtf8(bytes)) return null
  return bytes.toString()
}

/** True for control characters other than tabs and line breaks. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte === 0x7f
}
