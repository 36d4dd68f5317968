import { base64Runs, MAY_HOLD_ADDRESS_PATTERN } from './find-base64-runs.ts'
import { decodings, mayBeEncoded } from './percent-encoding.ts'

/**
 * An e-mail address as in HTML's `type=email`, https://html.spec.whatwg.org/#valid-e-mail-address, with stricter rules.
 * The domain must end in a top-level domain of letters or in punycode. The local part must begin with a letter, digit
 * or `_` and contain none of `/ = & ?`, so `https://site.example/@someone.name` does not match. ASCII only. RE2 syntax.
 */
const LOCAL = "A-Za-z0-9.!#$%'*+^_`{|}~-"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const DOMAIN = String.raw`(?:${LABEL}\.)+(?:[Xx][Nn]--[A-Za-z0-9-]{1,59}|[A-Za-z]{2,24})`
export const EMAIL_PATTERN = `[A-Za-z0-9_][${LOCAL}]*@${DOMAIN}(?:[^A-Za-z0-9]|$)`

/**
 * Parts that look like an e-mail address but are not one. They are removed before the search. Patterns that may match
 * at the start of a text come first, so that joined texts give the same result. RE2 syntax.
 */
export const NO_ADDRESS_PATTERN = [
  // Repository URLs: `git@host:owner/name`.
  `(?:^|[^A-Za-z0-9_.+-])(?:git|hg|svn|gitea|forgejo|org-[0-9]+)@${DOMAIN}(?::|%3[Aa])[A-Za-z0-9_~/]`,
  // Fediverse accounts: `@name@host`, `acct:name@host`.
  '(?:^|[^A-Za-z0-9@_.+%-])@[A-Za-z0-9_][A-Za-z0-9_.-]*@',
  '(?:^|[^A-Za-z0-9])acct:[A-Za-z0-9_][A-Za-z0-9_.-]*@',
  // File names of images for high-density screens: `logo@2x.png`.
  String.raw`@[0-9](?:\.[0-9])?x\.(?:png|jpg|jpeg|gif|webp|avif|svg)`,
  // Userinfo of a URL: `https://key@host`, https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1
  String.raw`(?::\\?/\\?/|%3[Aa]%2[Ff]%2[Ff])[^ \t\n\f\r/?#@,;&="'<>()]*@`,
].join('|')

/** Matches every text for which `containsEmail` is true. */
export const MAY_HOLD_EMAIL_PATTERN = String.raw`[@%]|\\u00|${MAY_HOLD_ADDRESS_PATTERN}`

const noAddress = new RegExp(NO_ADDRESS_PATTERN, 'g')
const domain = new RegExp(`${DOMAIN}(?![A-Za-z0-9])`, 'y')
const localCharacter = new RegExp(`[${LOCAL}]`)

/** A part of a text, `[start, end)` in UTF-16 code units. */
export interface Span {
  start: number
  end: number
}

/** Returns the e-mail address around an `@`. Searching outwards from the `@` takes linear time, unlike a single pattern. */
function addressAt(text: string, at: number, from: number): Span | null {
  domain.lastIndex = at + 1
  if (!domain.test(text)) return null
  let start = at
  while (start > from && localCharacter.test(text.charAt(start - 1))) start--
  while (start < at && !/\w/.test(text.charAt(start))) start++
  return start < at ? { start, end: domain.lastIndex } : null
}

/** Returns the e-mail addresses in the text, in order and without overlaps. The text is not decoded first. */
export function findEmails(text: string): Span[] {
  const found: Span[] = []
  let at = text.indexOf('@')
  if (at < 0) return found
  // Excluded parts are replaced with spaces of the same length, which preserves positions.
  const searched = text.replaceAll(noAddress, (name) => ' '.repeat(name.length))
  for (; at >= 0; at = searched.indexOf('@', at + 1)) {
    const span = addressAt(searched, at, found.at(-1)?.end ?? 0)
    if (span) found.push(span)
  }
  return found
}

/**
 * Returns whether an e-mail address occurs in the text, in the result of one or two rounds of percent-decoding, or in
 * base64 within any of these.
 */
export function containsEmail(text: string): boolean {
  if (text.includes('@') && findEmails(text).length > 0) return true
  if (!mayBeEncoded(text)) return hasEmailInBase64(text)
  return decodings(text).some((form) => findEmails(form).length > 0 || hasEmailInBase64(form))
}

function hasEmailInBase64(text: string): boolean {
  // All characters except printable ASCII, and quotes and backslashes, are replaced with spaces, so that every engine
  // gets the same text.
  return base64Runs(text).some((run) => hasEmail(run.text.replaceAll(/[^ -~]|["'\\]/g, ' ')))
}

const hasEmail = (text: string) => findEmails(text).length > 0
