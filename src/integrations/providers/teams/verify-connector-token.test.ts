import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { CompactEncrypt, exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose'
import { type Fixture, type Server, teamsFixture, teamsServer } from './teams.fixture.ts'
import { BOT, ISSUER } from './teams-server.fixture.ts'
import { hasDuplicateName } from './verify-connector-token.ts'

const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A forged call. */
interface Forgery {
  token: string | null
  activity?: object
  /** Value of the `Authorization` header. Default: `Bearer <token>`. */
  authorization?: string
}

type Make = (server: Server, now: number) => Forgery | Promise<Forgery>
const S = (now: number) => Math.floor(now / 1000)

/** A token that is signed with the correct key but has different claims. */
const claiming =
  (more: (now: number, server: Server) => object, activity?: (server: Server) => object): Make =>
  async (server, now) => ({
    token: await server.sign(JSON.stringify(server.claims(now, more(now, server)))),
    ...(activity ? { activity: activity(server) } : {}),
  })

/** A token that is signed with a different key and has a different header. */
const headed =
  (header: (server: Server) => object | Promise<object>, key: 'strange-key' | 'teams-key' = 'strange-key'): Make =>
  async (server, now) => ({
    token: await server.sign(JSON.stringify(server.claims(now)), { kid: 'teams-key', ...(await header(server)) }, key),
  })

/** A valid token with modified parts. */
const torn =
  (change: (parts: [string, string, string], server: Server, now: number) => string): Make =>
  async (server, now) => {
    const [header = '', payload = '', signature = ''] = (await server.sign(JSON.stringify(server.claims(now)))).split(
      '.',
    )
    return { token: change([header, payload, signature], server, now) }
  }

const FORGERIES: [string, 401 | 403, Make][] = [
  ['no header', 401, () => ({ token: null })],
  ['an empty token', 401, () => ({ token: '' })],
  ['a token that is not a JWT', 401, () => ({ token: 'let-me-in' })],
  ['an API key', 401, () => ({ token: 'ak_0123456789abcdef' })],
  [
    'another scheme',
    401,
    async (s, now) => ({ token: null, authorization: `Basic ${await s.sign(JSON.stringify(s.claims(now)))}` }),
  ],
  ['two tokens', 401, async (s, now) => ({ token: `${await s.sign(JSON.stringify(s.claims(now)))}, x.y.z` })],
  ['a very long token', 401, torn(([h, p, sig]) => `${h}.${p}.${sig}${'A'.repeat(20_000)}`)],
  ['alg none', 401, torn(([, p, sig]) => `${base64({ alg: 'none', kid: 'teams-key' })}.${p}.${sig}`)],
  ['alg none without a signature', 401, torn(([, p]) => `${base64({ alg: 'none', kid: 'teams-key' })}.${p}.`)],
  ['alg NoNe', 401, torn(([, p, sig]) => `${base64({ alg: 'NoNe', kid: 'teams-key' })}.${p}.${sig}`)],
  [
    'HS256 with the public key as its secret',
    401,
    async (server, now) => {
      const pem = await exportSPKI((await importJWK(server.keys['teams-key'].jwk, 'RS256')) as never)
      const signed = `${base64({ alg: 'HS256', kid: 'teams-key' })}.${base64(server.claims(now))}`
      return { token: `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}` }
    },
  ],
  [
    'HS256 with the modulus as its secret',
    401,
    (server, now) => {
      const signed = `${base64({ alg: 'HS256', kid: 'teams-key' })}.${base64(server.claims(now))}`
      return {
        token: `${signed}.${createHmac('sha256', server.keys['teams-key'].jwk.n ?? '')
          .update(signed)
          .digest('base64url')}`,
      }
    },
  ],
  [
    'ES256',
    401,
    async (server, now) => {
      const { privateKey } = await generateKeyPair('ES256')
      const jwt = new SignJWT(server.claims(now)).setProtectedHeader({ alg: 'ES256', kid: 'teams-key' })
      return { token: await jwt.sign(privateKey) }
    },
  ],
  ['PS256 with an RS256 key', 401, torn(([, p, sig]) => `${base64({ alg: 'PS256', kid: 'teams-key' })}.${p}.${sig}`)],
  ['a missing alg', 401, torn(([, p, sig]) => `${base64({ kid: 'teams-key' })}.${p}.${sig}`)],
  ['alg as a list', 401, torn(([, p, sig]) => `${base64({ alg: ['RS256'], kid: 'teams-key' })}.${p}.${sig}`)],
  [
    'RS512 with an RS256 signature',
    401,
    torn(([, p, sig]) => `${base64({ alg: 'RS512', kid: 'teams-key' })}.${p}.${sig}`),
  ],
  ['another key under a known kid', 401, headed(() => ({}))],
  ['jwk: its own key in the header', 401, headed((s) => ({ jwk: s.keys['strange-key'].jwk }))],
  ['jku: another key list', 401, headed((s) => ({ jku: `${s.url}/jku` }))],
  ['x5u: another certificate', 401, headed((s) => ({ x5u: `${s.url}/x5u` }))],
  ['x5c: another certificate', 401, headed(() => ({ x5c: ['MIIB'] }))],
  ['jku with a valid signature', 401, headed((s) => ({ jku: `${s.url}/jku` }), 'teams-key')],
  ['a missing kid', 401, headed(() => ({ kid: undefined }))],
  ['a missing kid with a valid signature', 401, headed(() => ({ kid: undefined }), 'teams-key')],
  ['an unknown kid', 401, headed(() => ({ kid: 'strange-key' }))],
  ['a kid that is a path', 401, headed(() => ({ kid: '../../../dev/null' }))],
  ['a kid that is a URL', 401, headed((s) => ({ kid: `${s.url}/kid` }))],
  ['a kid that is an inherited property name', 401, headed(() => ({ kid: '__proto__' }))],
  ['a kid that is a number', 401, torn(([, p, sig]) => `${base64({ alg: 'RS256', kid: 0 })}.${p}.${sig}`)],
  ['the kid of another key in the list', 401, headed(() => ({ kid: 'webchat-key' }), 'teams-key')],
  [
    'an unknown critical header',
    401,
    torn(([, p, sig]) => `${base64({ alg: 'RS256', kid: 'teams-key', crit: ['x'], x: 1 })}.${p}.${sig}`),
  ],
  [
    'a payload that is not encoded (b64)',
    401,
    torn(([, p, sig]) => `${base64({ alg: 'RS256', kid: 'teams-key', b64: false, crit: ['b64'] })}.${p}.${sig}`),
  ],
  ['a detached payload', 401, torn(([h, , sig]) => `${h}..${sig}`)],
  ['no signature', 401, torn(([h, p]) => `${h}.${p}.`)],
  ['a changed signature', 401, torn(([h, p, sig]) => `${h}.${p}.${sig.startsWith('A') ? 'B' : 'A'}${sig.slice(1)}`)],
  ['a truncated signature', 401, torn(([h, p, sig]) => `${h}.${p}.${sig.slice(0, -4)}`)],
  [
    'claims that do not match the signature',
    401,
    torn(([h, , sig], s, now) => `${h}.${base64(s.claims(now, { exp: S(now) + 7200 }))}.${sig}`),
  ],
  ['claims that are a list', 401, async (s) => ({ token: await s.sign('[]') })],
  ['claims that are not JSON', 401, async (s) => ({ token: await s.sign('{') })],
  [
    'claims that are not UTF-8',
    401,
    torn(([h, , sig]) => `${h}.${Buffer.from([123, 34, 255, 34, 58, 49, 125]).toString('base64url')}.${sig}`),
  ],
  [
    'aud twice',
    401,
    async (s, now) => ({ token: await s.sign(JSON.stringify(s.claims(now)).replace('{', '{"aud":"other",')) }),
  ],
  [
    'aud twice, once escaped',
    401,
    async (s, now) => ({
      token: await s.sign(JSON.stringify(s.claims(now)).replace('{', String.raw`{"\u0061ud":"other",`)),
    }),
  ],
  [
    'kid twice',
    401,
    torn(([, p, sig]) => `${base64('{"alg":"RS256","kid":"strange-key","kid":"teams-key"}')}.${p}.${sig}`),
  ],
  [
    'an encrypted token',
    401,
    async (server, now) => {
      const key = await importJWK({ ...server.keys['teams-key'].jwk, use: 'enc' }, 'RSA-OAEP')
      const jwe = new CompactEncrypt(Buffer.from(JSON.stringify(server.claims(now))))
      return { token: await jwe.setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM', kid: 'teams-key' }).encrypt(key) }
    },
  ],
  ['another issuer', 403, claiming(() => ({ iss: 'https://sts.windows.net/d6d49420-f39b-4df7-a1dc-d59a935871db/' }))],
  ['an issuer with the same prefix', 403, claiming(() => ({ iss: `${ISSUER}.evil.example` }))],
  ['an issuer with a trailing slash', 403, claiming(() => ({ iss: `${ISSUER}/` }))],
  ['a list of issuers', 403, claiming(() => ({ iss: [ISSUER] }))],
  ['no issuer', 403, claiming(() => ({ iss: undefined }))],
  ['another app', 403, claiming(() => ({ aud: '00000000-2222-4333-8444-555555555555' }))],
  ['a list of apps that includes this app', 403, claiming(() => ({ aud: [BOT.appId, 'other'] }))],
  ['a list that contains only this app', 403, claiming(() => ({ aud: [BOT.appId] }))],
  ['the app id in upper case', 403, claiming(() => ({ aud: BOT.appId.toUpperCase() }))],
  ['no audience', 403, claiming(() => ({ aud: undefined }))],
  ['an expiry beyond the permitted clock skew', 403, claiming((now) => ({ exp: S(now) - 300 }))],
  ['an expiry a day ago', 403, claiming((now) => ({ exp: S(now) - 86_400, nbf: S(now) - 90_000 }))],
  ['no expiry', 403, claiming(() => ({ exp: undefined }))],
  ['an expiry that is a string', 403, claiming((now) => ({ exp: String(S(now) + 3600) }))],
  ['an expiry in milliseconds', 403, claiming((now) => ({ exp: now + 3_600_000 }))],
  [
    'a huge expiry',
    403,
    async (s, now) => ({ token: await s.sign(JSON.stringify(s.claims(now)).replace(/"exp":\d+/, '"exp":1e999')) }),
  ],
  ['a fractional expiry', 403, claiming((now) => ({ exp: S(now) + 3600.5 }))],
  ['a negative expiry', 403, claiming(() => ({ exp: -1 }))],
  ['a start time beyond the permitted clock skew', 403, claiming((now) => ({ nbf: S(now) + 301 }))],
  ['nbf as a string', 403, claiming((now) => ({ nbf: String(S(now)) }))],
  ['an issue time in the future', 403, claiming((now) => ({ iat: S(now) + 301 }))],
  ['iat as a list', 403, claiming((now) => ({ iat: [S(now)] }))],
  ['another service URL in the token', 403, claiming(() => ({ serviceurl: 'https://evil.example/' }))],
  [
    'another service URL in the body',
    403,
    claiming(
      () => ({}),
      (s) => s.added({ serviceUrl: 'https://evil.example/' }),
    ),
  ],
  [
    'a service URL with the same prefix',
    403,
    claiming(
      () => ({}),
      (s) => s.added({ serviceUrl: `${s.serviceUrl}../evil` }),
    ),
  ],
  [
    'a service URL in different case',
    403,
    claiming(
      () => ({}),
      (s) => s.added({ serviceUrl: s.serviceUrl.toUpperCase() }),
    ),
  ],
  ['no service URL in the token', 403, claiming(() => ({ serviceurl: undefined }))],
  [
    'no service URL in token and body',
    403,
    claiming(
      () => ({ serviceurl: undefined }),
      (s) => s.added({ serviceUrl: undefined }),
    ),
  ],
  [
    'an empty service URL in token and body',
    403,
    claiming(
      () => ({ serviceurl: '' }),
      (s) => s.added({ serviceUrl: '' }),
    ),
  ],
  ['a list of service URLs', 403, claiming((_now, s) => ({ serviceurl: [s.serviceUrl] }))],
  [
    'two spellings of the service URL claim with different values',
    403,
    claiming((_now, s) => ({ serviceUrl: s.serviceUrl, serviceurl: 'https://evil.example/' })),
  ],
  [
    'another channel in the body',
    403,
    claiming(
      () => ({}),
      (s) => s.added({ channelId: 'webchat' }),
    ),
  ],
  [
    'the emulator',
    403,
    claiming(
      () => ({}),
      (s) => s.added({ channelId: 'emulator' }),
    ),
  ],
  [
    'no channel in the body',
    403,
    claiming(
      () => ({}),
      (s) => s.added({ channelId: undefined }),
    ),
  ],
  [
    'a list of channels',
    403,
    claiming(
      () => ({}),
      (s) => s.added({ channelId: ['msteams'] }),
    ),
  ],
  [
    'a key that is endorsed for another channel',
    403,
    async (s, now) => ({ token: await s.sign(JSON.stringify(s.claims(now)), {}, 'webchat-key') }),
  ],
  [
    'a key for another channel in an activity of that channel',
    403,
    async (s, now) => ({
      token: await s.sign(JSON.stringify(s.claims(now)), {}, 'webchat-key'),
      activity: s.added({ channelId: 'webchat' }),
    }),
  ],
  [
    'a key without endorsements',
    403,
    async (s, now) => ({ token: await s.sign(JSON.stringify(s.claims(now)), {}, 'bare-key') }),
  ],
]

describe('a forged or stale token', () => {
  let server: Server
  let fixture: Fixture
  let before: Buffer
  let asked: number
  beforeAll(async () => {
    server = await teamsServer()
    fixture = teamsFixture(server)
    await fixture.make()
    expect((await fixture.sendActivity(server, server.added())).body).toEqual({ handled: true })
    before = fixture.db.serialize()
    asked = server.requests.length
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test.each(FORGERIES)('with %s is rejected without side effects', async (_name, status, make) => {
    const { token, activity, authorization } = await make(server, fixture.clock.now())
    const moved = activity ?? server.added({ channelData: { team: { id: '19:evil@thread.tacv2' } } })
    const answer = authorization
      ? await fixture.call('POST', '/v1/integrations/office_chat/messages', { body: moved, headers: { authorization } })
      : await fixture.sendActivity(server, moved, token)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining('the connector token ')])
    if (token) for (const part of token.split('.')) if (part.length > 8) expect(answer.body.error).not.toContain(part)
    expect(server.asked(asked)).toEqual([])
    expect(fixture.db.serialize().equals(before)).toBe(true)
    expect(fixture.reported).toEqual([])
  })

  test('is tested in more than 40 variants', () => expect(FORGERIES.length).toBeGreaterThan(40))
})

describe('a valid token', () => {
  const good: [string, (now: number, server: Server) => object][] = [
    ['in the usual form', () => ({})],
    [
      'with the service URL claim in the other spelling',
      (_now, s) => ({ serviceurl: undefined, serviceUrl: s.serviceUrl }),
    ],
    ['with both spellings of the service URL claim and the same value', (_now, s) => ({ serviceUrl: s.serviceUrl })],
    ['just within the permitted clock skew', (now) => ({ exp: S(now) - 299, nbf: S(now) + 300, iat: S(now) + 300 })],
    ['without nbf', () => ({ nbf: undefined })],
    ['with unknown claims', () => ({ ver: '1.0', tid: 'x', nested: { aud: 'other', a: [{ aud: 1 }] } })],
  ]
  test.each(good)('%s is accepted', async (_name, more) => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    await fixture.make()
    const token = await server.sign(
      JSON.stringify(server.claims(fixture.clock.now(), more(fixture.clock.now(), server))),
    )
    expect((await fixture.sendActivity(server, server.added(), token)).body).toEqual({ handled: true })
  })

  test.each(['RS256', 'RS384', 'RS512'])('signed with %s is accepted', async (alg) => {
    await using server = await teamsServer()
    const fixture = teamsFixture(server)
    await fixture.make()
    const { jwk } = server.keys['teams-key']
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    server.cloud.keys = [{ ...(await exportJWK(publicKey)), kid: jwk.kid, endorsements: ['msteams'] }]
    const token = await new SignJWT(server.claims(fixture.clock.now()))
      .setProtectedHeader({ alg, kid: String(jwk.kid) })
      .sign(privateKey)
    expect((await fixture.sendActivity(server, server.added(), token)).body).toEqual({ handled: true })
  })
})

test('a duplicate name is detected in any object', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue(), { minKeys: 1 }), (object) => {
      const text = JSON.stringify(object)
      const [name] = Object.keys(object)
      expect(hasDuplicateName(text)).toBe(false)
      expect(hasDuplicateName(`${text.slice(0, -1)},${JSON.stringify(name)}: 1}`)).toBe(true)
    }),
  )
})
