import { randomBytes } from 'node:crypto'
import type { OidcSettings } from '../config.ts'
import { type Clock, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, parser, Text, Type } from '../core/schema.ts'
import { type SecretBox, secretHash } from '../core/secret-box.ts'
import { type Origin, originOf } from '../http/client-info.ts'
import { oauthCookie, redirect } from '../http/oauth-cookie.ts'
import { publicRoute, type Route, redirectRoute } from '../http/route.ts'
import { type Db, tx } from '../store/database.ts'
import type { NewAuditEntry } from './audit-log.ts'
import type { Checks, Provider, ProviderDeps } from './oidc.ts'
import { admit, joinedOrg, type NoteAct, shutOut } from './oidc-membership.ts'
import { type CompanyUser, roleOf } from './oidc-user.ts'
import { openSession, type SignedIn, SignedInSchema, signedIn } from './session.ts'
import { auditEverywhere, type SignInLimits } from './sign-in.ts'

const PATH = '/v1/auth/oidc'
const cookie = oauthCookie('tagwarden_oidc', PATH)
/** Time limit for signing in at the provider. */
const BEGUN_MS = 10 * MINUTE_MS
const CODE_MS = 60 * SECOND_MS
/** More than the expected number of sign-ins per minute. Above this limit, the oldest codes are dropped. */
const MAX_CODES = 10_000

interface Admitted {
  userId: string
  orgId: string
  /** See `FinishedSignIn`. */
  endSessionUrl: string | null
}

/**
 * One-time codes that a page exchanges for a session after the redirect from the provider. Codes are kept in memory as
 * hashes.
 */
class SignInCodes {
  private readonly waiting = new Map<string, Admitted & { until: Instant }>()

  constructor(private readonly clock: Clock) {}

  give(admitted: Admitted): string {
    const now = this.clock.now()
    for (const [hash, { until }] of this.waiting) {
      if (until > now && this.waiting.size < MAX_CODES) break
      this.waiting.delete(hash)
    }
    const code = randomBytes(32).toString('base64url')
    this.waiting.set(hashOf(code), { ...admitted, until: now + CODE_MS })
    return code
  }

  /** Returns the sign-in for the code and invalidates the code. Null when the code is unknown, used or expired. */
  take(code: string): Admitted | null {
    const hash = hashOf(code)
    const found = this.waiting.get(hash)
    this.waiting.delete(hash)
    return found && this.clock.now() < found.until ? found : null
  }
}

const hashOf = (code: string) => secretHash(code).toString('hex')

/** The single sign-on configuration and its provider. */
export interface CompanySignIn {
  settings: OidcSettings
  /** Returns the provider. The protocol implementation is loaded at the first sign-in. */
  provider(): Promise<Provider>
  codes: SignInCodes
}

export function companySignIn(settings: OidcSettings, parts: ProviderDeps): CompanySignIn {
  let made: Promise<Provider> | null = null
  const provider = () => {
    made ??= import('./oidc.ts').then(({ oidcProvider }) => oidcProvider(settings, parts))
    return made
  }
  return { settings, provider, codes: new SignInCodes(parts.clock) }
}

export interface OidcRouteDeps {
  db: Db
  box: SecretBox
  clock: Clock
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  limits: Pick<SignInLimits, 'byAddress'>
  /** Writes an entry to the audit log of the entry's organization. */
  audit(entry: NewAuditEntry): void
  /** Null when single sign-on is not configured. */
  company: CompanySignIn | null
}

function requireCompany({ company }: OidcRouteDeps): CompanySignIn {
  if (!company) throw new AppError('notFound', 'single sign-on is not configured on this server')
  return company
}

const CodeSchema = Closed(
  { code: Text(1, 200) },
  { $id: 'SignInCode', examples: [{ code: 'q3Yt0w2mJm0m3yXJ3l8vX4b1cQk7nVd5sTz9aHfRuEo' }] },
)

/**
 * Returns the routes for the redirect to the provider, for the callback, and for exchanging the callback's one-time
 * code for a session.
 */
export function oidcRoutes(parts: OidcRouteDeps): Route[] {
  return [
    redirectRoute({
      id: 'startSignIn',
      method: 'GET',
      path: `${PATH}/start`,
      tag: 'Sign-in',
      summary: 'Start single sign-on by redirecting the browser to the provider',
      refusals: ['notFound', 'rateLimited', 'upstream'],
      status: 302,
      redirect: (request) => start(parts, originOf(request)),
    }),
    redirectRoute({
      id: 'finishSignIn',
      method: 'GET',
      path: `${PATH}/callback`,
      tag: 'Sign-in',
      summary: 'Receive the browser from the provider and redirect it to the start page',
      description:
        'Redirects with `#signin=<code>`, or with `#signin-error=<sentence>` when the sign-in failed or was cancelled. A browser ' +
        'that arrives without parameters has signed out at the provider, and is redirected without a fragment.',
      refusals: ['notFound', 'rateLimited'],
      status: 303,
      redirect: (request) => callback(parts, request),
    }),
    publicRoute({
      id: 'redeemSignIn',
      method: 'POST',
      path: `${PATH}/session`,
      tag: 'Sign-in',
      summary: 'Open a session with the code from single sign-on',
      description:
        `A browser starts at \`GET ${PATH}/start\` and returns to the start page with \`#signin=<code>\`, which is valid once ` +
        'within one minute, or with `#signin-error=<sentence>`.',
      refusals: ['unauthorized', 'forbidden', 'notFound', 'rateLimited'],
      body: CodeSchema,
      answer: SignedInSchema,
      handle: ({ body: { code }, origin }) => redeem(parts, code, origin),
    }),
  ]
}

