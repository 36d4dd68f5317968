import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
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
import { type Clock, HOUR_MS, type Instant, SECOND_MS, systemClock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import { type CompanyUser, type GroupRole, userOf } from './oidc-user.ts'

/** The company's own sign-in, as the operator describes it. */
export interface OidcSettings {
  /** As the provider spells it. Plain http is for the loopback address alone. */
  issuer: string
  clientId: string
  /** Empty: a public client, known by its redirect address and PKCE alone. */
  clientSecret: string
  /** What people call it. */
  name: string
  groupsClaim: string
  roles: readonly GroupRole[]
  /** Null: the only organization there is. */
  orgId: string | null
}

/** What ties a browser to the sign-in it began: kept by it and nobody else, and sealed. */
export interface Checks {
  state: string
  nonce: string
  verifier: string
}

/** An OpenID Connect provider, asked by the authorization code flow with PKCE, state and nonce. */
export interface Provider {
  /** Where to send the browser. Fails with `upstream` when the provider does not answer as one. */
  begin(redirectUri: string): Promise<{ url: URL; checks: Checks }>
  /**
   * Whom the provider sent back to `url`: state, signature, issuer, audience, times and nonce are right. Fails with
   * `forbidden` when the provider refuses, else `upstream`; the message is a sentence for the person.
   */
  finish(url: URL, checks: Checks): Promise<CompanyUser>
}

export interface ProviderParts {
  clock: Clock
  /** Told what an operator should know; never a secret. */
  warn(message: string): void
  /** `http://[user:password@]host:port`; empty or absent: none. */
  proxy?: string
  /** Certificates, PEM, of the authorities that are trusted; absent: those that every system trusts. */
  authorities?: readonly string[]
  /** For each request; default 10. A sign-in makes four at most after the browser came back. */
  timeoutS?: number
}

const TIMEOUT_S = 10
/** Discovery documents, key sets and tokens have some kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** A provider that could not be asked at all, or not to the end. */
class Unreachable extends Error {}

/**
 * Times in tokens are held against `clock`, with 30 s of tolerance. What discovery tells is remembered for an hour, its
 * failures are not. Signatures are checked although the token comes from the provider itself, because the way to it may
 * lead through others. Not for issuers that stand for many companies, such as Entra's `common`: of those, anybody is one.
 */
export function oidcProvider(
  settings: OidcSettings,
  { clock, warn, proxy = '', authorities, timeoutS }: ProviderParts,
): Provider {
  const { issuer, clientId, clientSecret, name, groupsClaim } = settings
  const timeout = timeoutS ?? TIMEOUT_S
  const insecure = issuer.startsWith('http:') ? [allowInsecureRequests] : []
  const ask = (url: string, options: CustomFetchOptions) => send(url, options, { proxy, authorities })
  let known: { metadata: ServerMetadata; until: Instant } | null = null

  async function metadata(): Promise<ServerMetadata> {
    if (known && clock.now() < known.until) return known.metadata
    const options = { [customFetch]: ask, timeout, execute: insecure }
    const found = (await discovery(new URL(issuer), clientId, {}, None(), options)).serverMetadata()
    if (new URL(found.issuer).href !== new URL(issuer).href) throw new Error(`it calls itself ${found.issuer}`)
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
    if (error instanceof AuthorizationResponseError) {
      return new AppError('forbidden', `${name} refused the sign-in (${codeOf(error.error)})`)
    }
    if (causes(error).some((cause) => cause instanceof Unreachable)) {
      return new AppError('upstream', `the sign-in of ${name} can not be reached; try again later`)
    }
    if (error instanceof ResponseBodyError) {
      return new AppError('upstream', `${name} did not confirm the sign-in (${codeOf(error.error)}); start again`)
    }
    return new AppError('upstream', `what the sign-in of ${name} answers can not be trusted; the server's log says why`)
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
        return userOf(claims, more, groupsClaim)
      } catch (error) {
        throw refusal(error)
      }
    },
  }
}

/** The one request that this sends: no redirect is followed, and no more than the first megabyte is read. */
async function send(
  url: string,
  options: CustomFetchOptions,
  { proxy, authorities }: { proxy: string; authorities: readonly string[] | undefined },
): Promise<Response> {
  const { method, headers, body, signal } = options
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(body instanceof URLSearchParams ? { body } : {}),
      ...(signal ? { signal } : {}),
      ...(proxy === '' ? {} : { proxy }),
      ...(authorities ? { tls: { ca: [...authorities] } } : {}),
    })
    const bytes = await readAll(response)
    const kept = ['content-type', 'www-authenticate'].flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value] as [string, string]]
    })
    return new Response(bytes.length > 0 ? bytes : null, { status: response.status, headers: kept })
  } catch (cause) {
    throw new Unreachable(`no answer from ${new URL(url).host}`, { cause })
  }
}

async function readAll(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`it sent more than ${MAX_ANSWER_BYTES} bytes`)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** Without a word of the provider's it is Basic: https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata */
function authentication(server: ServerMetadata, secret: string): ClientAuth {
  if (secret === '') return None()
  const post = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
  return post ? ClientSecretPost(secret) : ClientSecretBasic(secret)
}

/** Some providers tell groups only to those who ask for a scope of that name; others refuse scopes they don't know. */
function scopeOf(server: ServerMetadata, groupsClaim: string): string {
  const scopes = ['openid', 'email', 'profile']
  return (server.scopes_supported?.includes(groupsClaim) ? [...scopes, groupsClaim] : scopes).join(' ')
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1 allows more; what does not look like a word is not repeated. */
function codeOf(error: string): string {
  return /^[\w.-]{1,60}$/.test(error) ? error : 'without a reason'
}

const DEEPEST_CAUSE = 5

function causes(error: unknown, depth = 0): unknown[] {
  const cause = error instanceof Error ? error.cause : undefined
  return cause === undefined || depth === DEEPEST_CAUSE ? [error] : [error, ...causes(cause, depth + 1)]
}

const LOG_LENGTH_MAX = 500

/** One line for the log. */
function describe(error: unknown): string {
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
