import { type Clock, HOUR_MS, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type SecretBox, secretHash } from '../core/secret-box.ts'
import type { Origin } from '../http/client-info.ts'
import type { Principal } from '../http/principal.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { notifyOfSecurityEvent, type SecurityMailDeps } from './security-mail.ts'
import { newRecoveryCodes, newTotpSecret, normalizedCode, stepAt, stepOfCode, totpUri } from './totp.ts'

/** Maximum number of wrong codes for a user at once, and per hour afterwards. A million codes are possible. */
const WRONG_CODES = 10

/** Returns the limit for wrong codes, by user id. */
export function wrongCodeLimit(clock: Clock): RateLimit {
  return new RateLimit(clock, (WRONG_CODES * SECOND_MS) / HOUR_MS, HOUR_MS / SECOND_MS)
}

export interface SecondFactorDeps {
  db: Db
  box: SecretBox
  clock: Clock
  limits: {
    /** The result of `wrongCodeLimit`. */
    wrongCodes: RateLimit
  }
}

const enrolled = (userId: string) =>
  `EXISTS (SELECT 1 FROM totp WHERE totp.userId = ${userId} AND totp.confirmedAt IS NOT NULL)`

/**
 * SQL: true when the organization requires a second factor that the user of the session has not set up. Single sign-on
 * asks for its own.
 */
export const sessionNeedsSecondFactor = `(requireSecondFactor = 1 AND via <> 'oidc' AND NOT ${enrolled('session.userId')})`

/** SQL: the same for an API key. Keys of users of single sign-on are accepted. */
export const keyNeedsSecondFactor = `(requireSecondFactor = 1 AND NOT ${enrolled('apiKey.userId')}
  AND NOT EXISTS (SELECT 1 FROM identity WHERE identity.userId = apiKey.userId))`

/** SQL: 1 when the user has set up a second factor. */
export const hasSecondFactorSql = enrolled('user.id')

/** True when the caller's credential stays valid if its organization requires a second factor. */
export function satisfiesSecondFactor(db: Db, { userId, sessionId }: Principal): boolean {
  if (secondFactorOf(db, userId).enabled) return true
  return sessionId === null
    ? prepared(db, 'SELECT 1 FROM identity WHERE userId = ?').get(userId) !== undefined
    : prepared(db, `SELECT 1 FROM session WHERE tokenHash = ? AND via = 'oidc'`).get(Buffer.from(sessionId, 'hex')) !==
        undefined
}

interface TotpRow {
  secret: Buffer
  confirmedAt: Instant | null
  lastStep: number
}

const findTotp = (db: Db, userId: string) =>
  prepared<[string], TotpRow>(db, 'SELECT secret, confirmedAt, lastStep FROM totp WHERE userId = ?').get(userId)

/** The state of a user's second factor. */
export interface SecondFactor {
  enabled: boolean
  /** Time of the first code; null when not enabled. */
  enabledAt: Instant | null
  /** Number of unused recovery codes; 0 when not enabled. */
  recoveryCodesLeft: number
}

export function secondFactorOf(db: Db, userId: string): SecondFactor {
  const enabledAt = findTotp(db, userId)?.confirmedAt ?? null
  if (enabledAt === null) return { enabled: false, enabledAt, recoveryCodesLeft: 0 }
  const count = prepared<[string], { left: number }>(db, 'SELECT count(*) AS left FROM recoveryCode WHERE userId = ?')
  return { enabled: true, enabledAt, recoveryCodesLeft: count.get(userId)?.left ?? 0 }
}

/**
 * Creates a secret and recovery codes for a user. They replace those of an unfinished enrolment, and take effect with
 * `confirmSecondFactor`. Only the SHA-256 hashes of the recovery codes are stored. Throws `conflict` when a second
 * factor is enabled, and for users without a password, who sign in elsewhere.
 */
export function beginSecondFactor({ db, box, clock }: SecondFactorDeps, userId: string) {
  const user = prepared<[string], { email: string; passwordHash: string | null }>(
    db,
    'SELECT email, passwordHash FROM user WHERE id = ?',
  ).get(userId)
  if (!user?.passwordHash)
    throw new AppError('conflict', 'you have no password; your single sign-on asks for its own second factor')
  if (secondFactorOf(db, userId).enabled)
    throw new AppError('conflict', 'a second factor is already enabled; remove it first')
  const secret = newTotpSecret()
  const recoveryCodes = newRecoveryCodes()
  tx(db, () => {
    removeSecondFactor(db, userId)
    prepared(db, 'INSERT INTO totp (userId, secret, createdAt) VALUES (?, ?, ?)').run(
      userId,
      box.seal(secret),
      clock.now(),
    )
    storeRecoveryCodes(db, userId, recoveryCodes)
  })
  return { secret, uri: totpUri(secret, user.email), recoveryCodes }
}

function storeRecoveryCodes(db: Db, userId: string, codes: readonly string[]): void {
  const insert = prepared(db, 'INSERT INTO recoveryCode (userId, codeHash) VALUES (?, ?)')
  for (const code of codes) insert.run(userId, secretHash(normalizedCode(code)))
}

/**
 * Replaces the recovery codes of a user, and uses up the code of the authenticator app. Returns the new ones. Throws
 * `conflict` when no second factor is enabled, `forbidden` for a wrong or used code, and `rateLimited` after too many
 * wrong codes.
 */
