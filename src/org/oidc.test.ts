import { describe, expect, test } from 'bun:test'
import { generateKeyPair, UnsecuredJWT } from 'jose'
import { testClock } from '../../test/fixtures.ts'
import { HOUR_MS, SECOND_MS } from '../core/clock.ts'
import { CLIENT_ID, CLIENT_SECRET, type ProviderBehaviour, signWith } from './oidc.fixture.ts'
import { countOf, outcomeOf, PUBLIC_URL, refusalOf, roleIn, START, setUp, signInAs, zoe } from './oidc-flow.fixture.ts'

describe('claims missing from the ID token', () => {
  test('are read from userinfo', async () => {
    await using all = await setUp()
    const { sub, ...rest } = zoe
    all.behaviour.userinfo = rest
    expect((await signInAs(all, { sub })).user).toMatchObject({ email: 'zoe@example.com', name: 'Zoe' })
  })

  test('userinfo with a different subject is ignored', async () => {
    await using all = await setUp()
    const { groups: _, ...claims } = zoe
    all.behaviour.claims = claims
    all.behaviour.userinfo = { sub: 'u-other', groups: ['board'] }
    expect(await refusalOf(all)).toContain('cannot be trusted')
  })

  test('userinfo is not requested when no claim is missing or the provider has no such endpoint', async () => {
    await using all = await setUp()
    await signInAs(all, zoe)
    expect(all.provider.requests.map(({ path }) => path)).not.toContain('/userinfo')
    await using without = await setUp()
    without.behaviour.userinfo = null
    without.behaviour.claims = { ...zoe, groups: undefined }
    expect(await refusalOf(without)).toContain('you are not in a group')
  })

  test('an e-mail address in the ID token is not verified by userinfo with a different address', async () => {
    await using all = await setUp()
    all.behaviour.claims = { sub: 'u-9', email: all.cast.bob.email }
    all.behaviour.userinfo = { email: 'mine@example.com', email_verified: true, groups: ['staff'] }
    expect(await refusalOf(all)).toContain('does not confirm that it is yours')
  })

  test.each<[string, string]>([
    ['cn', 'cn'],
    ['https://acme.example/groups', 'https://acme.example/groups'],
  ])('groups are read from the claim %s', async (groupsClaim, claim) => {
    await using all = await setUp({ settings: { groupsClaim } })
    const { user } = await signInAs(all, { ...zoe, groups: ['board'], [claim]: ['admins'] })
    expect(roleIn(all, user.id)).toBe('admin')
  })
})

describe('a failing provider', () => {
  test('that is unreachable causes a 502 at the start of sign-in and an error message in the callback', async () => {
    const all = await setUp()
    const toProvider = await all.browser.follow(PUBLIC_URL + START)
    const back = await all.browser.follow(toProvider)
    await all[Symbol.asyncDispose]()
    expect(outcomeOf(await all.browser.follow(back))).toEqual({
      refusal: 'the sign-in server of Acme ID cannot be reached; try again later',
    })
    all.clock.advance(HOUR_MS)
    const answer = await all.get(START)
    expect(answer.status).toBe(502)
    expect(await answer.json()).toEqual({ error: 'the sign-in server of Acme ID cannot be reached; try again later' })
  })

  test.each<[string, () => Response | Promise<Response>]>([
    ['that never responds', () => new Promise<Response>(() => undefined)],
    [
      'that stops in the middle of a response',
      () => new Response(new ReadableStream({ start: (it) => it.enqueue(new TextEncoder().encode('{')) })),
    ],
    [
      'that sends an endless response',
      () => new Response(new ReadableStream({ pull: (it) => it.enqueue(new Uint8Array(65_536)) })),
    ],
  ])('%s causes a 502', async (_, answer) => {
    await using all = await setUp({ timeoutS: 0.2 })
    all.behaviour.instead = answer
    const response = await all.get(START)
    expect([response.status, await response.json()]).toEqual([
      502,
      { error: 'the sign-in server of Acme ID cannot be reached; try again later' },
    ])
  })

  test.each<[string, () => Response]>([
    ['an HTML page', () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } })],
    ['no content', () => new Response(null, { status: 204 })],
    ['invalid JSON', () => new Response('{', { headers: { 'content-type': 'application/json' } })],
    ['a number', () => Response.json(7)],
    ['null', () => Response.json(null)],
    ['a list', () => Response.json([])],
    ['an empty object', () => Response.json({})],
    ['an issuer that is not a URL', () => Response.json({ issuer: 'me' })],
    ['another issuer', () => Response.json({ issuer: 'https://evil.example' })],
    ['a redirect', () => Response.redirect('https://evil.example', 302)],
    ['status 404', () => new Response('no', { status: 404 })],
  ])('a discovery response with %s causes a 502', async (_, answer) => {
    await using all = await setUp()
    all.behaviour.instead = answer
    const response = await all.get(START)
    expect(response.status).toBe(502)
    expect(all.warnings).toEqual([expect.stringMatching(/^sign-in with Acme ID failed: \P{C}+$/u)])
  })

  test.each<[string, Record<string, unknown>]>([
    ['without an authorization endpoint', { authorization_endpoint: undefined }],
    ['with a script as the authorization endpoint', { authorization_endpoint: 'javascript:alert(1)' }],
    ['with an authorization endpoint that is not a string', { authorization_endpoint: { toString: 1 } }],
  ])('a discovery document %s causes a 502', async (_, metadata) => {
    await using all = await setUp()
    all.behaviour.metadata = metadata
    expect((await all.get(START)).status).toBe(502)
  })

  test.each<[string, string, () => Response]>([
    ['/token', 'an HTML page', () => new Response('<h1>', { headers: { 'content-type': 'text/html' } })],
    ['/token', 'no ID token', () => Response.json({ access_token: 'a', token_type: 'bearer' })],
    [
      '/token',
      'a truncated ID token',
      () => Response.json({ access_token: 'a', token_type: 'bearer', id_token: 'a.b' }),
    ],
    ['/token', 'an invalid error', () => Response.json({ error: { toString: 1 } }, { status: 400 })],
    ['/token', 'an error with unsafe text', () => Response.json({ error: 'x\n<script>' }, { status: 400 })],
    ['/token', 'a redirect', () => Response.redirect('https://evil.example', 302)],
    ['/token', 'status 500', () => new Response('oops', { status: 500 })],
    ['/jwks', 'no keys', () => Response.json({ keys: [] })],
    [
      '/jwks',
      'an invalid key',
      () => Response.json({ keys: [{ kty: 'EC', kid: 'first', crv: 'P-256', x: '!', y: 7 }] }),
    ],
    ['/jwks', 'status 404', () => new Response('no', { status: 404 })],
  ])('%s responds with %s, and the user sees an error message', async (where, _, answer) => {
    await using all = await setUp()
    all.behaviour.instead = (path) => (path === where ? answer() : null)
    expect(await refusalOf(all)).toMatch(/^(?:the response of )?Acme ID [\w ';(),-]+$/)
    expect(all.warnings).toHaveLength(1)
    expect(countOf(all, 'session')).toBe(0)
  })
})

