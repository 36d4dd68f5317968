/**
 * Returns the language in a language tag (`de-CH`) or in an `Accept-Language` header, in lowercase: `de`. Of several
 * languages, the first one is returned, because browsers list the preferred one first. Null for `*` and for text that
 * is not a language tag. See https://www.rfc-editor.org/rfc/rfc5646#section-2.1
 */
export function readLanguage(text: string | null | undefined): string | null {
  return /^\s*([a-z]{2,3})(?:[-_;,\s]|$)/i.exec(text ?? '')?.[1]?.toLowerCase() ?? null
}
