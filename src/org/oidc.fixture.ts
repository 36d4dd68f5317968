import { createHash } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { Clock } from '../core/clock.ts'

export const CLIENT_ID = 'tagwarden'
export const CLIENT_SECRET = 'correct horse: battery&staple'

type Sign = (claims: JWTPayload) => Promise<string>

/** The behaviour of a test provider. Tests may change it at any time. */
export interface ProviderBehaviour {
  /** Claims for the ID token of the next user, including `sub`. */
  claims: JWTPayload
  /** Userinfo claims in addition to `sub`; null when the provider has no userinfo endpoint. */
  userinfo: Record<string, unknown> | null
  /** Merged into the discovery document. */
  metadata: Record<string, unknown>
  /** Replaces the correct signing of the ID token. Null to sign correctly. */
  sign: ((claims: JWTPayload, rightly: Sign) => Promise<string> | string) | null
  /** Handles the request for a path instead of the provider. Returns null to let the provider handle it. */
  instead: (path: string) => Response | Promise<Response> | null
  /** Parameters of the redirect to the callback that replace the code. The state is always added. */
  refusal: Record<string, string> | null
}

interface Grant {
  redirectUri: string
  challenge: string
  claims: JWTPayload
}

const TOKEN_S = 300
const KEY_ID = 'first'

/**
 * Starts an OpenID Connect provider on the loopback address that consents to every sign-in and has its own keys. It
 * enforces the rules for clients: known redirect URL, PKCE, client authentication, and single-use codes. Disposing of
 * it stops the server.
 */
export async function openIdProvider({ clock, secret = CLIENT_SECRET }: { clock: Clock; secret?: string }) {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const behaviour: ProviderBehaviour = {
    claims: { sub: 'u-1' },
    userinfo: {},
    metadata: {},
    sign: null,
    instead: () => null,
    refusal: null,
  }
  const sign = signWith(privateKey)
  const requests: { path: string; query: URLSearchParams; headers: Headers; form: URLSearchParams }[] = []
  const grants = new Map<string, Grant>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request): Promise<Response> {
      const { pathname, searchParams } = new URL(request.url)
      const form = new URLSearchParams(await request.text())
      requests.push({ path: pathname, query: searchParams, headers: request.headers, form })
      const other = await behaviour.instead(pathname)
      return other ?? answer(pathname, searchParams, request.headers, form)
    },
  })
  const issuer: string = `http://127.0.0.1:${server.port}`

  async function answer(
    path: string,
    query: URLSearchParams,
    headers: Headers,
    form: URLSearchParams,
  ): Promise<Response> {
    if (path === '/.well-known/openid-configuration') return Response.json(discovery())
    if (path === '/jwks') return Response.json({ keys: [{ ...(await exportJWK(publicKey)), kid: KEY_ID, use: 'sig' }] })
    if (path === '/authorize') return authorize(query)
    if (path === '/token') return token(headers, form)
    if (path === '/userinfo') return userinfo(headers)
    return new Response('not found', { status: 404 })
  }

  const discovery = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    ...(behaviour.userinfo ? { userinfo_endpoint: `${issuer}/userinfo` } : {}),
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    // Includes unsafe algorithms, so that only the signature check can reject a token.
    id_token_signing_alg_values_supported: ['ES256', 'RS256', 'HS256', 'none'],
    code_challenge_methods_supported: ['S256'],
    ...behaviour.metadata,
  })

  function authorize(query: URLSearchParams): Response {
    const redirectUri = query.get('redirect_uri') ?? ''
    const state = query.get('state') ?? ''
    const fits =
      query.get('response_type') === 'code' &&
      query.get('client_id') === CLIENT_ID &&
      query.get('code_challenge_method') === 'S256' &&
      query.get('scope')?.split(' ').includes('openid') === true
    if (!fits) return new Response('invalid_request', { status: 400 })
    const back = new URL(redirectUri)
    if (behaviour.refusal) {
      for (const [name, value] of Object.entries({ state, ...behaviour.refusal })) back.searchParams.set(name, value)
      return new Response(null, { status: 302, headers: { location: back.href } })
    }
    const code = crypto.randomUUID()
    const challenge = query.get('code_challenge') ?? ''
    const now = Math.floor(clock.now() / 1000)
    const times = { iat: now, exp: now + TOKEN_S }
    const claims = { iss: issuer, aud: CLIENT_ID, ...times, nonce: query.get('nonce') ?? '', ...behaviour.claims }
    grants.set(code, { redirectUri, challenge, claims })
    back.searchParams.set('code', code)
    back.searchParams.set('state', state)
    return new Response(null, { status: 302, headers: { location: back.href } })
  }

  async function token(headers: Headers, form: URLSearchParams): Promise<Response> {
    if (!isClient(headers, form)) return Response.json({ error: 'invalid_client' }, { status: 401 })
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
      return Response.json({ error: 'invalid_grant', error_description: 'the code is not valid' }, { status: 400 })
    }
    const id_token = await (behaviour.sign ?? sign)(grant.claims, sign)
    return Response.json({ access_token: `at-${grant.claims.sub}`, token_type: 'Bearer', expires_in: 60, id_token })
  }

  function isClient(headers: Headers, form: URLSearchParams): boolean {
    if (secret === '') return form.get('client_id') === CLIENT_ID && !headers.has('authorization')
    const posted = form.get('client_id') === CLIENT_ID && form.get('client_secret') === secret
    const basic = `${encodeURIComponent(CLIENT_ID)}:${new URLSearchParams({ secret }).toString().slice('secret='.length)}`
    return posted || headers.get('authorization') === `Basic ${btoa(basic)}`
  }

  function userinfo(headers: Headers): Response {
    const sub = headers.get('authorization')?.match(/^Bearer at-(.+)$/)?.[1]
    if (sub === undefined) return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
    return Response.json({ sub, ...behaviour.userinfo })
  }

  return { issuer, requests, behaviour, [Symbol.asyncDispose]: () => server.stop(true) }
}

