import { randomBytes } from 'node:crypto'
import { PASSWORD_LENGTH } from '../contract/limits.ts'
import { AppError } from '../core/error.ts'
import { FairQueue } from '../core/fair-queue.ts'
import { whyGuessable } from './guessable-password.ts'

export interface User {
  id: string
  email: string
  /** Null until the user has set one. */
  name: string | null
}

/**
 * Hashing cost of 64 MiB and two passes, above the OWASP minimum: https://cheatsheetseries.owasp.org (Password
 * Storage).
 */
const COST = { algorithm: 'argon2id', memoryCost: 65_536, timeCost: 2 } as const

/** A random hash with the same cost. When the user is unknown, the password is verified against this hash. */
const DUMMY_HASH = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$${randomPart()}$${randomPart()}`

/** Returns 32 random bytes in the encoding used by hashes: base64 without padding. */
function randomPart(): string {
  return randomBytes(32).toString('base64').replaceAll('=', '')
}

/** A single queue for the process, to limit memory: two calls run concurrently, and others wait for up to about 5 s. */
const queue = new FairQueue(2, 100)

/**
 * Different Unicode encodings of the same characters are treated as the same password, as recommended by NIST SP
 * 800-63B section 5.1.1.2.
 */
const normalized = (password: string) => password.normalize('NFKC')

export interface NewPasswordUse {
  /** The field named in errors; default `password`. */
  field?: string
  /** Facts that an attacker knows, such as the user's e-mail address. A password like one of these is refused. */
  known?: readonly string[]
}

/**
 * Throws `invalid`, naming the field, when the password has fewer than 10 or more than 1,000 characters or is easy to
 * guess.
 */
export async function checkPassword(
  password: string,
  { field = 'password', known = [] }: NewPasswordUse = {},
): Promise<void> {
  const length = [...normalized(password)].length
  if (length < PASSWORD_LENGTH.min) {
    throw new AppError('invalid', `${field}: must have at least ${PASSWORD_LENGTH.min} characters`)
  }
  if (length > PASSWORD_LENGTH.max) {
    throw new AppError('invalid', `${field}: must have at most ${PASSWORD_LENGTH.max} characters`)
  }
  const reason = await whyGuessable(normalized(password), known)
  if (reason !== null) {
    throw new AppError('invalid', `${field}: ${reason}; choose a longer one, such as several unrelated words`)
  }
}

/**
 * Returns the argon2id hash to store. Takes about 0.1 s outside the main thread. Throws the errors of `checkPassword`,
 * and `unavailable` when too many calls are waiting.
 */
export async function hashPassword(password: string, use: NewPasswordUse = {}): Promise<string> {
  await checkPassword(password, use)
  return queue.run(() => Bun.password.hash(normalized(password), COST))
}

/**
 * True when the password matches the hash. Without a hash, returns false after the same duration, so that the response
 * time does not reveal which e-mail addresses are known. Throws `unavailable` when too many calls are waiting.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const opens = await queue.run(() => Bun.password.verify(normalized(password), hash ?? DUMMY_HASH))
  return opens && hash !== null
}
