import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  anyJson,
  CALLERS,
  type Caller,
  cast,
  client,
  credentialsOf,
  memoryDb,
  type Person,
  testBox,
  testClock,
} from '../../test/fixtures.ts'
import { DAY_MS } from '../core/clock.ts'
import type { Principal } from '../http/principal.ts'
import { organizationRoutes } from './org-routes.ts'
import { orgRoutes } from './routes.ts'
import { openSession } from './session.ts'
import { addMember, createOrg, openWebhookSecret } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const parts = { db, box: testBox, clock, changed() {}, deleted() {}, checkPiiPatterns() {} }
  const routes = [...orgRoutes(parts), ...organizationRoutes(parts)]
  const call = client({ db, clock }, ...routes)
  /** Returns the principal of a user who uses a session instead of a key. */
  const signedIn = ({ userId, orgId, role }: Person) => {
    const principal: Principal = {
      via: 'session',
      userId,
      orgId,
      role,
      readOnly: false,
      keyId: null,
      sessionId: 'session',
    }
    return client({ db, clock, authenticate: () => principal }, ...routes)
  }
  return { db, clock, cast: people, call, signedIn }
}

const newKey = { name: 'CI', expiresInDays: 30 }

describe('permissions', () => {
  const everybody = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 200 }
  const fullKeys = { viewer: 403, readOnly: 403, member: 201, admin: 201, owner: 201, otherOrg: 201 }
  /** Expected statuses for revoking Bob’s key: only Bob and the admins of his organization may revoke it. */
  const revokers = { viewer: 403, readOnly: 403, member: 200, admin: 200, owner: 200, otherOrg: 404 }
  type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>

  const routes: [string, string, unknown, Expected][] = [
    ['GET', '/v1/whoami', undefined, everybody],
    ['PATCH', '/v1/whoami', { name: 'New' }, { ...everybody, viewer: 403, readOnly: 403 }],
    ['PATCH', '/v1/whoami', {}, { ...fullKeys, member: 400, admin: 400, owner: 400, otherOrg: 400 }],
    ['GET', '/v1/orgs', undefined, everybody],
    ['GET', '/v1/org', undefined, everybody],
    ['GET', '/v1/keys', undefined, everybody],
    ['POST', '/v1/keys', newKey, fullKeys],
    // A missing permission is reported before an invalid body.
    ['POST', '/v1/keys', {}, { ...fullKeys, member: 400, admin: 400, owner: 400, otherOrg: 400 }],
    ['DELETE', '/v1/keys/{bob}', undefined, revokers],
  ]
  const cases = routes.flatMap(([method, path, body, expected]) =>
    CALLERS.map((caller) => {
      const status = caller in expected ? expected[caller as keyof Expected] : 401
      return [method, path, caller, status, body] as const
    }),
  )

  test.each(cases)('%s %s as %s: %i', async (method, path, caller, status, body) => {
    const { call, cast } = setUp()
    const as = credentialsOf(cast)[caller]
    const answer = await call(method, path.replace('{bob}', cast.bob.keyId), { as, body })
    expect(answer.status).toBe(status)
  })
})

test('whoami returns the user of the request', async () => {
  const { call, cast, signedIn } = setUp()
  const { userId, orgId, email, keyId } = cast.vera
  const vera = {
    userId,
    email,
    name: 'Vera',
    orgId,
    orgName: 'Acme',
    role: 'viewer',
    readOnly: true,
    via: 'key',
    keyId,
    scopes: ['all'],
    secondFactorDue: false,
  }
  expect((await call('GET', '/v1/whoami', { as: cast.vera.key })).body).toEqual(vera)
  const session = await signedIn(cast.vera)('GET', '/v1/whoami')
  expect(session.body).toEqual({ ...vera, readOnly: false, via: 'session', keyId: null })
})

