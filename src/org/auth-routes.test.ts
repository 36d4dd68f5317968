import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyJson, cast, client, memoryDb, type Person, sessionIdOf, testBox, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { auditor, type NewAuditEntry, writeAuditEntry } from './audit-log.ts'
import { authRoutes } from './auth-routes.ts'
import { newSetupToken } from './first-setup.ts'
import { hashPassword } from './password-hash.ts'
import { orgRoutes } from './routes.ts'
import { openSession } from './session.ts'
import { signInLimits } from './sign-in.ts'
import { addMember } from './store.ts'

const PASSWORD = 'correct horse'
const passwordHash = await hashPassword(PASSWORD)

function setUp({ people = true, perMinute = 60 } = {}) {
  const db = memoryDb()
  const clock = testClock()
  const { token: setupToken, secret } = newSetupToken()
  const audit = (entry: NewAuditEntry) => writeAuditEntry(db, clock, entry)
  const limits = signInLimits(clock, perMinute)
  const parts = {
    db,
    clock,
    box: testBox,
    limits,
    queueSecurityMail: null,
    setupToken,
    audit,
    report: () => {},
    oidc: () => null,
    browserOf: () => null,
  }
  const call = client({ db, clock, audit: auditor(db, clock) }, ...authRoutes(parts), ...orgRoutes(parts))
  const login = (email: string, password = PASSWORD, address = '192.0.2.1') =>
    call('POST', '/v1/auth/login', { body: { email, password }, address })
  const entries = () =>
    db.prepare('SELECT orgId, act, userId, keyId, address, target FROM auditEntry ORDER BY seq').all()
  return { db, clock, secret, call, login, entries, people: people ? peopleOf(db, clock) : null }
}

function peopleOf(...[db, clock]: Parameters<typeof cast>) {
  const people = cast(db, clock)
  for (const { userId } of [people.alice, people.bob, people.vera]) {
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(passwordHash, userId)
  }
  const token = ({ userId }: Person) => openSession(db, clock, userId, 'password').token
  /** Adds Bob to Mallory’s organization. */
  const twice = () => addMember(db, clock, { orgId: people.mallory.orgId, userId: people.bob.userId, role: 'viewer' })
  return { ...people, token, twice }
}

/** Sets up a data folder that already has users. */
function inhabited(options: { perMinute?: number } = {}) {
  const { people, ...rest } = setUp(options)
  if (!people) throw new Error('no users')
  return { ...rest, people }
}

describe('the sign-in methods', () => {
  test('are available without authentication', async () => {
    const { call, secret } = setUp({ people: false })
    const methods = async () => (await call('GET', '/v1/auth/methods')).body
    expect(await methods()).toEqual({ password: true, setUp: true, oidc: null })
    const body = { token: secret, orgName: 'Acme', email: 'alice@example.com', password: PASSWORD }
    const answer = await call('POST', '/v1/auth/setup', { body })
    expect(answer).toMatchObject({ status: 201, body: { user: { name: null }, orgs: [{ name: 'Acme' }] } })
    expect(await methods()).toEqual({ password: true, setUp: false, oidc: null })
    expect((await call('GET', '/v1/whoami', { as: answer.body.token })).body).toMatchObject({ role: 'owner' })
  })

  test("include the company's identity provider with its name", async () => {
    const { db, clock } = setUp({ people: false })
    const parts = {
      db,
      clock,
      box: testBox,
      limits: signInLimits(clock, 60),
      queueSecurityMail: null,
      setupToken: null,
      audit() {},
      report() {},
      browserOf: () => null,
    }
    const call = client({ db, clock }, ...authRoutes({ ...parts, oidc: () => ({ name: 'Acme SSO' }) }))
    const { body } = await call('GET', '/v1/auth/methods')
    expect(body).toEqual({ password: true, setUp: false, oidc: { name: 'Acme SSO' } })
  })
})