export type OpenIdProvider = Awaited<ReturnType<typeof openIdProvider>>

/** Returns a function that signs with this key, as the provider does. */
export const signWith =
  (key: CryptoKey | Uint8Array, alg = 'ES256') =>
  (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid: KEY_ID }).sign(key)

/**
 * Creates a minimal browser for a sign-in. It stores cookies by path, and follows redirects when asked to. URLs below
 * `origin` are handled by `handle`; other URLs are fetched.
 */
export function fakeBrowser(origin: string, handle: (request: Request) => Promise<Response>) {
  const jar = new Map<string, { value: string; path: string }>()

  function keep(header: string): void {
    const [pair = '', ...attributes] = header.split('; ')
    const name = pair.slice(0, pair.indexOf('='))
    const attribute = (key: string) => attributes.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1)
    if (attribute('Max-Age') === '0') jar.delete(name)
    else jar.set(name, { value: pair.slice(name.length + 1), path: attribute('Path') ?? '/' })
  }

  async function get(url: string): Promise<Response> {
    if (!url.startsWith(`${origin}/`)) return fetch(url, { redirect: 'manual' })
    const { pathname } = new URL(url)
    const cookies = [...jar].filter(([, { path }]) => pathname === path || pathname.startsWith(`${path}/`))
    const cookie = cookies.map(([name, { value }]) => `${name}=${value}`).join('; ')
    const response = await handle(new Request(url, { headers: cookie === '' ? {} : { cookie } }))
    for (const header of response.headers.getSetCookie()) keep(header)
    return response
  }

  /** Returns the target of a redirect. Throws when the response is not a redirect. */
  async function follow(url: string): Promise<string> {
    const response = await get(url)
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${url} answered ${response.status} ${await response.text()}`)
    return location
  }

  return { jar, get, follow }
}