test('a user with several organizations must specify one', async () => {
  const { db, clock, call, cast } = setUp()
  const second = createOrg(db, testBox, clock, { name: 'Second' }).id
  addMember(db, clock, { orgId: second, userId: cast.bob.userId, role: 'viewer' })
  const as = openSession(db, clock, cast.bob.userId, 'password').token
  const silent = await call('GET', '/v1/whoami', { as })
  expect(silent.status).toBe(400)
  expect(silent.body.error).toContain(second)
  expect(silent.body.error).toContain(cast.orgId)
  const named = await call('GET', '/v1/whoami', { as, headers: { 'x-org-id': second } })
  expect(named.body).toMatchObject({ orgId: second, orgName: 'Second', role: 'viewer', readOnly: false })
  const { body } = await call('GET', '/v1/orgs?limit=1', { as, headers: { 'x-org-id': second } })
  expect(body.orgs).toHaveLength(1)
  const rest = `/v1/orgs?limit=1&cursor=${body.nextCursor}`
  const next = await call('GET', rest, { as, headers: { 'x-org-id': second } })
  const ids = [...body.orgs, ...next.body.orgs].map(({ id }) => id)
  expect(ids.sort()).toEqual([cast.orgId, second].sort())
  expect(next.body.nextCursor).toBeNull()
  // A key can access only its own organization.
  const own = await call('GET', '/v1/orgs', { as: cast.bob.key })
  expect(own.body).toEqual({ orgs: [{ id: cast.orgId, name: 'Acme', role: 'member' }], nextCursor: null })
  expect((await call('GET', '/v1/whoami', { as: cast.bob.key })).body).toMatchObject({ orgId: cast.orgId })
  const elsewhere = await call('GET', '/v1/whoami', { as: cast.bob.key, headers: { 'x-org-id': second } })
  expect(elsewhere).toMatchObject({
    status: 403,
    body: { error: 'X-Org-Id: this key belongs to another organization' },
  })
})

test('a key is listed and revoked only in the organization in which it was created', async () => {
  const { db, clock, call, cast } = setUp()
  const { bob, mallory } = cast
  addMember(db, clock, { orgId: mallory.orgId, userId: bob.userId, role: 'admin' })
  const as = openSession(db, clock, bob.userId, 'password').token
  const [here, there] = [cast.orgId, mallory.orgId].map((id) => ({ as, headers: { 'x-org-id': id } }))
  const made = await call('POST', '/v1/keys', { ...there, body: newKey })
  const idsOf = async (where: object) =>
    (await call('GET', '/v1/keys', where)).body.keys.map(({ id }: { id: string }) => id)
  expect(await idsOf({ ...here })).toEqual([bob.keyId])
  expect((await idsOf({ ...there })).sort()).toEqual([made.body.id, mallory.keyId].sort())
  expect((await call('DELETE', `/v1/keys/${made.body.id}`, here)).status).toBe(404)
  expect((await call('DELETE', `/v1/keys/${bob.keyId}`, there)).status).toBe(404)
  expect((await call('DELETE', `/v1/keys/${made.body.id}`, there)).status).toBe(200)
})

test('a user can have at most 50 keys in an organization', async () => {
  const { clock, call, cast } = setUp()
  const make = () => call('POST', '/v1/keys', { as: cast.bob.key, body: { name: 'CI', expiresInDays: 7 } })
  for (let n = 1; n < 50; n++) expect((await make()).status).toBe(201)
  const last = await make()
  expect(last).toMatchObject({
    status: 409,
    body: { error: 'a user can have at most 50 keys in an organization; revoke one first' },
  })
  expect((await call('POST', '/v1/keys', { as: cast.ada.key, body: newKey })).status).toBe(201)
  clock.advance(7 * DAY_MS)
  expect((await make()).status).toBe(201)
})

test('only admins see the webhook secret', async () => {
  const { db, clock, call, cast } = setUp()
  const org = {
    id: cast.orgId,
    name: 'Acme',
    createdAt: clock.now(),
    phoneRegions: [],
    piiPatterns: [],
    consentOptIn: false,
    currency: null,
    timezone: 'UTC',
    requireSecondFactor: false,
  }
  const webhookSecret = openWebhookSecret(db, testBox, cast.orgId)
  const seen = async ({ key }: Person) => (await call('GET', '/v1/org', { as: key })).body
  expect(await seen(cast.alice)).toEqual({ ...org, webhookSecret })
  expect(await seen(cast.ada)).toEqual({ ...org, webhookSecret })
  expect(await seen(cast.bob)).toEqual({ ...org, webhookSecret: null })
  expect(await seen(cast.vera)).toEqual({ ...org, webhookSecret: null })
})

