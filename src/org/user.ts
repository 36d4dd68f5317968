import { AppError } from '../core/error.ts'

export interface User {
  id: string
  email: string
  /** Null until the user gave one. */
  name: string | null
}

/** The longest address that SMTP can carry: https://www.rfc-editor.org/errata/eid1690. */
const EMAIL_LENGTH_MAX = 254
const PASSWORD_LENGTH_MIN = 10
/** Far above any pass phrase; keeps the cost of hashing bounded. */
const PASSWORD_LENGTH_MAX = 1000

const MAILBOX = /^[\w.!#$%&'*+/=?^`{|}~-]+$/
const DNS_LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i

/**
 * The address without white space at its ends. Fails with `invalid` when it is not what browsers accept as an e-mail
 * address: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address.
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

/**
 * The argon2id hash to store. Different spellings of one text in Unicode give one password (NFKC, as in NIST SP
 * 800-63B section 5.1.1.2). Takes about 0.1 s, off the main thread. Fails with `invalid` when the password has fewer
 * than 10 or more than 1,000 characters.
 */
export async function hashPassword(password: string): Promise<string> {
  const normal = password.normalize('NFKC')
  const length = [...normal].length
  if (length < PASSWORD_LENGTH_MIN) {
    throw new AppError('invalid', `password: must have at least ${PASSWORD_LENGTH_MIN} characters`)
  }
  if (length > PASSWORD_LENGTH_MAX) {
    throw new AppError('invalid', `password: must have at most ${PASSWORD_LENGTH_MAX} characters`)
  }
  return Bun.password.hash(normal, { algorithm: 'argon2id' })
}
