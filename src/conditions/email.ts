import { decodings } from './percent.ts'

/**
 * An e-mail address as HTML's `type=email` reads it, https://html.spec.whatwg.org/#valid-e-mail-address, and narrower:
 * the domain has a top-level domain of letters or in punycode, and the local part begins with a letter, digit or `_`
 * and does without `/ = & ?`, so that `https://site.example/@someone.name` is none. ASCII only. RE2 syntax.
 */
const LOCAL = "A-Za-z0-9.!#$%'*+^_`{|}~-"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const DOMAIN = String.raw`(?:${LABEL}\.)+(?:[Xx][Nn]--[A-Za-z0-9-]{1,59}|[A-Za-z]{2,24})`
export const EMAIL_PATTERN = `[A-Za-z0-9_][${LOCAL}]*@${DOMAIN}(?:[^A-Za-z0-9]|$)`

/** Names of image files for dense screens (`logo@2x.png`) look like addresses; they are removed before the search. */
export const DENSE_IMAGE_PATTERN = String.raw`@[0-9](?:\.[0-9])?x\.(?:png|jpg|jpeg|gif|webp|avif|svg)`

const denseImage = new RegExp(DENSE_IMAGE_PATTERN, 'g')
const domain = new RegExp(`${DOMAIN}(?![A-Za-z0-9])`, 'y')
const localCharacter = new RegExp(`[${LOCAL}]`)

/** A part of a text, `[start, end)` in UTF-16 units. */
export interface Span {
  start: number
  end: number
}

/** Returns the address around one `@`. Searching outwards from it is linear, which a single pattern would not be. */
function addressAt(text: string, at: number, from: number): Span | null {
  domain.lastIndex = at + 1
  if (!domain.test(text)) return null
  let start = at
  while (start > from && localCharacter.test(text.charAt(start - 1))) start--
  while (start < at && !/\w/.test(text.charAt(start))) start++
  return start < at ? { start, end: domain.lastIndex } : null
}

/** Returns the addresses in the text, without decoding, in order and without overlaps. */
export function findEmails(text: string): Span[] {
  const found: Span[] = []
  let at = text.indexOf('@')
  if (at < 0) return found
  // Replaced by spaces, so that positions stay.
  const searched = text.replaceAll(denseImage, (name) => ' '.repeat(name.length))
  for (; at >= 0; at = searched.indexOf('@', at + 1)) {
    const span = addressAt(searched, at, found.at(-1)?.end ?? 0)
    if (span) found.push(span)
  }
  return found
}

/** Whether the text, or its percent-decoded forms of up to two rounds, contains an e-mail address. */
export function containsEmail(text: string): boolean {
  if (!text.includes('@') && !text.includes('%')) return false
  return decodings(text).some((decoded) => findEmails(decoded).length > 0)
}