describe('API keys', () => {
  test('show their secret only at creation, and work until they are revoked', async () => {
    const { clock, call, cast } = setUp()
    const { body: key } = await call('POST', '/v1/keys', { as: cast.bob.key, body: newKey })
    expect(key).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'CI',
      readOnly: false,
      scopes: ['all'],
      createdAt: clock.now(),
      expiresAt: clock.now() + 30 * DAY_MS,
      secret: expect.stringMatching(/^ak_/),
    })
    expect((await call('GET', '/v1/whoami', { as: key.secret })).body.keyId).toBe(key.id)
    const list = await call('GET', '/v1/keys', { as: cast.bob.key })
    expect(list.body.keys.map(({ id }: { id: string }) => id).sort()).toEqual([cast.bob.keyId, key.id].sort())
    expect(JSON.stringify(list.body)).not.toContain(key.secret)
    expect((await call('DELETE', `/v1/keys/${key.id}`, { as: key.secret })).body).toEqual({ ok: true })
    expect((await call('GET', '/v1/whoami', { as: key.secret })).status).toBe(401)
    expect((await call('DELETE', `/v1/keys/${key.id}`, { as: cast.bob.key })).status).toBe(404)
  })

  test('have the scopes that were chosen, in a fixed order and without repetitions', async () => {
    const { call, cast } = setUp()
    const create = async (fields: object, as = cast.bob.key) =>
      (await call('POST', '/v1/keys', { as, body: { ...newKey, ...fields } })).body
    expect(await create({ scopes: ['runs', 'read', 'runs'] })).toMatchObject({
      scopes: ['read', 'runs'],
      readOnly: false,
    })
    expect(await create({ scopes: ['read'] })).toMatchObject({ scopes: ['read'], readOnly: true })
    expect(await create({ readOnly: true })).toMatchObject({ scopes: ['read'], readOnly: true })
    expect(await create({ readOnly: true, scopes: ['read'] })).toMatchObject({ scopes: ['read'] })
    const all = await create({ scopes: ['alerts', 'all'] })
    expect(all).toMatchObject({ scopes: ['all'] })
    expect((await create({ readOnly: true, scopes: ['all'] })).error).toStartWith('scopes: must be ["read"]')
    expect((await create({ scopes: [] })).error).toStartWith('scopes: ')
    expect((await create({ scopes: ['everything'] })).error).toStartWith('scopes[0]: ')
    const { keys } = (await call('GET', '/v1/keys', { as: cast.bob.key })).body
    expect(keys.find(({ id }: { id: string }) => id === all.id)).toMatchObject({ scopes: ['all'] })
  })

  test('of viewers only read, whatever scopes were chosen', async () => {
    const { cast, signedIn } = setUp()
    const create = (scopes: string[]) => signedIn(cast.vera)('POST', '/v1/keys', { body: { ...newKey, scopes } })
    for (const scopes of [['read'], ['all'], ['read', 'alerts']]) {
      expect((await create(scopes)).body.scopes).toEqual(['read'])
    }
    const refused = await create(['alerts'])
    expect([refused.status, refused.body.error]).toEqual([
      403,
      'scopes: your role is viewer, so your keys can only have the scope "read"',
    ])
  })

  test('with a scope call its routes and no others, and create no other keys', async () => {
    const { call, cast } = setUp()
    const create = async (scopes: string[]) =>
      (await call('POST', '/v1/keys', { as: cast.alice.key, body: { ...newKey, scopes } })).body.secret
    const [reader, runner] = [await create(['read', 'alerts']), await create(['runs'])]
    expect((await call('GET', '/v1/whoami', { as: reader })).body).toMatchObject({
      scopes: ['read', 'alerts'],
      readOnly: false,
    })
    expect((await call('GET', '/v1/org', { as: reader })).body.webhookSecret).toBeNull()
    const unread = await call('GET', '/v1/whoami', { as: runner })
    expect([unread.status, unread.body.error]).toEqual([403, 'this key does not have the scope "read"'])
    for (const as of [reader, runner]) {
      const { status, body } = await call('POST', '/v1/keys', { as, body: newKey })
      expect([status, body.error]).toEqual([403, 'this key does not have the scope "all"'])
    }
  })

  test('created by a viewer with a session are read-only, and remain read-only', async () => {
    const { db, call, cast, signedIn } = setUp()
    const { body } = await signedIn(cast.vera)('POST', '/v1/keys', { body: { ...newKey, readOnly: false } })
    expect(body.readOnly).toBe(true)
    db.prepare(`UPDATE member SET role = 'admin' WHERE userId = ?`).run(cast.vera.userId)
    expect((await call('POST', '/v1/keys', { as: body.secret, body: newKey })).status).toBe(403)
  })

  test('can be seen and revoked by their owner and by admins, but not by other members', async () => {
    const { call, cast } = setUp()
    const owners = async ({ key }: Person) => {
      const { body } = await call('GET', '/v1/keys', { as: key })
      return new Set(body.keys.map(({ userId }: { userId: string }) => userId))
    }
    const { alice, ada, bob, vera, mallory } = cast
    expect(await owners(bob)).toEqual(new Set([bob.userId]))
    expect(await owners(mallory)).toEqual(new Set([mallory.userId]))
    expect(await owners(ada)).toEqual(new Set([alice.userId, ada.userId, bob.userId, vera.userId]))
    expect((await call('DELETE', `/v1/keys/${vera.keyId}`, { as: bob.key })).status).toBe(404)
    expect((await call('GET', '/v1/keys', { as: vera.key })).status).toBe(200)
    expect((await call('DELETE', `/v1/keys/${vera.keyId}`, { as: ada.key })).status).toBe(200)
    expect((await call('GET', '/v1/keys', { as: vera.key })).status).toBe(401)
  })

  test('are listed once each across pages', async () => {
    const { call, cast } = setUp()
    const all = (await call('GET', '/v1/keys', { as: cast.ada.key })).body.keys
    const walked: unknown[] = []
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `/v1/keys?limit=2${cursor}`, { as: cast.ada.key })
      walked.push(...body.keys)
      if (body.nextCursor === null) break
      expect(body.keys).toHaveLength(2)
      cursor = `&cursor=${body.nextCursor}`
    }
    expect(walked.map((key) => (key as { id: string }).id)).toEqual(all.map(({ id }: { id: string }) => id))
  })
})

