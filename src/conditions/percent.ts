const encoded = /%([0-7][0-9A-Fa-f])/g

/**
 * Decodes percent-encoded ASCII characters. Malformed and non-ASCII sequences stay as they are, so that it never fails
 * and every engine can do the same.
 */
export function percentDecode(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(encoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
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
