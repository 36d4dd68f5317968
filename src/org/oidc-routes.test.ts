import { describe, expect, test } from 'bun:test'
import { testBox } from '../../test/fixtures.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { secretBox } from '../core/secret-box.ts'
import { CLIENT_ID, CLIENT_SECRET } from './oidc.fixture.ts'
import {
  ADDRESS,
  CALLBACK,
  countOf,
  outcomeOf,
  PUBLIC_URL,
  refusalOf,
  type SetUp,
  START,
  setUp,
  signInAs,
  walk,
  zoe,
} from './oidc-flow.fixture.ts'

describe('the redirect to the provider', () => {
  test('uses PKCE, state and nonce, and sets an encrypted cookie', async () => {
    await using all = await setUp()
    const response = await all.get(START)
    expect(response.status).toBe(302)
    const { origin, pathname, searchParams } = new URL(response.headers.get('location') ?? '')
    expect(origin + pathname).toBe(`${all.provider.issuer}/authorize`)
    const { state = '', nonce = '', code_challenge = '', ...rest } = Object.fromEntries(searchParams)
    expect(rest).toEqual({
      client_id: CLIENT_ID,
      redirect_uri: `${PUBLIC_URL}${CALLBACK}`,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    })
    for (const value of [state, nonce, code_challenge]) expect(value).toMatch(/^[\w-]{43}$/)
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(
      /^tagwarden_oidc=[\w-]+; Path=\/v1\/auth\/oidc; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    )
    const sealed = Buffer.from(/=([\w-]+);/.exec(cookie)?.[1] ?? '', 'base64url')
    expect(JSON.parse(testBox.open(sealed))).toMatchObject({ state, nonce })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const another = new URL((await all.get(START)).headers.get('location') ?? '').searchParams
    expect([another.get('state'), another.get('nonce')]).not.toContain(state)
    expect(another.get('code_challenge')).not.toBe(code_challenge)
  })

  test('requests the scope for the groups claim if the provider supports it', async () => {
    await using all = await setUp()
    all.behaviour.metadata = { scopes_supported: ['openid', 'groups'] }
    const { searchParams } = new URL((await all.get(START)).headers.get('location') ?? '')
    expect(searchParams.get('scope')).toBe('openid email profile groups')
  })

  test.each([
    ['http://127.0.0.1:8787', '/v1/auth/oidc', false],
    ['https://example.com/tags', '/tags/v1/auth/oidc', true],
  ])('sets the cookie path for the public URL %s', async (publicUrl, path, secure) => {
    await using all = await setUp({ publicUrl })
    const response = await all.get(START)
    const cookie = response.headers.get('set-cookie') ?? ''
    expect([cookie.includes(`; Path=${path};`), cookie.endsWith('; Secure')]).toEqual([true, secure])
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    expect(searchParams.get('redirect_uri')).toBe(`${publicUrl}${CALLBACK}`)
    const cleared = (await all.get(CALLBACK)).headers.get('set-cookie') ?? ''
    expect(cleared).toStartWith(`tagwarden_oidc=; Path=${path}; Max-Age=0; HttpOnly; SameSite=Lax`)
  })

  test('discovery is cached for an hour, but failures are not cached', async () => {
    await using all = await setUp()
    const asked = () => all.provider.requests.filter(({ path }) => path.startsWith('/.well-known/')).length
    all.behaviour.instead = () => new Response('down', { status: 503 })
    expect((await all.get(START)).status).toBe(502)
    all.behaviour.instead = () => null
    await signInAs(all, zoe)
    await signInAs(all, zoe)
    expect(asked()).toBe(2)
    all.clock.advance(HOUR_MS - 1)
    await all.get(START)
    expect(asked()).toBe(2)
    all.clock.advance(1)
    await all.get(START)
    expect(asked()).toBe(3)
  })

  test.each<[string, string, string]>([
    ['client_secret_post', CLIENT_SECRET, 'client_secret'],
    ['client_secret_basic', CLIENT_SECRET, 'authorization'],
    ['none', '', 'client_id'],
  ])('the client authenticates with %s', async (method, secret, where) => {
    await using all = await setUp({ secret })
    all.behaviour.metadata = { token_endpoint_auth_methods_supported: [method] }
    await signInAs(all, zoe)
    const asked = all.provider.requests.find(({ path }) => path === '/token')
    const ways = [...(asked?.form.keys() ?? []), ...(asked?.headers.keys() ?? [])]
    expect(['client_secret', 'authorization', 'client_id'].filter((way) => ways.includes(way))).toContain(where)
    expect(ways.includes('client_secret') && ways.includes('authorization')).toBe(false)
  })

  test('a rejected client secret is logged with the reason, but not reported as a bug', async () => {
    await using all = await setUp({ settings: { clientSecret: 'wrong-secret' } })
    expect(await refusalOf(all)).toBe('Acme ID did not confirm the sign-in (invalid_client); start again')
    expect(all.warnings.join()).toContain('invalid_client')
    expect(all.warnings.join()).not.toContain('wrong-secret')
  })
})