describe('invalid input', () => {
  const bodies: [unknown, string][] = [
    [{}, 'name'],
    [{ name: '', expiresInDays: 30 }, 'name'],
    [{ name: '  ', expiresInDays: 30 }, 'name'],
    [{ name: 'n'.repeat(101), expiresInDays: 30 }, 'name'],
    [{ name: 7, expiresInDays: 30 }, 'name'],
    [{ name: 'CI' }, 'expiresInDays'],
    [{ name: 'CI', expiresInDays: 6 }, 'expiresInDays'],
    [{ name: 'CI', expiresInDays: 366 }, 'expiresInDays'],
    [{ name: 'CI', expiresInDays: 7.5 }, 'expiresInDays'],
    [{ name: 'CI', expiresInDays: '30' }, 'expiresInDays'],
    [{ ...newKey, readOnly: 'yes' }, 'readOnly'],
    [{ ...newKey, userId: 'usr_x' }, 'userId'],
    ['{"name":', 'body'],
    ['', 'body'],
    ['null', 'body'],
    ['[]', 'body'],
  ]
  test.each(bodies)('POST /v1/keys with %j returns 400 and names %s', async (body, field) => {
    const { call, cast } = setUp()
    const answer = await call('POST', '/v1/keys', { as: cast.bob.key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toStartWith(`${field}: `)
  })

  const queries = ['limit=0', 'limit=201', 'limit=1.5', 'limit=x', 'cursor=x', 'cursor=W10', 'cursor=bnVsbA', 'page=2']
  test.each(queries.flatMap((query) => [`/v1/keys?${query}`, `/v1/orgs?${query}`]))(
    'GET %s returns 400',
    async (path) => {
      const { call, cast } = setUp()
      expect((await call('GET', path, { as: cast.bob.key })).status).toBe(400)
    },
  )

  test('a key can have the shortest or longest lifetime, or no expiry', async () => {
    const { call, cast } = setUp()
    for (const expiresInDays of [7, 365, null]) {
      const { status } = await call('POST', '/v1/keys', { as: cast.bob.key, body: { name: 'CI', expiresInDays } })
      expect(status).toBe(201)
    }
  })

  test('any input returns 4xx, never an internal error', async () => {
    const { call, cast } = setUp()
    const key = fc.record(
      {
        name: fc.oneof(fc.string({ unit: 'binary' }), anyJson),
        expiresInDays: anyJson,
        readOnly: anyJson,
        scopes: anyJson,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyJson, key), fc.string(), async (body, id) => {
        const text = JSON.stringify(body)
        const made = await call('POST', '/v1/keys', { as: cast.bob.key, body: text })
        expect([201, 400]).toContain(made.status)
        const gone = await call('DELETE', `/v1/keys/x${encodeURIComponent(id)}`, { as: cast.bob.key })
        expect(gone.status).toBe(404)
      }),
      { numRuns: 200 },
    )
  })
})
