import { describe, expect, test } from 'bun:test'
import { cast, memoryDb, ownerOf, sessionIdOf, testBox, testClock } from '../../test/fixtures.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { createKey, revokeKey } from './api-key-store.ts'
import { authenticator, isInForce } from './authenticate.ts'
import { endSession, endSessionsOf, openSession } from './session.ts'
import { addMember, createOrg } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const authenticate = authenticator({ db, clock })
  const as = (credential: string, orgId?: string, anyOrg = false) =>
    authenticate(
      new Headers({ authorization: `Bearer ${credential}`, ...(orgId === undefined ? {} : { 'x-org-id': orgId }) }),
      { anyOrg },
    )
  const setRole = (userId: string, role: string) =>
    db.prepare('UPDATE member SET role = ? WHERE userId = ?').run(role, userId)
  const session = (userId: string) => openSession(db, clock, userId, 'password').token
  const invite = (userId: string, orgId: string) => {
    addMember(db, clock, { orgId, userId, role: 'owner' })
    db.prepare('UPDATE member SET inviteHash = ? WHERE orgId = ? AND userId = ?').run(Buffer.alloc(32), orgId, userId)
  }
  return { db, clock, cast: people, authenticate, as, setRole, session, invite }
}

test.each(['alice', 'ada', 'bob', 'vera', 'mallory'] as const)('%s is authenticated by API key', (name) => {
  const { cast, as } = setUp()
  const { userId, orgId, role, keyId, key } = cast[name]
  expect(as(key)).toEqual({ via: 'key', userId, orgId, role, keyId, sessionId: null, readOnly: role === 'viewer' })
})