describe('the callback', () => {
  const STRANGE = 'this sign-in was started in another browser or more than 10 minutes ago; start again'

  /** Returns the URL to which the provider redirects the browser. */
  async function backOf({ browser }: SetUp): Promise<URL> {
    return new URL(await browser.follow(await browser.follow(PUBLIC_URL + START)))
  }

  test.each<[string, (all: SetUp, back: URL) => unknown]>([
    ['another state', (_, back) => back.searchParams.set('state', 'x'.repeat(43))],
    ['no state', (_, back) => back.searchParams.delete('state')],
    ['no cookie', ({ browser }) => browser.jar.clear()],
    ['a cookie that is ten minutes old', ({ clock }) => clock.advance(10 * MINUTE_MS)],
    ['a cookie from another server', (all) => forge(all, secretBox(Buffer.alloc(32, 9)).seal(JSON.stringify(known)))],
    ['an invalid cookie', (all) => forge(all, Buffer.from('x'))],
    ['a cookie with unexpected content', (all) => forge(all, testBox.seal('{"state":"x"}'))],
    ['the cookie of another sign-in', async ({ browser }) => browser.follow(PUBLIC_URL + START)],
  ])('with %s is rejected without a request to the provider', async (_, change) => {
    await using all = await setUp()
    const back = await backOf(all)
    await change(all, back)
    expect(outcomeOf(await all.browser.follow(back.href))).toEqual({ refusal: STRANGE })
    expect(all.provider.requests.map(({ path }) => path)).not.toContain('/token')
    expect(all.browser.jar.size).toBe(0)
    expect(all.warnings).toEqual([])
  })

  const known = { state: 'x', nonce: 'x', verifier: 'x', until: Number.MAX_SAFE_INTEGER }
  const forge = ({ browser }: SetUp, sealed: Buffer) =>
    browser.jar.set('tagwarden_oidc', { value: sealed.toString('base64url'), path: '/v1/auth/oidc' })

  test.each(['', '?', '?sid=x'])('after a sign-out redirects to the start page: %j', async (search) => {
    await using all = await setUp()
    const response = await all.get(CALLBACK + search)
    expect([response.status, response.headers.get('location')]).toEqual([303, `${PUBLIC_URL}/`])
  })

  test.each(['?state=x', '?code=y', '?error=access_denied'])('with only %s is rejected', async (search) => {
    await using all = await setUp()
    const response = await all.get(CALLBACK + search)
    expect(response.status).toBe(303)
    expect(outcomeOf(response.headers.get('location') ?? '')).toEqual({ refusal: STRANGE })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  })

  test.each(['%', '%E0%A4%A', '=', ';;', 'tagwarden_oidc=', 'tagwarden_oidc=%00', 'x=1; tagwarden_oidc=a=b; y'])(
    'with the cookies %p is rejected',
    async (cookie) => {
      await using all = await setUp()
      const { headers } = await all.get(`${CALLBACK}?state=x&code=y`, { cookie })
      expect(outcomeOf(headers.get('location') ?? '')).toEqual({ refusal: STRANGE })
    },
  )

  test('with a used code is rejected, in the same browser or in another one', async () => {
    await using all = await setUp()
    const back = await backOf(all)
    const cookie = new Map(all.browser.jar)
    expect(outcomeOf(await all.browser.follow(back.href))).toHaveProperty('code')
    expect(outcomeOf(await all.browser.follow(back.href))).toEqual({ refusal: STRANGE })
    const thief = all.newBrowser()
    expect(outcomeOf(await thief.follow(back.href))).toEqual({ refusal: STRANGE })
    for (const [name, value] of cookie) thief.jar.set(name, value)
    expect(outcomeOf(await thief.follow(back.href))).toEqual({
      refusal: 'Acme ID did not confirm the sign-in (invalid_grant); start again',
    })
  })

  test('with the code of another sign-in is rejected', async () => {
    await using all = await setUp()
    const [victim, attacker] = [all.newBrowser(), all.newBrowser()]
    const mine = await backOf({ ...all, browser: attacker })
    const theirs = await backOf({ ...all, browser: victim })
    theirs.searchParams.set('code', mine.searchParams.get('code') ?? '')
    expect(outcomeOf(await victim.follow(theirs.href))).toEqual({
      refusal: 'Acme ID did not confirm the sign-in (invalid_grant); start again',
    })
  })

  test.each<[string, Record<string, string>, string]>([
    [
      'a refusal',
      { error: 'access_denied', error_description: 'Call 555' },
      'the sign-in was cancelled, or Acme ID does not allow you to use this application',
    ],
    ['a required sign-in', { error: 'login_required' }, 'Acme ID requires you to sign in there first; start again'],
    ['a required interaction', { error: 'interaction_required' }, 'Acme ID requires your input there; start again'],
    [
      'a required choice of account',
      { error: 'account_selection_required' },
      'Acme ID requires you to choose an account there; start again',
    ],
    [
      'a required consent',
      { error: 'consent_required' },
      'Acme ID requires your consent or that of your administrator; start again',
    ],
    ['an outage', { error: 'temporarily_unavailable' }, 'Acme ID is temporarily unavailable; try again later'],
    ['a server error', { error: 'server_error' }, 'Acme ID failed with an internal error; try again later'],
    ...['invalid_request', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope'].map(
      (error): [string, Record<string, string>, string] => [
        error,
        { error },
        `Acme ID rejects the configuration of this server (${error}); contact its operator`,
      ],
    ),
    ['an unknown code', { error: 'no_way' }, 'Acme ID refused the sign-in (no_way)'],
    ['the name of an inherited property', { error: 'constructor' }, 'Acme ID refused the sign-in (constructor)'],
    [
      'a custom error',
      { error: '<b>no</b>', error_description: 'a\nb' },
      'Acme ID refused the sign-in (without a reason)',
    ],
    [
      'neither a code nor an error',
      {},
      'the response of Acme ID to the sign-in cannot be trusted; see the server log for the reason',
    ],
    ['the issuer of another provider', { code: 'x', iss: 'https://evil.example' }, 'cannot be trusted'],
    ['a token in the URL', { code: 'x', id_token: 'x' }, 'cannot be trusted'],
  ])('with %s shows an error message', async (_, refusal, message) => {
    await using all = await setUp()
    all.behaviour.refusal = refusal
    const shown = await refusalOf(all)
    expect(shown).toContain(message)
    expect(shown).not.toContain('555')
    expect(all.warnings).toEqual([expect.stringMatching(/^\P{C}+$/u)])
  })

  test('with a duplicate parameter is rejected', async () => {
    await using all = await setUp()
    for (const name of ['code', 'state', 'error']) {
      const back = await backOf(all)
      for (const value of ['x', 'y']) back.searchParams.append(name, value)
      expect(outcomeOf(await all.browser.follow(back.href))).toHaveProperty('refusal')
    }
  })
})