describe('signing in', () => {
  test('returns a valid session, whose token is not exposed elsewhere', async () => {
    const { call, login, people, db } = inhabited()
    const { status, body } = await login('bob@example.com')
    expect(status).toBe(200)
    const whoami = await call('GET', '/v1/whoami', { as: body.token })
    expect(whoami.body).toMatchObject({ userId: people.bob.userId, via: 'session', keyId: null })
    expect(Object.keys(whoami.body)).not.toContain('sessionId')
    const stored = JSON.stringify(db.prepare('SELECT * FROM session, auditEntry').all())
    expect(stored).not.toContain(body.token)
  })

  test('fails with 401 and the same message for any reason', async () => {
    const { login } = inhabited()
    const answers = [await login('bob@example.com', 'wrong'), await login('nobody@example.com')]
    for (const { status, body } of answers) {
      expect({ status, body }).toEqual({ status: 401, body: { error: 'e-mail address or password is wrong' } })
    }
  })

  test('is rate-limited by IP address and by account, with `retry-after`', async () => {
    const { clock, login } = inhabited({ perMinute: 3 })
    for (const name of ['a', 'b', 'c']) expect((await login(`${name}@example.com`)).status).toBe(401)
    const limited = await login('bob@example.com')
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '20'])
    expect((await login('bob@example.com', PASSWORD, '192.0.2.2')).status).toBe(200)
    clock.advance(MINUTE_MS)
    expect((await login('bob@example.com')).status).toBe(200)
  })

  const wrong: [object, string][] = [
    [{}, 'email: is missing'],
    [{ email: 'bob@example.com' }, 'password: is missing'],
    [{ email: 'bob@example.com', password: '' }, 'password: must not be empty'],
    [{ email: 'b'.repeat(255), password: 'x' }, 'email: must have at most 254 characters'],
    [{ email: 'b', password: 'x'.repeat(1001) }, 'password: must have at most 1000 characters'],
    [{ email: 'b', password: 'x', remember: true }, 'remember: there is no such field'],
  ]
  test.each(wrong)('%j is rejected with an error that names the field', async (body, error) => {
    const { call } = inhabited()
    expect(await call('POST', '/v1/auth/login', { body })).toMatchObject({ status: 400, body: { error } })
  })

  test('accepts the longest e-mail address and password', async () => {
    const { login } = inhabited()
    expect((await login('b'.repeat(254), 'x'.repeat(1000))).status).toBe(401)
  })
})

describe('signing out', () => {
  test('ends only the current session, and adds one audit log entry to each organization', async () => {
    const { call, people, entries } = inhabited()
    people.twice()
    const [token, other] = [people.token(people.bob), people.token(people.bob)]
    const out = () => call('POST', '/v1/auth/logout', { as: token, address: '192.0.2.1' })
    expect(await out()).toMatchObject({ status: 200, body: { ok: true } })
    expect((await out()).status).toBe(401)
    expect((await call('GET', '/v1/whoami', { as: other, headers: { 'x-org-id': people.orgId } })).status).toBe(200)
    const { userId } = people.bob
    const entry = { act: 'signOut', userId, keyId: null, address: '192.0.2.1', target: null }
    const orgIds = [people.orgId, people.mallory.orgId].sort()
    const written = entries().sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
    expect(written).toEqual(orgIds.map((orgId) => ({ ...entry, orgId })))
  })

  test('is allowed for viewers, but not for API keys', async () => {
    const { call, people } = inhabited()
    expect((await call('POST', '/v1/auth/logout', { as: people.token(people.vera) })).status).toBe(200)
    const byKey = await call('POST', '/v1/auth/logout', { as: people.bob.key })
    expect(byKey).toMatchObject({ status: 409, body: { error: expect.stringContaining('session') } })
    expect((await call('POST', '/v1/auth/logout', { as: people.keys.readOnly })).status).toBe(403)
    expect((await call('POST', '/v1/auth/logout')).status).toBe(401)
  })
})

describe('the sessions of a user', () => {
  const PATH = '/v1/auth/sessions'

  test('are listed without tokens, can be ended individually, and are hidden from other users', async () => {
    const { call, people } = inhabited()
    const { token, bob, alice } = people
    const [mine, other, hers] = [token(bob), token(bob), token(alice)]
    const { body } = await call('GET', PATH, { as: mine })
    expect(body.sessions).toHaveLength(2)
    expect(JSON.stringify(body)).not.toContain(other)
    const [theOther] = body.sessions.filter(({ current }: { current: boolean }) => !current)
    expect((await call('DELETE', `${PATH}/${theOther.id}`, { as: hers })).status).toBe(404)
    expect((await call('DELETE', `${PATH}/${theOther.id}`, { as: mine })).status).toBe(200)
    expect((await call('DELETE', `${PATH}/${theOther.id}`, { as: mine })).status).toBe(404)
    expect((await call('GET', '/v1/whoami', { as: other })).status).toBe(401)
    expect((await call('GET', PATH, { as: mine })).body.sessions).toMatchObject([{ current: true, via: 'password' }])
  })

  test('are not available to API keys', async () => {
    const { call, people } = inhabited()
    expect((await call('GET', PATH, { as: people.bob.key })).status).toBe(409)
    const id = sessionIdOf(people.token(people.bob))
    expect((await call('DELETE', `${PATH}/${id}`, { as: people.bob.key })).status).toBe(404)
  })
})

