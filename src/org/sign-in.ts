import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { formatAddress, parseAddress, unmapped } from '../core/ip-address.ts'
import type { Origin } from '../http/client-info.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { tx } from '../store/database.ts'
import type { NewAuditEntry } from './audit-log.ts'
import { verifyPassword } from './password-hash.ts'
import { checkSecondFactor, type SecondFactorDeps, SecondFactorError, wrongCodeLimit } from './second-factor.ts'
import type { SecurityMailDeps } from './security-mail.ts'
import { openSession, type SignedIn, signedIn } from './session.ts'
import { listMemberships } from './store.ts'

/** Rate limits for all kinds of sign-in: passwords, invitations and single sign-on. */
export interface SignInLimits {
  /** Counts an attempt from this IP address. Throws `rateLimited` with the number of seconds to wait. */
  byAddress(origin: Pick<Origin, 'address'>): void
  /**
   * Counts an attempt for this account from this IP address, regardless of whether the account exists. Throws
   * `rateLimited` with the number of seconds to wait.
   */
  byAccount(email: string, origin: Pick<Origin, 'address'>): void
  /** Wrong codes of second factors, by user id. */
  wrongCodes: RateLimit
}

const ACCOUNT_PER_MINUTE = 10
/**
 * Limit for attempts from all IP addresses together. The limit is so high that an attacker with few addresses can't
 * lock a user out.
 */
const ACCOUNT_TOTAL_PER_MINUTE = 100
const WINDOW_S = 60

/**
 * Creates the limits for one process. Per minute, they allow `addressPerMinute` attempts from one IP address and, for
 * each account, 10 attempts from one IP address and 100 in total.
 */
export function signInLimits(clock: Clock, addressPerMinute: number): SignInLimits {
  const addresses = new RateLimit(clock, addressPerMinute / WINDOW_S, WINDOW_S)
  const accounts = new RateLimit(clock, ACCOUNT_PER_MINUTE / WINDOW_S, WINDOW_S)
  const altogether = new RateLimit(clock, ACCOUNT_TOTAL_PER_MINUTE / WINDOW_S, WINDOW_S)
  return {
    byAddress: ({ address }) => addresses.take(networkOf(address)),
    byAccount(email, { address }) {
      const account = email.trim().toLowerCase()
      // IP addresses contain no spaces, so the key is unique.
      accounts.take(`${networkOf(address)} ${account}`)
      altogether.take(account)
    },
    wrongCodes: wrongCodeLimit(clock),
  }
}

/**
 * Returns the key under which attempts from an IP address are counted: the address itself for IPv4, or its /64 for
 * IPv6. A customer usually has a whole /64 (https://www.rfc-editor.org/rfc/rfc6177). IPv4-mapped addresses
 * (`::ffff:192.0.2.1`) are treated as IPv4. Callers with an unknown address share one key.
 */
export function networkOf(address: string | null): string {
  if (address === null) return 'unknown'
  const known = parseAddress(address)
  if (known === null) return address
  const plain = unmapped(known)
  const text = formatAddress(plain)
  return plain.family === 4 ? text : `${text.split(':').slice(0, 4).join(':')}::/64`
}

export interface PasswordSignInDeps extends SecondFactorDeps, SecurityMailDeps {
  limits: SignInLimits
  /** Writes an entry to the audit log of the entry's organization. */
  audit(entry: NewAuditEntry): void
  /** Called for errors that occur after the response has been sent. */
  report(error: unknown, where: string): void
}

const AUDITED_ORGS_MAX = 1000

/**
 * Writes an entry about a user to the audit log of each organization that the user belongs to, except `exceptOrgId`.
 */
export function auditEverywhere(
  { db, audit }: Pick<PasswordSignInDeps, 'db' | 'audit'>,
  ofUserId: string,
  entry: Omit<NewAuditEntry, 'orgId'>,
  exceptOrgId: string | null = null,
): void {
  for (const { id: orgId } of listMemberships(db, { userId: ofUserId }, { limit: AUDITED_ORGS_MAX }).items) {
    if (orgId !== exceptOrgId) audit({ ...entry, orgId })
  }
}

interface Account {
  id: string
  passwordHash: string | null
}

const wrong = () => new AppError('unauthorized', 'e-mail address or password is wrong')

/**
 * Signs in by e-mail address and password. Throws `unauthorized` when the address is unknown, its user has no password,
 * or the password is wrong; message and duration are the same in all three cases. Throws `SecondFactorError` when the
 * user has a second factor and the code is missing or wrong. Throws `forbidden` when the user
 * belongs to no organization, `rateLimited` after too many attempts, and `unavailable` when too many sign-ins are
 * waiting.
 */
export async function signIn(
  parts: PasswordSignInDeps,
  { email, password, code }: { email: string; password: string; code?: string },
  origin: Origin,
): Promise<SignedIn> {
  const { db, clock, limits } = parts
  limits.byAddress(origin)
  limits.byAccount(email, origin)
  const find = db.prepare<[string], Account>('SELECT id, passwordHash FROM user WHERE email = ?')
  const account = find.get(email.trim())
  const fits = await verifyPassword(password, account?.passwordHash ?? null)
  if (!account || !fits) {
    // Written after the response, because the write takes time and happens only for known users.
    setTimeout(() => noteFailure(parts, account, origin), 0)
    throw wrong()
  }
  return withSecondFactor(parts, account, origin, () => {
    // If the password was changed during its verification, all sessions have been deleted, and no new one may be
    // opened.
    if (find.get(email.trim())?.passwordHash !== account.passwordHash) throw wrong()
    checkSecondFactor(parts, account.id, code, origin)
    const answer = signedIn(db, openSession(db, clock, account.id, 'password', { origin }), account.id)
    if (answer.orgs.length === 0) throw new AppError('forbidden', 'the user is not a member of any organization')
    const { address, userAgent } = origin
    auditEverywhere(parts, account.id, { act: 'signIn', userId: account.id, address, note: { userAgent } })
    return answer
  })
}

/**
 * Runs `work`, which checks a second factor, in a transaction. Writes a wrong code to the audit log after the response.
 */
export function withSecondFactor<T extends object>(
  parts: Pick<PasswordSignInDeps, 'db' | 'audit' | 'report'>,
  account: { id: string },
  origin: Origin,
  work: () => T,
): T {
  try {
    return tx(parts.db, () => ({ value: work() })).value
  } catch (error) {
    const isFailure = error instanceof SecondFactorError && error.isFailure
    if (isFailure) setTimeout(() => noteFailure(parts, account, origin, { secondFactor: true }), 0)
    throw error
  }
}

function noteFailure(
  parts: Pick<PasswordSignInDeps, 'db' | 'audit' | 'report'>,
  account: { id: string } | undefined,
  { address, userAgent }: Origin,
  more: Record<string, unknown> = {},
): void {
  if (!account) return
  const entry = { act: 'signInFailed', userId: null, address, target: account.id, note: { userAgent, ...more } }
  try {
    tx(parts.db, () => auditEverywhere(parts, account.id, entry))
  } catch (error) {
    parts.report(error, 'audit log')
  }
}
