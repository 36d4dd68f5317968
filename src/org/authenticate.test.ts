import { describe, expect, test } from 'bun:test'
import { cast, memoryDb, testBox, testClock } from '../../test/fakes.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { authenticator } from './authenticate.ts'
import { addMember, createKey, createOrg, revokeKey } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const authenticate = authenticator({ db, clock })
  const as = (key: string, orgId?: string) =>
    authenticate(new Headers({ authorization: `Bearer ${key}`, ...(orgId === undefined ? {} : { 'x-org-id': orgId }) }))
  const setRole = (userId: string, role: string) =>
    db.prepare('UPDATE member SET role = ? WHERE userId = ?').run(role, userId)
  return { db, clock, cast: people, authenticate, as, setRole }
}

test.each(['alice', 'ada', 'bob', 'vera', 'mallory'] as const)('%s is known by the key', (name) => {
  const { cast, as } = setUp()
  const { userId, orgId, role, keyId, key } = cast[name]
  expect(as(key)).toEqual({ via: 'key', userId, orgId, role, keyId, readOnly: role === 'viewer' })
})

describe('a credential is refused', () => {
  const none: (string | null)[] = [null, '', 'Bearer', 'Bearer ', 'Basic YWxpY2U6eA==', 'ak_x', 'Bearer a b']
  test.each(none)('as missing: %j', (authorization) => {
    const { authenticate } = setUp()
    const headers = new Headers(authorization === null ? {} : { authorization })
    expect(() => authenticate(headers)).toThrow('no credential')
  })

  const refused: [string, (known: ReturnType<typeof setUp>) => string][] = [
    ['unknown', () => 'ak_unknown'],
    ['a property token', () => 'pt_something'],
    ['a session token', () => 'st_something'],
    ['revoked', ({ cast }) => cast.keys.revoked],
    ['expired', ({ cast }) => cast.keys.expired],
    ['cut short', ({ cast }) => cast.alice.key.slice(0, -1)],
    ['in another case', ({ cast }) => cast.alice.key.toUpperCase()],
    ['the id of a key', ({ cast }) => cast.alice.keyId],
  ]
  test.each(refused)('with one and the same message: %s', (_name, credential) => {
    const known = setUp()
    expect(() => known.as(credential(known))).toThrow(
      expect.objectContaining({ code: 'unauthorized', message: 'unknown, expired or revoked credential' }),
    )
  })

  test('from the moment of its expiry on', () => {
    const { db, clock, cast, as } = setUp()
    const { secret } = createKey(db, clock, { userId: cast.bob.userId, name: 'week', expiresInDays: 7 })
    clock.advance(7 * DAY_MS - 1)
    expect(as(secret).userId).toBe(cast.bob.userId)
    clock.advance(1)
    expect(() => as(secret)).toThrow('expired')
  })

  test('from the request after its revocation on', () => {
    const { db, clock, cast, as } = setUp()
    expect(as(cast.bob.key).keyId).toBe(cast.bob.keyId)
    revokeKey(db, clock, { userId: cast.bob.userId }, cast.bob.keyId)
    expect(() => as(cast.bob.key)).toThrow('revoked')
  })
})

test('the scheme is read in any case', () => {
  const { cast, authenticate } = setUp()
  expect(authenticate(new Headers({ authorization: `bEARER ${cast.bob.key}` })).userId).toBe(cast.bob.userId)
})

describe('a key follows its creator', () => {
  const roles = ['viewer', 'member', 'admin', 'owner'] as const
  test.each(roles)('to the role %s', (role) => {
    const { cast, as, setRole } = setUp()
    setRole(cast.bob.userId, role)
    expect(as(cast.bob.key)).toMatchObject({ role, readOnly: role === 'viewer' })
  })

  test('but a read-only key stays read-only', () => {
    const { cast, as } = setUp()
    expect(as(cast.keys.readOnly)).toMatchObject({ role: 'owner', readOnly: true })
  })

  test('and out of the organization', () => {
    const { db, cast, as } = setUp()
    db.prepare('DELETE FROM member WHERE userId = ?').run(cast.bob.userId)
    expect(() => as(cast.bob.key)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })
})

describe('X-Org-Id', () => {
  test('of the only organization changes nothing; an empty one counts as none', () => {
    const { cast, as } = setUp()
    expect(as(cast.bob.key, cast.orgId)).toEqual(as(cast.bob.key))
    expect(as(cast.bob.key, '')).toEqual(as(cast.bob.key))
  })

  test('is needed by a user of several organizations, and decides on the role', () => {
    const { db, clock, cast, as } = setUp()
    clock.advance(1)
    const second = createOrg(db, testBox, clock, { name: 'Second' }).id
    addMember(db, clock, { orgId: second, userId: cast.bob.userId, role: 'viewer' })
    const message = `X-Org-Id: the user belongs to several organizations, name one of ${cast.orgId}, ${second}`
    expect(() => as(cast.bob.key)).toThrow(expect.objectContaining({ code: 'invalid', message }))
    expect(as(cast.bob.key, cast.orgId)).toMatchObject({ orgId: cast.orgId, role: 'member', readOnly: false })
    expect(as(cast.bob.key, second)).toMatchObject({ orgId: second, role: 'viewer', readOnly: true })
  })

  test('of an organization of others, or of none, is forbidden alike', () => {
    const { cast, as } = setUp()
    for (const orgId of [cast.mallory.orgId, 'org_none']) {
      expect(() => as(cast.bob.key, orgId)).toThrow(
        expect.objectContaining({
          code: 'forbidden',
          message: 'X-Org-Id: the user is not a member of this organization',
        }),
      )
    }
  })
})

test('the last use is noted, at most once a minute, and never for a refused credential', () => {
  const { db, clock, cast, as } = setUp()
  const lastUsedAt = (key: string) =>
    db
      .prepare('SELECT lastUsedAt FROM apiKey WHERE secretTail = ? AND name = ?')
      .pluck()
      .get(key.slice(-4), "Bob's key")
  const start = clock.now()
  expect(lastUsedAt(cast.bob.key)).toBeNull()
  as(cast.bob.key)
  expect(lastUsedAt(cast.bob.key)).toBe(start)
  clock.advance(59 * SECOND_MS)
  as(cast.bob.key)
  expect(lastUsedAt(cast.bob.key)).toBe(start)
  clock.advance(SECOND_MS)
  as(cast.bob.key)
  expect(lastUsedAt(cast.bob.key)).toBe(start + MINUTE_MS)
  expect(() => as(cast.keys.revoked)).toThrow()
  expect(db.prepare(`SELECT lastUsedAt FROM apiKey WHERE name = 'revoked'`).pluck().get()).toBeNull()
})