describe('the one-time sign-in code', () => {
  const redeem = (all: SetUp, code: string) => all.call('POST', '/v1/auth/oidc/session', { body: { code } })

  async function codeOf(all: SetUp): Promise<string> {
    const outcome = await walk(all)
    return 'code' in outcome ? outcome.code : outcome.refusal
  }

  test('works once', async () => {
    await using all = await setUp()
    const code = await codeOf(all)
    expect((await redeem(all, code)).status).toBe(200)
    expect((await redeem(all, code)).status).toBe(401)
    expect(countOf(all, 'session')).toBe(1)
  })

  test('expires after a minute', async () => {
    await using all = await setUp()
    const [early, late] = [await codeOf(all), await codeOf(all)]
    all.clock.advance(MINUTE_MS - 1)
    expect((await redeem(all, early)).status).toBe(200)
    all.clock.advance(1)
    const answer = await redeem(all, late)
    expect([answer.status, answer.body.error]).toEqual([401, 'code: is unknown, used or expired; sign in again'])
  })

  test.each(['x', '', 'x'.repeat(201)])("can't be %j", async (code) => {
    await using all = await setUp()
    await codeOf(all)
    expect((await redeem(all, code)).status).toBe(code === 'x' ? 401 : 400)
  })

  test('is rejected after the membership ends', async () => {
    await using all = await setUp()
    const code = await codeOf(all)
    all.behaviour.claims = { ...zoe, groups: [] }
    await refusalOf(all)
    expect((await redeem(all, code)).status).toBe(403)
    expect(countOf(all, 'session')).toBe(0)
  })
})

test('too many attempts from one IP address are rejected at each step', async () => {
  await using all = await setUp({ perMinute: 3 })
  const outcome = await walk(all)
  expect(outcome).toHaveProperty('code')
  const body = 'code' in outcome ? { code: outcome.code } : {}
  const redeem = () => all.call('POST', '/v1/auth/oidc/session', { body, address: ADDRESS })
  expect((await redeem()).status).toBe(200)
  for (const answer of [await all.get(START), await all.get(CALLBACK), await redeem()]) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '20'])
  }
  all.clock.advance(MINUTE_MS)
  expect((await all.get(START)).status).toBe(302)
})

test('the routes do not exist without a configured provider', async () => {
  await using all = await setUp({ off: true })
  for (const path of [START, CALLBACK, `${CALLBACK}?code=x&state=y`]) {
    const answer = await all.get(path)
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: 'single sign-on is not configured on this server' },
    ])
  }
  expect((await all.call('POST', '/v1/auth/oidc/session', { body: { code: 'x' } })).status).toBe(404)
})
