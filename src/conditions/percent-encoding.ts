const encoded = /%([0-7][0-9A-Fa-f])/g
/**
 * ASCII characters escaped as in JSON and JavaScript, such as `\u0040`. The backslash may be escaped several times. RE2
 * syntax.
 */
const ESCAPED_PATTERN = String.raw`\\{1,8}u00([0-7][0-9A-Fa-f])`
const escaped = new RegExp(ESCAPED_PATTERN, 'g')

/** Returns whether decoding may change the text. */
export function mayBeEncoded(text: string): boolean {
  return text.includes('%') || text.includes('\\u00')
}

/**
 * Decodes percent-encoded ASCII characters and those escaped as `\u0040`. Malformed and non-ASCII sequences are left
 * unchanged, so that decoding never fails and every engine can implement it.
 */
export function percentDecode(text: string): string {
  if (!mayBeEncoded(text)) return text
  return text
    .replaceAll(escaped, '%$1')
    .replaceAll(encoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Returns one to three strings: the text, and the results of one and two rounds of percent-decoding if they differ. */
export function decodings(text: string): string[] {
  const once = percentDecode(text)
  if (once === text) return [text]
  const twice = percentDecode(once)
  return twice === once ? [text, once] : [text, once, twice]
}
