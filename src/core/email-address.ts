import { AppError } from './error.ts'

/** Maximum length of an address in SMTP: https://www.rfc-editor.org/errata/eid1690. */
const EMAIL_LENGTH_MAX = 254
const MAILBOX = /^[\w.!#$%&'*+/=?^`{|}~-]+$/
const DNS_LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i

/**
 * Returns the trimmed e-mail address. Throws `invalid` when browsers would not accept it:
 * https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address.
 */
export function checkEmail(email: string): string {
  const trimmed = email.trim()
  const at = trimmed.lastIndexOf('@')
  const labels = trimmed.slice(at + 1).split('.')
  const fits = trimmed.length <= EMAIL_LENGTH_MAX && at > 0 && MAILBOX.test(trimmed.slice(0, at))
  if (!fits || !labels.every((label) => DNS_LABEL.test(label))) {
    throw new AppError('invalid', 'email: is not an e-mail address')
  }
  return trimmed
}
