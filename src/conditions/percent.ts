const encoded = /%([0-7][0-9A-Fa-f])/g

/**
 * Undoes percent-encoding of ASCII characters. What is malformed or beyond ASCII stays as it is, so nothing fails and
 * every engine can do the same.
 */
export function percentDecode(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(encoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The text, and what a first and a second round of percent-decoding change about it: one to three texts. */
export function decodings(text: string): string[] {
  const once = percentDecode(text)
  if (once === text) return [text]
  const twice = percentDecode(once)
  return twice === once ? [text, once] : [text, once, twice]
}