describe('a new password', () => {
  const change = (currentPassword: string, newPassword = 'another horse') => ({
    body: { currentPassword, newPassword },
  })
  const PATH = '/v1/auth/password'

  test('replaces the old password, and ends all other sessions of the user', async () => {
    const { call, login, people, entries } = inhabited()
    people.twice()
    const { token, bob, alice, mallory } = people
    const [mine, other, hers] = [token(bob), token(bob), token(alice)]
    const statusOf = async (as: string) =>
      (await call('GET', '/v1/whoami', { as, headers: { 'x-org-id': people.orgId } })).status
    const answer = await call('PUT', PATH, { as: mine, ...change(PASSWORD) })
    expect(answer).toMatchObject({ status: 200, body: { ok: true, revokedKeys: 1, endedSessions: 1 } })
    expect([await statusOf(mine), await statusOf(other), await statusOf(hers)]).toEqual([200, 401, 200])
    expect(await statusOf(bob.key)).toBe(401)
    const written = entries() as { orgId: string; act: string; userId: string }[]
    expect(written.map(({ orgId }) => orgId).sort()).toEqual([people.orgId, mallory.orgId].sort())
    for (const { act, userId } of written) expect([act, userId]).toEqual(['changePassword', bob.userId])
    expect((await login('bob@example.com')).status).toBe(401)
    expect((await login('bob@example.com', 'another horse')).status).toBe(200)
  })

  test('requires the current password, and must be valid', async () => {
    const { call, login, people, entries } = inhabited()
    const mine = people.token(people.vera)
    const cases = [
      [change('wrong'), 403, 'currentPassword: is wrong'],
      [change(PASSWORD, 'short'), 400, 'newPassword: must have at least 10 characters'],
      [change(PASSWORD, 'x'.repeat(1001)), 400, 'newPassword: must have at most 1000 characters'],
    ] as const
    for (const [body, status, error] of cases) {
      expect(await call('PUT', PATH, { as: mine, ...body })).toMatchObject({ status, body: { error } })
    }
    expect(entries()).toEqual([])
    expect((await login('vera@example.com')).status).toBe(200)
  })

  test("can't be set with an API key or by a user without a password", async () => {
    const { call, people } = inhabited()
    const answers = [
      await call('PUT', PATH, { as: people.bob.key, ...change(PASSWORD) }),
      await call('PUT', PATH, { as: people.token(people.ada), ...change(PASSWORD) }),
    ]
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [409, 'this requires a session; API keys are not accepted'],
      [409, 'the user has no password'],
    ])
    expect((await call('PUT', PATH, { as: people.vera.key, ...change(PASSWORD) })).status).toBe(403)
  })

  test('shares the rate limit of the account with sign-ins', async () => {
    const { call, login, people } = inhabited()
    const mine = people.token(people.bob)
    for (let n = 0; n < 5; n++) expect((await login('bob@example.com', 'wrong')).status).toBe(401)
    const put = (password: string) => call('PUT', PATH, { as: mine, address: '192.0.2.1', ...change(password) })
    for (let n = 0; n < 5; n++) expect((await put('wrong')).status).toBe(403)
    const limited = await put(PASSWORD)
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '6'])
    expect((await login('bob@example.com')).status).toBe(429)
  })

  test('is saved for only one of two concurrent changes', async () => {
    const { call, login, people } = inhabited()
    const news = ['first horse', 'second horse']
    const sessions = news.map(() => people.token(people.bob))
    const answers = await Promise.all(
      news.map((password, n) => call('PUT', PATH, { as: sessions[n] ?? '', ...change(PASSWORD, password) })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
    const kept = answers.findIndex(({ status }) => status === 200)
    const statuses = await Promise.all(news.map(async (password) => (await login('bob@example.com', password)).status))
    expect(statuses).toEqual(kept === 0 ? [200, 401] : [401, 200])
  })
})

test('role changes and removals of a user apply to open sessions from the next request', async () => {
  const { db, clock, call, login, people } = inhabited()
  const { token } = (await login('bob@example.com')).body
  const whoami = () => call('GET', '/v1/whoami', { as: token })
  expect((await whoami()).body.role).toBe('member')
  db.prepare(`UPDATE member SET role = 'viewer' WHERE userId = ?`).run(people.bob.userId)
  expect((await whoami()).body).toMatchObject({ role: 'viewer', readOnly: false })
  clock.advance(12 * HOUR_MS)
  expect((await whoami()).status).toBe(401)
})

test('any input is rejected with a client error, never an internal error', async () => {
  const { call, people, secret } = inhabited({ perMinute: 1_000_000 })
  const mine = people.token(people.bob)
  const targets = [
    ['POST', '/v1/auth/login', null],
    ['POST', '/v1/auth/setup', null],
    ['PUT', '/v1/auth/password', mine],
  ] as const
  const body = fc.oneof(
    anyJson,
    fc.record({ email: anyJson, password: anyJson }),
    fc.record({ currentPassword: anyJson, newPassword: anyJson }),
    fc.record({ token: fc.constant(secret), orgName: anyJson, email: anyJson, password: anyJson }),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...targets), body, async ([method, path, as], body) => {
      const { status } = await call(method, path, { as, body: JSON.stringify(body), headers: JSON_TYPE })
      expect([400, 401, 403, 409, 429]).toContain(status)
    }),
    { numRuns: 150 },
  )
})

const JSON_TYPE = { 'content-type': 'application/json' }