function redeem(parts: OidcRouteDeps, code: string, origin: Origin): SignedIn {
  const { db, box, clock, limits } = parts
  const { codes } = requireCompany(parts)
  limits.byAddress(origin)
  const admitted = codes.take(code)
  if (!admitted) throw new AppError('unauthorized', 'code: is unknown, used or expired; sign in again')
  const { userId, orgId, endSessionUrl } = admitted
  const sealed = endSessionUrl === null ? null : box.seal(endSessionUrl)
  return tx(db, () => {
    const member = db.prepare('SELECT 1 FROM member WHERE orgId = ? AND userId = ?').get(orgId, userId)
    if (!member) throw new AppError('forbidden', 'the user no longer belongs to the organization')
    const { address, userAgent } = origin
    auditEverywhere(parts, userId, { act: 'signIn', userId, address, note: { via: 'oidc', userAgent } })
    return signedIn(db, openSession(db, clock, userId, 'oidc', { origin, endSessionUrl: sealed }), userId)
  })
}

const callbackUrl = ({ publicUrl }: OidcRouteDeps) => `${publicUrl}${PATH}/callback`

async function start(parts: OidcRouteDeps, origin: Origin): Promise<Response> {
  const { db, box, clock, limits } = parts
  const { provider, settings } = requireCompany(parts)
  limits.byAddress(origin)
  // Checked first, so that nobody signs in at the provider only to be rejected afterwards.
  joinedOrg(db, settings.orgId)
  const { url, checks } = await (await provider()).begin(callbackUrl(parts))
  const sealed = box.seal(JSON.stringify({ ...checks, until: clock.now() + BEGUN_MS })).toString('base64url')
  return redirect(302, url.href, cookie.set(parts.publicUrl, sealed, BEGUN_MS))
}

async function callback(parts: OidcRouteDeps, request: Request): Promise<Response> {
  requireCompany(parts)
  const origin = originOf(request)
  parts.limits.byAddress(origin)
  const clear = cookie.set(parts.publicUrl, '', 0)
  const back = (fragment: string) => redirect(303, `${parts.publicUrl}/${fragment}`, clear)
  const { searchParams } = new URL(request.url)
  const isAfterSignOut = !['code', 'error', 'state'].some((name) => searchParams.has(name))
  if (isAfterSignOut) return back('')
  try {
    return back(`#signin=${await receive(parts, request, origin)}`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return back(`#signin-error=${encodeURIComponent(error.message)}`)
  }
}

/** Finishes the sign-in and returns a one-time code. The error message is a sentence for the user. */
async function receive(parts: OidcRouteDeps, request: Request, origin: Origin): Promise<string> {
  const { db } = parts
  const { provider, settings, codes } = requireCompany(parts)
  const { search, searchParams } = new URL(request.url)
  const checks = checksOf(parts, request)
  if (checks?.state !== searchParams.get('state')) {
    throw new AppError(
      'invalid',
      'this sign-in was started in another browser or more than 10 minutes ago; start again',
    )
  }
  const { user, endSessionUrl } = await (await provider()).finish(new URL(callbackUrl(parts) + search), checks)
  const role = roleOf(user.groups, settings.roles)
  const orgId = joinedOrg(db, settings.orgId)
  const { address } = origin
  const note: NoteAct = (act) => parts.audit({ ...act, address })
  if (role === null) {
    refuse(parts, user, { orgId, note, address })
    throw new AppError('forbidden', `you are not in a group at ${settings.name} that is allowed to sign in`)
  }
  return codes.give({ userId: admit(db, parts.clock, user, { orgId, role, note }), orgId, endSessionUrl })
}

function refuse(
  parts: OidcRouteDeps,
  user: CompanyUser,
  { orgId, note, address }: { orgId: string; note: NoteAct; address: string | null },
): void {
  const { db, clock } = parts
  tx(db, () => {
    const userId = shutOut(db, clock, user, { orgId, note })
    if (userId === null) return
    const entry = { act: 'signInFailed', userId: null, address, target: userId, note: { via: 'oidc' } }
    parts.audit({ ...entry, orgId })
    auditEverywhere(parts, userId, entry, orgId)
  })
}

const parseBegun = parser(Closed({ state: Type.String(), nonce: Type.String(), verifier: Type.String(), until: Int() }))

/** Returns the checks from the browser's cookie; null when the cookie is missing or expired. */
function checksOf({ box, clock }: OidcRouteDeps, request: Request): Checks | null {
  const sealed = cookie.read(request)
  if (sealed === null) return null
  try {
    const { until, ...checks } = parseBegun(JSON.parse(box.open(Buffer.from(sealed, 'base64url'))))
    return clock.now() < until ? checks : null
  } catch {
    // The cookie is forged or was encrypted with the key of another data folder.
    return null
  }
}
