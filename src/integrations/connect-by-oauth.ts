import { createHash, randomBytes } from 'node:crypto'
import { PAGE_PATHS, pagePath } from '../contract/page-paths.ts'
import { atLeast, type Role } from '../contract/roles.ts'
import { type Clock, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, parser, Type } from '../core/schema.ts'
import { type SecretBox, secretHash } from '../core/secret-box.ts'
import { pascalCase } from '../core/text.ts'
import { originOf } from '../http/client-info.ts'
import { oauthCookie, redirect } from '../http/oauth-cookie.ts'
import type { Principal } from '../http/principal.ts'
import { type Route, redirectRoute } from '../http/route.ts'
import { writeAuditEntry } from '../org/audit-log.ts'
import type { Db } from '../store/database.ts'
import { findByType } from './channel-targets.ts'
import { type InboundDeps, LiveInboundContext } from './context/inbound-context.ts'
import type { Connector, SignIn } from './providers/connector.ts'
import { findIntegration, type IntegrationKey, openIntegration, setIntegrationStatus } from './store.ts'

const cookie = oauthCookie('tagwarden_connect', '/v1/integrations')
/** Time limit for signing in at the other service. */
const SIGN_IN_TIMEOUT_MS = 10 * MINUTE_MS

interface SignInDeps extends InboundDeps {
  publicUrl: string
  connectors: readonly Connector[]
}

/** State of a sign-in, sealed in the OAuth `state` parameter. */
const SignInStateSchema = Closed({
  orgId: Type.String(),
  id: Type.String(),
  userId: Type.String(),
  codeVerifier: Type.String(),
  until: Int(),
})
const parseSignInState = parser(SignInStateSchema)

const callbackUrl = (publicUrl: string, type: string) => `${publicUrl}/v1/integrations/${type}/callback`

export const needsSignIn = ({ connection }: Connector): boolean => connection.by === 'oauth'

function signInOf(connector: Connector | null): SignIn<object, object> {
  if (connector?.connection.by === 'oauth') return connector.connection
  throw new AppError('conflict', 'this integration does not use sign-in')
}

/** Returns the URL at which the user signs in at the other service. Fails with `notFound` or `conflict`. */
export function beginSignIn(deps: SignInDeps, { orgId, userId }: Principal, id: string): { url: string } {
  const { db, box, clock, publicUrl, connectors } = deps
  const { provider: type } = findIntegration(db, { orgId, id })
  const signIn = signInOf(findByType(connectors, type))
  const settings = openIntegration(db, box, { orgId, id })?.settings ?? {}
  const codeVerifier = randomBytes(32).toString('base64url')
  const begun = { orgId, id, userId, codeVerifier, until: clock.now() + SIGN_IN_TIMEOUT_MS }
  const state = box.seal(JSON.stringify(begun)).toString('base64url')
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
  const redirectUri = callbackUrl(publicUrl, type)
  return { url: signIn.authorizeUrl(settings, { redirectUri, state, codeChallenge }).href }
}

/**
 * Cookie that binds the callback to the browser that started the sign-in. It prevents anyone from connecting someone
 * else's account to their own integration.
 */
export function signInCookie(publicUrl: string, { url }: { url: string }): Record<string, string> {
  const state = new URL(url).searchParams.get('state') ?? ''
  return { 'set-cookie': cookie.set(publicUrl, browserKey(state), SIGN_IN_TIMEOUT_MS) }
}

const browserKey = (state: string) => secretHash(state).toString('base64url')

/** OAuth callback routes, one for each provider with sign-in. */
export function callbackRoutes(deps: SignInDeps): Route[] {
  return deps.connectors.filter(needsSignIn).map((connector) =>
    redirectRoute({
      id: `finishConnectionTo${pascalCase(connector.type)}`,
      method: 'GET',
      path: `/v1/integrations/${connector.type}/callback`,
      tag: 'Integrations',
      summary: `Complete the OAuth sign-in to ${connector.title} and redirect to the integration page`,
      description: 'The URL fragment is `#connected` or `#connect-error=<sentence>`.',
      status: 303,
      redirect: (request) => comeBack(deps, connector, request),
    }),
  )
}

/**
 * Redirects to the integration's page with the result. The redirect prevents the URL that contains the code from
 * becoming a referrer.
 */
async function comeBack(deps: SignInDeps, connector: Connector, request: Request): Promise<Response> {
  const { publicUrl } = deps
  const back = (path: string, fragment: string) =>
    redirect(303, `${publicUrl}${path}#${fragment}`, cookie.set(publicUrl, '', 0))
  try {
    const { id } = await finish(deps, connector, request)
    return back(pagePath.integration(id), 'connected')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return back(PAGE_PATHS.integrations.list, `connect-error=${encodeURIComponent(error.message)}`)
  }
}

async function finish(deps: SignInDeps, connector: Connector, request: Request): Promise<IntegrationKey> {
  const { db, clock, publicUrl } = deps
  const { searchParams } = new URL(request.url)
  const { codeVerifier, userId, ...key } = openSignInState(deps, request, searchParams.get('state') ?? '')
  if (!mayConfigure(db, key.orgId, userId))
    throw new AppError(
      'forbidden',
      'the user who started this sign-in no longer has permission to configure integrations',
    )
  const code = searchParams.get('code')
  if (!code)
    throw new AppError('upstream', `the sign-in to ${connector.title} failed (${errorCode(searchParams.get('error'))})`)
  const context = new LiveInboundContext(deps, connector, key, request.signal)
  try {
    const redirectUri = callbackUrl(publicUrl, connector.type)
    await context.renew(() => signInOf(connector).exchange(context, { code, redirectUri, codeVerifier }))
  } catch (error) {
    throw context.refusal(error)
  }
  const kept = openIntegration(db, deps.box, key)
  if (!kept || Object.keys(kept.tokens).length === 0) {
    throw new AppError('conflict', 'the integration was reconfigured in the meantime; sign in again')
  }
  const isComplete = connector.configuration.isComplete(kept.settings, kept.state)
  setIntegrationStatus(db, key.id, isComplete ? 'connected' : 'incomplete')
  const { address } = originOf(request)
  writeAuditEntry(db, clock, { orgId: key.orgId, act: 'integrationConnected', userId, address, target: key.id })
  return key
}

const errorCode = (error: string | null) => (error && /^[\w.-]{1,60}$/.test(error) ? error : 'no reason given')

/**
 * Decrypts the state of a sign-in. Fails with `invalid` unless this browser started the sign-in within the last 10
 * minutes.
 */
function openSignInState({ box, clock }: { box: SecretBox; clock: Clock }, request: Request, state: string) {
  const other = new AppError(
    'invalid',
    'the sign-in was started in another browser or more than 10 minutes ago; connect again',
  )
  if (cookie.read(request) !== browserKey(state)) throw other
  try {
    const { until, ...begun } = parseSignInState(JSON.parse(box.open(Buffer.from(state, 'base64url'))))
    if (clock.now() < until) return begun
  } catch {
    // The state was not sealed with this data folder's key.
  }
  throw other
}

function mayConfigure(db: Db, orgId: string, userId: string): boolean {
  const find = db.prepare<[string, string], { role: Role }>('SELECT role FROM member WHERE orgId = ? AND userId = ?')
  const member = find.get(orgId, userId)
  return member !== undefined && atLeast(member.role, 'admin')
}
