import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  clockSkew,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from 'openid-client'
import type { OidcSettings } from '../config.ts'
import { type Clock, HOUR_MS, type Instant, SECOND_MS, systemClock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import { groupsFromGraph, type ProviderRequest, UnknownGroups } from './oidc-groups.ts'
import { type CompanyUser, userOf } from './oidc-user.ts'

/**
 * State, nonce and PKCE verifier, which bind a sign-in to the browser that started it. Stored encrypted in a cookie.
 */
export interface Checks {
  state: string
  nonce: string
  verifier: string
}

interface FinishedSignIn {
  user: CompanyUser
  /**
   * URL at which the browser signs out from the provider, which then redirects to the callback without parameters.
   * Contains the ID token unless the token is too long for a URL. Null when the provider has no sign-out URL.
   */
  endSessionUrl: string | null
}

/** A client of an OpenID Connect provider: authorization code flow with PKCE, state and nonce. */
export interface Provider {
  /** Returns the URL to which the browser is redirected. Throws `upstream` when the provider's response is invalid. */
  begin(redirectUri: string): Promise<{ url: URL; checks: Checks }>
  /**
   * Returns the user after the provider has redirected the browser to `url`. Checks the state, signature, issuer,
   * audience, times and nonce. When the token omits the groups, requests them from Microsoft Graph. Throws `forbidden`
   * when the provider denies access or the groups remain unknown, otherwise `upstream`. The message is a sentence for
   * the user.
   */
  finish(url: URL, checks: Checks): Promise<FinishedSignIn>
}

export interface ProviderDeps {
  clock: Clock
  /** Called with warnings for the operator, which never contain secrets. */
  warn(message: string): void
  /** Sends a request like `fetch`, but does not follow redirects, and limits the size of the response. */
  request: ProviderRequest
  /**
   * Timeout for each request in seconds; default 10. A sign-in makes at most four requests after the redirect to the
   * callback.
   */
  timeoutS?: number
}

const TIMEOUT_S = 10
/** Thrown when the provider could not be reached or its response was cut off. */
class Unreachable extends Error {}

/**
 * Creates a provider. Times in tokens are compared with `clock`, with a tolerance of 30 s. Successful discovery is
 * cached for one hour. Although the token comes directly from the provider, its signature is verified, because a proxy
 * may be in between. Not for multi-tenant issuers such as Entra's `common`, which accept users of any company.
 */
export function oidcProvider(settings: OidcSettings, { clock, warn, request, timeoutS }: ProviderDeps): Provider {
  const { issuer, clientId, clientSecret, name, groupsClaim, roles } = settings
  const timeout = timeoutS ?? TIMEOUT_S
  const insecure = issuer.startsWith('http:') ? [allowInsecureRequests] : []
  const ask = (url: string, options: CustomFetchOptions) => send(url, options, request)
  let known: { metadata: ServerMetadata; until: Instant } | null = null

  async function metadata(): Promise<ServerMetadata> {
    if (known && clock.now() < known.until) return known.metadata
    const options = { [customFetch]: ask, timeout, execute: insecure }
    const found = (await discovery(new URL(issuer), clientId, {}, None(), options)).serverMetadata()
    if (new URL(found.issuer).href !== new URL(issuer).href)
      throw new Error(`its metadata names the issuer ${found.issuer}`)
    known = { metadata: found, until: clock.now() + HOUR_MS }
    return found
  }

  async function configuration(): Promise<Configuration> {
    const server = await metadata()
    const skewS = Math.round((clock.now() - systemClock.now()) / SECOND_MS)
    const config = new Configuration(server, clientId, { [clockSkew]: skewS }, authentication(server, clientSecret))
    config[customFetch] = ask
    config.timeout = timeout
    for (const extension of [enableNonRepudiationChecks, ...insecure]) extension(config)
    return config
  }

  function refusal(error: unknown): AppError {
    warn(`sign-in with ${name} failed: ${describe(error)}`)
    if (error instanceof AuthorizationResponseError) return new AppError('forbidden', refusedBy(name, error.error))
    if (error instanceof UnknownGroups) return new AppError('forbidden', error.message)
    if (causes(error).some((cause) => cause instanceof Unreachable)) {
      return new AppError('upstream', `the sign-in server of ${name} cannot be reached; try again later`)
    }
    if (error instanceof ResponseBodyError) {
      return new AppError('upstream', `${name} did not confirm the sign-in (${codeOf(error.error)}); start again`)
    }
    return new AppError(
      'upstream',
      `the response of ${name} to the sign-in cannot be trusted; see the server log for the reason`,
    )
  }

  return {
    async begin(redirectUri) {
      const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
      try {
        const config = await configuration()
        const url = buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: scopeOf(config.serverMetadata(), groupsClaim),
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
        })
        return { url, checks }
      } catch (error) {
        throw refusal(error)
      }
    },

    async finish(url, { state, nonce, verifier }) {
      try {
        const config = await configuration()
        const tokens = await authorizationCodeGrant(config, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims) throw new Error('it sent no ID token')
        const enough = claims.email !== undefined && claims[groupsClaim] !== undefined
        const more =
          enough || config.serverMetadata().userinfo_endpoint === undefined
            ? {}
            : await fetchUserInfo(config, tokens.access_token, claims.sub)
        const user = userOf(claims, more, groupsClaim)
        const overage = { name, groupsClaim, roles, request, timeoutS: timeout }
        const groups = user.groups ?? (await groupsFromGraph(overage, [claims, more], tokens.access_token))
        return { user: { ...user, groups }, endSessionUrl: endSessionUrl(config, url, tokens.id_token) }
      } catch (error) {
        throw refusal(error)
      }
    },
  }
}

