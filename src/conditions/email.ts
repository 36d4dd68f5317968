import { base64Runs, MAY_HOLD_ADDRESS_PATTERN } from './base64.ts'
import { decodings, mayBeEncoded } from './percent.ts'

/**
 * An e-mail address as defined by HTML's `type=email`, https://html.spec.whatwg.org/#valid-e-mail-address, with
 * narrower rules. The domain has a top-level domain of letters or in punycode. The local part begins with a letter,
 * digit or `_` and contains none of `/ = & ?`, so `https://site.example/@someone.name` does not match. ASCII only. RE2
 * syntax.
 */
const LOCAL = "A-Za-z0-9.!#$%'*+^_`{|}~-"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const DOMAIN = String.raw`(?:${LABEL}\.)+(?:[Xx][Nn]--[A-Za-z0-9-]{1,59}|[A-Za-z]{2,24})`
export const EMAIL_PATTERN = `[A-Za-z0-9_][${LOCAL}]*@${DOMAIN}(?:[^A-Za-z0-9]|$)`

/**
 * Parts that look like an address but are not one; they are removed before the search. Patterns that may begin a text
 * come first, so that joined texts give the same result. RE2 syntax.
 */
export const NO_ADDRESS_PATTERN = [
  // Repositories: `git@host:owner/name`.
  `(?:^|[^A-Za-z0-9_.+-])(?:git|hg|svn|gitea|forgejo|org-[0-9]+)@${DOMAIN}(?::|%3[Aa])[A-Za-z0-9_~/]`,
  // Accounts of the fediverse: `@name@host`, `acct:name@host`.
  '(?:^|[^A-Za-z0-9@_.+%-])@[A-Za-z0-9_][A-Za-z0-9_.-]*@',
  '(?:^|[^A-Za-z0-9])acct:[A-Za-z0-9_][A-Za-z0-9_.-]*@',
  // Names of image files for dense screens: `logo@2x.png`.
  String.raw`@[0-9](?:\.[0-9])?x\.(?:png|jpg|jpeg|gif|webp|avif|svg)`,
  // Userinfo of a URL: `https://key@host`, https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1
  String.raw`(?::\\?/\\?/|%3[Aa]%2[Ff]%2[Ff])[^ \t\n\f\r/?#@,;&="'<>()]*@`,
].join('|')

/** Matches every text of which `containsEmail` is true. */
export const MAY_HOLD_EMAIL_PATTERN = String.raw`[@%]|\\u00|${MAY_HOLD_ADDRESS_PATTERN}`

const noAddress = new RegExp(NO_ADDRESS_PATTERN, 'g')
const domain = new RegExp(`${DOMAIN}(?![A-Za-z0-9])`, 'y')
const localCharacter = new RegExp(`[${LOCAL}]`)

/** A part of a text, `[start, end)` in UTF-16 units. */
export interface Span {
  start: number
  end: number
}

/** Returns the address around one `@`. Searching outwards from it takes linear time; a single pattern would not. */
function addressAt(text: string, at: number, from: number): Span | null {
  domain.lastIndex = at + 1
  if (!domain.test(text)) return null
  let start = at
  while (start > from && localCharacter.test(text.charAt(start - 1))) start--
  while (start < at && !/\w/.test(text.charAt(start))) start++
  return start < at ? { start, end: domain.lastIndex } : null
}

/** Returns the addresses in the text, in order and without overlaps. The text is not decoded. */
export function findEmails(text: string): Span[] {
  const found: Span[] = []
  let at = text.indexOf('@')
  if (at < 0) return found
  // Spaces of the same length keep positions.
  const searched = text.replaceAll(noAddress, (name) => ' '.repeat(name.length))
  for (; at >= 0; at = searched.indexOf('@', at + 1)) {
    const span = addressAt(searched, at, found.at(-1)?.end ?? 0)
    if (span) found.push(span)
  }
  return found
}

/**
 * Returns whether the text, its percent-decoded forms of up to two rounds, or base64 in any of them contains an e-mail
 * address.
 */
export function containsEmail(text: string): boolean {
  if (text.includes('@') && findEmails(text).length > 0) return true
  if (!mayBeEncoded(text)) return hasEmailInBase64(text)
  return decodings(text).some((form) => findEmails(form).length > 0 || hasEmailInBase64(form))
}

function hasEmailInBase64(text: string): boolean {
  // Every engine sees the decoded bytes this way.
  return base64Runs(text).some((run) => hasEmail(run.text.replaceAll(/[^ -~]|["'\\]/g, ' ')))
}

const hasEmail = (text: string) => findEmails(text).length > 0