const strangers = await generateKeyPair('ES256')

describe('an ID token', () => {
  const now = Math.floor(testClock().now() / SECOND_MS)
  const otherKey = signWith(strangers.privateKey)

  test.each<[string, RegExp, Partial<ProviderBehaviour>]>([
    ['signed with another key', /signature/, { sign: otherKey }],
    ['not signed', /unsupported/, { sign: (claims) => new UnsecuredJWT(claims).encode() }],
    ['signed with our secret', /unsupported/, { sign: signWith(Buffer.from(CLIENT_SECRET.padEnd(32)), 'HS256') }],
    [
      'changed after it was signed',
      /signature/,
      {
        async sign(claims, rightly) {
          const [head, , tail] = (await rightly(claims)).split('.')
          return [head, Buffer.from(JSON.stringify({ ...claims, groups: ['board'] })).toString('base64url'), tail].join(
            '.',
          )
        },
      },
    ],
    ['with another nonce', /"nonce"/, { claims: { ...zoe, nonce: 'x'.repeat(43) } }],
    ['without a nonce', /"nonce"/, { claims: { ...zoe, nonce: undefined } }],
    ['for another client', /"aud"/, { claims: { ...zoe, aud: 'another' } }],
    [
      'for this client and others, issued to another',
      /"azp"/,
      { claims: { ...zoe, aud: [CLIENT_ID, 'another'], azp: 'another' } },
    ],
    ['of another issuer', /"iss"/, { claims: { ...zoe, iss: 'https://evil.example' } }],
    ['that has expired', /"exp".*past/, { claims: { ...zoe, exp: now - 31 } }],
    ['that is not valid yet', /"nbf"/, { claims: { ...zoe, nbf: now + 120 } }],
    ['that never expires', /"exp"/, { claims: { ...zoe, exp: undefined } }],
    ['without a subject', /"sub"/, { claims: { ...zoe, sub: undefined } }],
    ['with a long subject', /not a usable string/, { claims: { ...zoe, sub: 's'.repeat(256) } }],
  ] as [string, RegExp, Partial<ProviderBehaviour>][])('%s is rejected', async (_, reason, behaviour) => {
    await using all = await setUp()
    Object.assign(all.behaviour, behaviour)
    expect(await refusalOf(all)).toBe(
      'the response of Acme ID to the sign-in cannot be trusted; see the server log for the reason',
    )
    expect([countOf(all, 'identity'), countOf(all, 'session')]).toEqual([0, 0])
    expect(all.warnings).toEqual([expect.stringMatching(reason)])
    // The same provider then sends a correct token.
    Object.assign(all.behaviour, { claims: zoe, sign: null })
    await signInAs(all, zoe)
  })

  test('is validated against the server clock', async () => {
    await using all = await setUp()
    all.clock.advance(1000 * HOUR_MS)
    await signInAs(all, zoe)
    all.behaviour.claims = { ...zoe, exp: now + 60 }
    expect(await refusalOf(all)).toContain('cannot be trusted')
  })
})