/** Sends a request, and keeps only the response headers that the client reads. */
async function send(url: string, options: CustomFetchOptions, request: ProviderRequest): Promise<Response> {
  const { method, headers, body, signal } = options
  try {
    const response = await request(url, { method, headers, body, ...(signal ? { signal } : {}) })
    const kept = ['content-type', 'www-authenticate'].flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value] as [string, string]]
    })
    // The body is read here so that an interrupted response is treated as a failed request.
    const bytes = await response.arrayBuffer()
    return new Response(bytes.byteLength > 0 ? bytes : null, { status: response.status, headers: kept })
  } catch (cause) {
    throw new Unreachable(`no response from ${new URL(url).host}`, { cause })
  }
}

/** Maximum length of the ID token in a URL. Many servers reject URLs longer than 8 kB. */
const HINT_LENGTH_MAX = 4096

/**
 * Returns the URL at which the browser signs out from the provider:
 * https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RPLogout
 */
function endSessionUrl(config: Configuration, callback: URL, idToken: string | undefined): string | null {
  const { issuer, end_session_endpoint: endpoint } = config.serverMetadata()
  const protocol = typeof endpoint === 'string' ? URL.parse(endpoint)?.protocol : null
  if (protocol !== 'https:' && (protocol !== 'http:' || !issuer.startsWith('http:'))) return null
  const hint = idToken !== undefined && idToken.length <= HINT_LENGTH_MAX ? { id_token_hint: idToken } : {}
  return buildEndSessionUrl(config, { post_logout_redirect_uri: callback.origin + callback.pathname, ...hint }).href
}

/**
 * Returns the client authentication. The default is Basic:
 * https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata
 */
function authentication(server: ServerMetadata, secret: string): ClientAuth {
  if (secret === '') return None()
  const post = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
  return post ? ClientSecretPost(secret) : ClientSecretBasic(secret)
}

/** Returns the scopes. Some providers send groups only with a scope of that name; others reject unknown scopes. */
function scopeOf(server: ServerMetadata, groupsClaim: string): string {
  const scopes = ['openid', 'email', 'profile']
  return (server.scopes_supported?.includes(groupsClaim) ? [...scopes, groupsClaim] : scopes).join(' ')
}

/**
 * Messages for a provider's error codes, https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1 and
 * https://openid.net/specs/openid-connect-core-1_0.html#AuthError. `%` is replaced by the provider's name.
 */
const REFUSALS: Readonly<Record<string, string>> = {
  access_denied: 'the sign-in was cancelled, or % does not allow you to use this application',
  login_required: '% requires you to sign in there first; start again',
  interaction_required: '% requires your input there; start again',
  account_selection_required: '% requires you to choose an account there; start again',
  consent_required: '% requires your consent or that of your administrator; start again',
  temporarily_unavailable: '% is temporarily unavailable; try again later',
  server_error: '% failed with an internal error; try again later',
}

/** Error codes for a configuration error on this server or at the provider. */
const MISCONFIGURED = ['invalid_request', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope']

/**
 * Returns a sentence for an error code. The provider's own description is not shown, because anyone could have written
 * it.
 */
function refusedBy(name: string, code: string): string {
  if (Object.hasOwn(REFUSALS, code)) return (REFUSALS[code] ?? '').replace('%', () => name)
  if (MISCONFIGURED.includes(code)) {
    return `${name} rejects the configuration of this server (${code}); contact its operator`
  }
  return `${name} refused the sign-in (${codeOf(code)})`
}

/**
 * Returns the error code if it looks like a word, otherwise "without a reason", because
 * https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1 allows other values as well.
 */
function codeOf(error: string): string {
  return /^[\w.-]{1,60}$/.test(error) ? error : 'without a reason'
}

const DEEPEST_CAUSE = 5

function causes(error: unknown, depth = 0): unknown[] {
  const cause = error instanceof Error ? error.cause : undefined
  return cause === undefined || depth === DEEPEST_CAUSE ? [error] : [error, ...causes(cause, depth + 1)]
}

const LOG_LENGTH_MAX = 500

/** Returns the causes of an error as one line for the log. */
function describe(error: unknown): string {
  if (error instanceof UnknownGroups) return error.detail
  const words = causes(error)
    .filter((cause) => cause instanceof Error)
    .map(messageOf)
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    words.push(error.error, error.error_description ?? '')
  }
  const line = words.filter((word) => word !== '').join(': ')
  return line
    .toWellFormed()
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .slice(0, LOG_LENGTH_MAX)
}