describe('rejected credentials', () => {
  const none: (string | null)[] = [null, '', 'Bearer', 'Bearer ', 'Basic YWxpY2U6eA==', 'ak_x', 'Bearer a b']
  test.each(none)('are reported as missing: %j', (authorization) => {
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
    ['truncated', ({ cast }) => cast.alice.key.slice(0, -1)],
    [
      'a session that has ended',
      ({ db, cast, session }) => {
        const token = session(cast.bob.userId)
        endSession(db, sessionIdOf(token))
        return token
      },
    ],
    [
      'a session that has expired',
      ({ clock, cast, session }) => {
        const token = session(cast.bob.userId)
        clock.advance(12 * HOUR_MS)
        return token
      },
    ],
    ['the hash of a session', ({ cast, session }) => `st_${sessionIdOf(session(cast.bob.userId))}`],
    ['an unknown key in the format of a session', ({ cast }) => cast.bob.key.replace('ak_', 'st_')],
    ['a key in upper case', ({ cast }) => cast.alice.key.toUpperCase()],
    ['the id of a key', ({ cast }) => cast.alice.keyId],
  ]
  test.each(refused)('have the same error message: %s', (_name, credential) => {
    const known = setUp()
    expect(() => known.as(credential(known))).toThrow(
      expect.objectContaining({ code: 'unauthorized', message: 'unknown, expired or revoked credential' }),
    )
  })

  test('include a key from the moment it expires', () => {
    const { db, clock, cast, as } = setUp()
    const { secret } = createKey(db, clock, { ...ownerOf(cast.bob), name: 'week', expiresInDays: 7 })
    clock.advance(7 * DAY_MS - 1)
    expect(as(secret).userId).toBe(cast.bob.userId)
    clock.advance(1)
    expect(() => as(secret)).toThrow('expired')
  })

  test('include a key from the first request after it is revoked', () => {
    const { db, clock, cast, as } = setUp()
    expect(as(cast.bob.key).keyId).toBe(cast.bob.keyId)
    revokeKey(db, clock, ownerOf(cast.bob), cast.bob.keyId)
    expect(() => as(cast.bob.key)).toThrow('revoked')
  })
})

test('the authorization scheme is case-insensitive', () => {
  const { cast, authenticate } = setUp()
  expect(authenticate(new Headers({ authorization: `bEARER ${cast.bob.key}` })).userId).toBe(cast.bob.userId)
})

describe('an API key', () => {
  const roles = ['viewer', 'member', 'admin', 'owner'] as const
  test.each(roles)("has its creator's new role %s", (role) => {
    const { cast, as, setRole } = setUp()
    setRole(cast.bob.userId, role)
    expect(as(cast.bob.key)).toMatchObject({ role, readOnly: role === 'viewer' })
  })

  test('stays read-only regardless of the role of its creator', () => {
    const { cast, as } = setUp()
    expect(as(cast.keys.readOnly)).toMatchObject({ role: 'owner', readOnly: true })
  })

  test('is rejected when the membership of its creator ends', () => {
    const { db, cast, as } = setUp()
    db.prepare('DELETE FROM member WHERE userId = ?').run(cast.bob.userId)
    expect(() => as(cast.bob.key)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })
})

describe('a session', () => {
  test.each(['alice', 'ada', 'bob', 'vera', 'mallory'] as const)(
    'has the permissions of %s, and is never read-only',
    (name) => {
      const { cast, as, session } = setUp()
      const { userId, orgId, role } = cast[name]
      const token = session(userId)
      const sessionId = sessionIdOf(token)
      expect(as(token)).toEqual({ via: 'session', userId, orgId, role, readOnly: false, keyId: null, sessionId })
    },
  )

  test('has the current role of its user', () => {
    const { cast, as, session, setRole } = setUp()
    const token = session(cast.bob.userId)
    for (const role of ['viewer', 'owner', 'member'] as const) {
      setRole(cast.bob.userId, role)
      expect(as(token)).toMatchObject({ role, readOnly: false })
    }
  })

  test('expires 12 hours after its last use', () => {
    const { clock, cast, as, session } = setUp()
    const token = session(cast.bob.userId)
    for (let n = 0; n < 5; n++) {
      clock.advance(12 * HOUR_MS - 1)
      expect(as(token).userId).toBe(cast.bob.userId)
    }
    clock.advance(12 * HOUR_MS)
    expect(() => as(token)).toThrow('unknown, expired or revoked credential')
  })

  test('is updated in the database at most once a minute', () => {
    const { db, clock, cast, as, session } = setUp()
    const token = session(cast.bob.userId)
    const start = clock.now()
    const row = () => db.prepare('SELECT lastUsedAt, expiresAt FROM session').get()
    const uses: [number, number][] = [
      [0, 0],
      [59 * SECOND_MS, 0],
      [60 * SECOND_MS, 60 * SECOND_MS],
      [119 * SECOND_MS, 60 * SECOND_MS],
      [-HOUR_MS, 60 * SECOND_MS],
      [180 * SECOND_MS, 180 * SECOND_MS],
    ]
    for (const [at, written] of uses) {
      clock.set(start + at)
      as(token)
      expect(row()).toEqual({ lastUsedAt: start + written, expiresAt: start + written + 12 * HOUR_MS })
    }
  })

  test('is not extended by a rejected request', () => {
    const { db, clock, cast, as, session } = setUp()
    const token = session(cast.bob.userId)
    const before = db.prepare('SELECT * FROM session').all()
    clock.advance(HOUR_MS)
    expect(() => as(token, cast.mallory.orgId)).toThrow('not a member')
    expect(db.prepare('SELECT * FROM session').all()).toEqual(before)
  })

  test('ends with all sessions of its user unless it is excluded, and when the user is deleted', () => {
    const { db, clock, cast, as, session } = setUp()
    const { bob, alice } = cast
    const [one, two, hers] = [session(bob.userId), session(bob.userId), session(alice.userId)]
    endSessionsOf(db, clock, bob.userId, { except: sessionIdOf(one) })
    expect(as(one).userId).toBe(bob.userId)
    expect(() => as(two)).toThrow('revoked')
    endSessionsOf(db, clock, bob.userId)
    expect(() => as(one)).toThrow('revoked')
    expect(as(hers).userId).toBe(alice.userId)
    db.prepare('DELETE FROM user WHERE id = ?').run(alice.userId)
    expect(() => as(hers)).toThrow('revoked')
  })
})

describe('a pending invitation', () => {
  test('gives no access', () => {
    const { cast, as, session, invite } = setUp()
    invite(cast.mallory.userId, cast.orgId)
    for (const credential of [cast.mallory.key, session(cast.mallory.userId)]) {
      expect(as(credential).orgId).toBe(cast.mallory.orgId)
      expect(() => as(credential, cast.orgId)).toThrow('X-Org-Id: ')
    }
  })

  test('does not count as a membership', () => {
    const { db, cast, as, session, invite } = setUp()
    const { userId, key } = cast.bob
    db.prepare('DELETE FROM member WHERE userId = ?').run(userId)
    invite(userId, cast.orgId)
    expect(() => as(key, undefined, true)).toThrow('the user of this key is not a member of its organization')
    expect(() => as(session(userId), undefined, true)).toThrow('the user is not a member of any organization')
  })
})

describe('X-Org-Id', () => {
  test('has no effect for a user of one organization, and an empty value is ignored', () => {
    const { cast, as } = setUp()
    expect(as(cast.bob.key, cast.orgId)).toEqual(as(cast.bob.key))
    expect(as(cast.bob.key, '')).toEqual(as(cast.bob.key))
  })

  test('is rejected for a key unless it names the organization of the key', () => {
    const { db, clock, cast, as } = setUp()
    addMember(db, clock, { orgId: cast.mallory.orgId, userId: cast.bob.userId, role: 'admin' })
    const own = { orgId: cast.orgId, role: 'member' } as const
    for (const any of [false, true]) {
      expect(as(cast.bob.key, undefined, any)).toMatchObject(own)
      expect(() => as(cast.bob.key, cast.mallory.orgId, any)).toThrow(
        expect.objectContaining({ code: 'forbidden', message: 'X-Org-Id: this key belongs to another organization' }),
      )
    }
    db.prepare('DELETE FROM member WHERE userId = ? AND orgId = ?').run(cast.bob.userId, cast.orgId)
    expect(() => as(cast.bob.key)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })

  test('is required for a user of several organizations, and determines the role', () => {
    const { db, clock, cast, as, session } = setUp()
    const token = session(cast.bob.userId)
    clock.advance(1)
    const second = createOrg(db, testBox, clock, { name: 'Second' }).id
    addMember(db, clock, { orgId: second, userId: cast.bob.userId, role: 'viewer' })
    const message = `X-Org-Id: the user belongs to several organizations; specify one of ${cast.orgId}, ${second}`
    expect(() => as(token)).toThrow(expect.objectContaining({ code: 'invalid', message }))
    expect(as(token, cast.orgId)).toMatchObject({ orgId: cast.orgId, role: 'member', readOnly: false })
    expect(as(token, second)).toMatchObject({ orgId: second, role: 'viewer', readOnly: false })
    // Routes that concern only the user do not require the header, but reject an invalid one.
    expect(as(token, undefined, true)).toMatchObject({ orgId: cast.orgId, role: 'member' })
    expect(as(token, second, true)).toMatchObject({ orgId: second })
    expect(() => as(token, cast.mallory.orgId, true)).toThrow('not a member of this organization')
  })

  test('is rejected for an organization of other users, as for an unknown one', () => {
    const { cast, as, session } = setUp()
    const message = 'X-Org-Id: the user is not a member of this organization'
    for (const orgId of [cast.mallory.orgId, 'org_none']) {
      expect(() => as(session(cast.bob.userId), orgId)).toThrow(expect.objectContaining({ code: 'forbidden', message }))
    }
  })
})

test('the last use is recorded at most once a minute, and never for a rejected credential', () => {
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

test('credentials are looked up only by index, regardless of the number of members', () => {
  const db = memoryDb()
  const asked: string[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    asked.push(sql)
    return prepare(sql)
  }) as typeof db.prepare
  authenticator({ db, clock: testClock() })
  const steps = asked
    .filter((sql) => sql.includes('SELECT'))
    .map((sql) => prepare(`EXPLAIN QUERY PLAN ${sql}`).all('') as { detail: string }[])
  expect(steps.map((plan) => plan.map(({ detail }) => detail))).toEqual([
    [
      expect.stringMatching(/^SEARCH apiKey USING INDEX/),
      expect.stringMatching(/^SEARCH org USING INDEX .*\(id=\?\)/),
      expect.stringMatching(/^SEARCH member USING .*\(orgId=\? AND userId=\?\)/),
      'CORRELATED SCALAR SUBQUERY 1',
      expect.stringMatching(/^SEARCH totp USING INDEX .*\(userId=\?\)/),
      'CORRELATED SCALAR SUBQUERY 2',
      expect.stringMatching(/^SEARCH identity USING COVERING INDEX .*\(userId=\?\)/),
    ],
    [
      expect.stringMatching(/^SEARCH session USING INDEX/),
      expect.stringMatching(/^SEARCH member USING INDEX memberByUser \(userId=\?\)/),
      expect.stringMatching(/^SEARCH org USING INDEX .*\(id=\?\)/),
      'CORRELATED SCALAR SUBQUERY 1',
      expect.stringMatching(/^SEARCH totp USING INDEX .*\(userId=\?\)/),
      'USE TEMP B-TREE FOR ORDER BY',
    ],
  ])
})

describe('a long-running request is still authorized', () => {
  type Known = ReturnType<typeof setUp>
  const present = ({ db, clock }: Known, principal: Parameters<typeof isInForce>[1]) =>
    isInForce({ db, clock }, principal)

  test.each<[string, (known: Known) => string, (known: Known, credential: string) => unknown, boolean]>([
    ['by a key', ({ cast }) => cast.bob.key, () => {}, true],
    [
      'by a key, despite a change of role',
      ({ cast }) => cast.bob.key,
      ({ setRole, cast }) => setRole(cast.bob.userId, 'viewer'),
      true,
    ],
    ['by a session', ({ cast, session }) => session(cast.bob.userId), () => {}, true],
    [
      'but not after the key is revoked',
      ({ cast }) => cast.bob.key,
      ({ db, clock, cast }) => revokeKey(db, clock, ownerOf(cast.bob), cast.bob.keyId),
      false,
    ],
    [
      'but not after the session is ended',
      ({ cast, session }) => session(cast.bob.userId),
      ({ db }, token) => endSession(db, sessionIdOf(token)),
      false,
    ],
    [
      'but not after the session has expired',
      ({ cast, session }) => session(cast.bob.userId),
      ({ clock }) => clock.advance(12 * HOUR_MS),
      false,
    ],
    [
      'but not after the user has left',
      ({ cast }) => cast.bob.key,
      ({ db, cast }) => db.prepare('DELETE FROM member WHERE userId = ?').run(cast.bob.userId),
      false,
    ],
    [
      'but not after the organization is deleted',
      ({ cast, session }) => session(cast.bob.userId),
      ({ db, cast }) => db.prepare('DELETE FROM org WHERE id = ?').run(cast.orgId),
      false,
    ],
  ])('%s', (_what, credential, act, expected) => {
    const known = setUp()
    const secret = credential(known)
    const principal = known.as(secret)
    expect(present(known, principal)).toBe(true)
    act(known, secret)
    expect(present(known, principal)).toBe(expected)
  })

  test('until the key expires', () => {
    const known = setUp()
    const { secret } = createKey(known.db, known.clock, { ...ownerOf(known.cast.bob), name: 'soon', expiresInDays: 7 })
    const principal = known.as(secret)
    known.clock.advance(7 * DAY_MS - 1)
    expect(present(known, principal)).toBe(true)
    known.clock.advance(1)
    expect(present(known, principal)).toBe(false)
  })

  test('and checking this is not recorded as a use of the credential', () => {
    const known = setUp()
    const principal = known.as(known.session(known.cast.bob.userId))
    for (let hour = 0; hour < 11; hour++) {
      known.clock.advance(HOUR_MS)
      expect(present(known, principal)).toBe(true)
    }
    known.clock.advance(HOUR_MS)
    expect(present(known, principal)).toBe(false)
  })
})