export function replaceRecoveryCodes(parts: SecondFactorDeps, userId: string, code: string): string[] {
  const { db } = parts
  const totp = findTotp(db, userId)
  if (!totp || totp.confirmedAt === null) throw new AppError('conflict', 'you have no second factor; set one up first')
  if (!spendAppCode(parts, userId, totp, normalizedCode(code))) {
    throw new AppError('forbidden', 'code: is not the current code of the authenticator app, or was already used')
  }
  const recoveryCodes = newRecoveryCodes()
  tx(db, () => {
    prepared(db, 'DELETE FROM recoveryCode WHERE userId = ?').run(userId)
    storeRecoveryCodes(db, userId, recoveryCodes)
  })
  return recoveryCodes
}

/**
 * Enables the second factor with a first code from the authenticator app. Throws `conflict` when there is none to
 * enable, `forbidden` for a wrong code, and `rateLimited` after too many wrong codes.
 */
export function confirmSecondFactor(
  { db, box, clock, limits: { wrongCodes } }: SecondFactorDeps,
  userId: string,
  code: string,
): void {
  const totp = findTotp(db, userId)
  if (!totp) throw new AppError('conflict', 'there is no second factor to enable; call POST /v1/auth/totp first')
  if (totp.confirmedAt !== null) throw new AppError('conflict', 'a second factor is already enabled')
  wrongCodes.take(userId, 0)
  if (matchingStep(box, totp, normalizedCode(code), clock.now()) === null) {
    wrongCodes.take(userId)
    throw new AppError('forbidden', 'code: is not the current code of the authenticator app')
  }
  // The code is not used up, because entering it is not a sign-in.
  prepared(db, 'UPDATE totp SET confirmedAt = ? WHERE userId = ?').run(clock.now(), userId)
}

/** Removes the user's second factor with its recovery codes, if there is one. Returns whether it was enabled. */
export function removeSecondFactor(db: Db, userId: string): boolean {
  const { enabled } = secondFactorOf(db, userId)
  prepared(db, 'DELETE FROM recoveryCode WHERE userId = ?').run(userId)
  prepared(db, 'DELETE FROM totp WHERE userId = ?').run(userId)
  return enabled
}

/** Removes the second factors whose secret the box can't decrypt. Returns their users, and whether they were enabled. */
export function dropUnreadableSecondFactors(db: Db, box: SecretBox): { userId: string; wasEnabled: boolean }[] {
  const rows = db.prepare<[], { userId: string; secret: Buffer }>('SELECT userId, secret FROM totp').all()
  const closed = rows.filter(({ secret }) => openOrNull(box, secret) === null)
  return closed.map(({ userId }) => ({ userId, wasEnabled: removeSecondFactor(db, userId) }))
}

function openOrNull(box: SecretBox, secret: Buffer): string | null {
  try {
    return box.open(secret)
  } catch {
    // The secret was encrypted with the key of another data folder. Recovery codes still work.
    return null
  }
}

function matchingStep(box: SecretBox, { secret }: TotpRow, code: string, now: Instant): number | null {
  const opened = openOrNull(box, secret)
  return opened === null ? null : stepOfCode(opened, code, now)
}

/** The password is right, but a code is missing or wrong. */
export class SecondFactorError extends AppError {
  constructor(
    message: string,
    /** False when no code was given, as at the first attempt of every sign-in. */
    readonly isFailure: boolean,
  ) {
    super('unauthorized', message, undefined, undefined, { 'x-second-factor': 'totp' })
  }
}

/**
 * Checks the second factor of a user who has one, and uses the code up: each code of the app and each recovery code
 * works for one sign-in. Call it in the transaction of the sign-in, after the password. Throws `SecondFactorError` for
 * a missing, wrong or used code, and `rateLimited` after too many wrong codes of the app. Recovery codes are too long
 * to be guessed, so that they are not limited and an attacker can't lock the user out. The user is notified of a used
 * recovery code by e-mail.
 */
export function checkSecondFactor(
  parts: SecondFactorDeps & SecurityMailDeps,
  userId: string,
  code: string | undefined,
  origin: Origin,
): void {
  const { db } = parts
  const totp = findTotp(db, userId)
  if (!totp || totp.confirmedAt === null) return
  if (code === undefined) {
    throw new SecondFactorError('code: enter the code of your authenticator app, or a recovery code', false)
  }
  const typed = normalizedCode(code)
  const wrong = () => new SecondFactorError('code: is wrong, expired or already used', true)
  if (!/^\d{6}$/.test(typed)) {
    const spend = prepared(db, 'DELETE FROM recoveryCode WHERE userId = ? AND codeHash = ?')
    if (spend.run(userId, secretHash(typed)).changes === 0) throw wrong()
    const codesLeft = secondFactorOf(db, userId).recoveryCodesLeft
    notifyOfSecurityEvent(parts, userId, { kind: 'recoveryCodeUsed', codesLeft }, origin)
    return
  }
  if (!spendAppCode(parts, userId, totp, typed)) throw wrong()
}

/**
 * Uses up a code of the authenticator app. Returns false when it is wrong, expired or already used. Throws
 * `rateLimited` after too many of these.
 */
function spendAppCode(
  { db, box, clock, limits: { wrongCodes } }: SecondFactorDeps,
  userId: string,
  totp: TotpRow,
  typed: string,
): boolean {
  wrongCodes.take(userId, 0)
  const now = clock.now()
  const step = matchingStep(box, totp, typed, now)
  // A step far in the future was used before the clock was set back.
  const isUsed = step !== null && step <= totp.lastStep && totp.lastStep <= stepAt(now) + 1
  if (step === null || isUsed) {
    wrongCodes.take(userId)
    return false
  }
  prepared(db, 'UPDATE totp SET lastStep = ? WHERE userId = ?').run(step, userId)
  return true
}
