import { expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { client } from '../../test/fixtures.ts'
import { secretBox } from '../core/secret-box.ts'
import { authRoutes } from './auth-routes.ts'
import { CLIENT_ID } from './oidc.fixture.ts'
import { CALLBACK, PUBLIC_URL, type SetUp, setUp, signInAs, zoe } from './oidc-flow.fixture.ts'
import { openSession } from './session.ts'
import { signInLimits } from './sign-in.ts'

const LOGOUT = 'https://id.example/logout'

/** Signs out with a token and returns the response. */
function signOut({ db, clock, parts }: SetUp, token: string, box = parts.box) {
  const limits = signInLimits(clock, 1000)
  const routes = authRoutes({
    ...parts,
    box,
    limits,
    queueSecurityMail: null,
    setupToken: null,
    report: () => undefined,
    oidc: () => null,
    browserOf: () => null,
  })
  return client({ db, clock }, ...routes)('POST', '/v1/auth/logout', { as: token })
}

const storedUrls = ({ db }: SetUp) => db.prepare('SELECT endSessionUrl FROM session').pluck().all() as (Buffer | null)[]

test('a sign-out redirects to the provider, with the ID token and the callback', async () => {
  await using all = await setUp()
  all.behaviour.metadata = { end_session_endpoint: `${LOGOUT}?tenant=1` }
  const { token } = await signInAs(all, zoe)
  const [sealed] = storedUrls(all)
  expect(sealed?.length).toBeGreaterThan(100)
  expect(sealed?.includes('id.example')).toBe(false)
  const { status, body } = await signOut(all, token)
  expect([status, body.ok]).toEqual([200, true])
  const url = new URL(body.endSessionUrl)
  expect(url.origin + url.pathname).toBe(LOGOUT)
  const { id_token_hint = '', ...rest } = Object.fromEntries(url.searchParams)
  expect(rest).toEqual({ tenant: '1', client_id: CLIENT_ID, post_logout_redirect_uri: PUBLIC_URL + CALLBACK })
  expect(decodeJwt(id_token_hint)).toMatchObject({ sub: zoe.sub, aud: CLIENT_ID })
  expect(storedUrls(all)).toEqual([])
  expect((await signOut(all, token)).status).toBe(401)
})

test.each<[string, unknown]>([
  ['none', undefined],
  ['a script', 'javascript:alert(1)'],
  ['another protocol', 'ftp://id.example/'],
  ['not an address', 'logout'],
  ['an empty string', ''],
  ['a number', 7],
  ['an object', { toString: 1 }],
])('a sign-out ends only its own session when the provider offers %s', async (_, endpoint) => {
  await using all = await setUp()
  all.behaviour.metadata = { end_session_endpoint: endpoint }
  const { token } = await signInAs(all, zoe)
  expect(await signOut(all, token)).toMatchObject({ status: 200, body: { ok: true, endSessionUrl: null } })
})

test('a sign-out omits an ID token that is too long for a URL', async () => {
  await using all = await setUp()
  all.behaviour.metadata = { end_session_endpoint: LOGOUT }
  const groups = ['staff', ...Array.from({ length: 200 }, (_, index) => `${index}`.padStart(36, '0'))]
  const { token } = await signInAs(all, { ...zoe, groups })
  const { searchParams } = new URL((await signOut(all, token)).body.endSessionUrl)
  expect([...searchParams.keys()].sort()).toEqual(['client_id', 'post_logout_redirect_uri'])
})

test('a sign-out from a password session ends only that session', async () => {
  await using all = await setUp()
  all.behaviour.metadata = { end_session_endpoint: LOGOUT }
  const { user } = await signInAs(all, zoe)
  const { token } = openSession(all.db, all.clock, user.id, 'password')
  expect((await signOut(all, token)).body).toEqual({ ok: true, endSessionUrl: null })
  expect(storedUrls(all)).toHaveLength(1)
})

test("a sign-out works even if the stored URL can't be decrypted", async () => {
  await using all = await setUp()
  all.behaviour.metadata = { end_session_endpoint: LOGOUT }
  const { token } = await signInAs(all, zoe)
  const answer = await signOut(all, token, secretBox(Buffer.alloc(32, 9)))
  expect([answer.status, answer.body]).toEqual([200, { ok: true, endSessionUrl: null }])
})
