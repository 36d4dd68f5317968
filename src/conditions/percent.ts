const encoded = /%([0-7][0-9A-Fa-f])/g
/** ASCII characters as escaped by JSON and JavaScript, `\u0040`, possibly several times. RE2 syntax. */
const ESCAPED_PATTERN = String.raw`\\{1,8}u00([0-7][0-9A-Fa-f])`
const escaped = new RegExp(ESCAPED_PATTERN, 'g')

/** Returns whether decoding can change the text. */
export function mayBeEncoded(text: string): boolean {
  return text.includes('%') || text.includes('\\u00')
}

/**
 * Decodes percent-encoded ASCII characters and those written as `\u0040`. Malformed and non-ASCII sequences stay
 * unchanged, so it never fails and every engine can do the same.
 */
export function percentDecode(text: string): string {
  if (!mayBeEncoded(text)) return text
  return text
    .replaceAll(escaped, '%$1')
    .replaceAll(encoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/**
 * Returns the text, and the results of a first and a second round of percent-decoding where they differ: one to three
 * texts.
 */
export function decodings(text: string): string[] {
  const once = percentDecode(text)
  if (once === text) return [text]
  const twice = percentDecode(once)
  return twice === once ? [text, once] : [text, once, twice]
}
