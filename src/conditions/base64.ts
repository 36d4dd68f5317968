import { isUtf8 } from 'node:buffer'

/** A run of base64 of either alphabet, without its padding. RE2 syntax, as all patterns here. */
const RUN = '(?:[A-Za-z0-9+/_-]{4}){2,}(?:[A-Za-z0-9+/_-]{2,3})?'
/** The same without the characters that also separate words of an address: text of letters and digits has none of them. */
const WORD = '(?:[A-Za-z0-9]{4}){2,}(?:[A-Za-z0-9]{2,3})?'
/** Runs that may be base64. Each is searched for on its own. */
export const BASE64_PATTERNS = [RUN, WORD] as const

/** `@` before a letter or digit, as base64 writes it at each of the three places of a group. */
const AT = 'Q[D-H]|[EUk0][AB]|[BFJNRVZdhlptx159]A'
/** `.` before a letter. */
const DOT = 'L[k-n]|[CSiy]5|[AEIMQUYcgkosw048]u'
/** Matches every text with an address in base64, and about one of a hundred identifiers. */
export const MAY_HOLD_ADDRESS_PATTERN = `(?:${AT})[A-Za-z0-9+/_-]*(?:${DOT})`

// One after the other: the pattern as a whole would not take linear time here.
const at = new RegExp(AT)
const dot = new RegExp(DOT)
const runs = BASE64_PATTERNS.map((pattern) => new RegExp(pattern, 'g'))

/** A run of base64 inside a text, `[start, end)` in UTF-16 units. */
export interface Base64Run {
  start: number
  end: number
  /** What it says. */
  text: string
}

/** Returns the parts of the text that are base64 of a text that may hold an address. */
export function base64Runs(text: string): Base64Run[] {
  if (text.length < 8 || !at.test(text) || !dot.test(text)) return []
  return runs.flatMap((run) =>
    [...text.matchAll(run)].flatMap(({ 0: part, index }) => {
      const decoded = decode(part)
      return decoded === null ? [] : [{ start: index, end: index + part.length, text: decoded }]
    }),
  )
}

/** Null: its bytes are no text. */
function decode(part: string): string | null {
  const bytes = Buffer.from(part, 'base64')
  if (!bytes.includes(0x40) || bytes.some(isControl) || !isUtf8(bytes)) return null
  return bytes.toString()
}

/** Tabs and line breaks are none. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte === 0x7f
}
