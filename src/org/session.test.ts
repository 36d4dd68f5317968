import { expect, test } from 'bun:test'
import { cast, memoryDb, sessionIdOf, testBox, testClock } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { parser } from '../core/schema.ts'
import { secretHash } from '../core/secret-box.ts'
import { endSession, openSession, SignedInSchema, signedIn } from './session.ts'
import { addMember, createOrg } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const hashes = () => db.prepare('SELECT tokenHash FROM session ORDER BY createdAt').pluck().all()
  return { db, clock, cast: people, hashes }
}

test.each(['password', 'setup', 'invite', 'oidc'] as const)(
  'a session opened by %s stores only the hash of its token',
  (via) => {
    const { db, clock, cast } = setUp()
    const { userId } = cast.bob
    const now = clock.now()
    const origin = { address: '192.0.2.7', userAgent: 'a browser' }
    const { token, expiresAt } = openSession(db, clock, userId, via, { origin })
    expect(token).toMatch(/^st_[\w-]{43}$/)
    expect(expiresAt).toBe(now + 12 * HOUR_MS)
    const row = db.prepare('SELECT * FROM session').get()
    const times = { createdAt: now, lastUsedAt: now, expiresAt }
    expect(row).toEqual({ tokenHash: secretHash(token), userId, via, ...times, endSessionUrl: null, ...origin })
  },
)

test('opening a session removes only expired sessions', () => {
  const { db, clock, cast, hashes } = setUp()
  const open = () => secretHash(openSession(db, clock, cast.bob.userId, 'password').token)
  open()
  clock.advance(1)
  const second = open()
  clock.advance(12 * HOUR_MS - 1)
  expect(hashes()).toHaveLength(2)
  const third = open()
  expect(hashes()).toEqual([second, third])
})

test('ending a session does not affect other sessions, and ending an unknown session does nothing', () => {
  const { db, clock, cast, hashes } = setUp()
  const [one, two] = [0, 1].map(() => openSession(db, clock, cast.bob.userId, 'password').token) as [string, string]
  endSession(db, sessionIdOf(one))
  endSession(db, sessionIdOf(one))
  endSession(db, sessionIdOf('st_unknown'))
  expect(hashes()).toEqual([secretHash(two)])
})

test('the sign-in response contains organizations, but no pending invitations', () => {
  const { db, clock, cast } = setUp()
  const { userId, email } = cast.bob
  clock.advance(1)
  const second = createOrg(db, testBox, clock, { name: 'Second' }).id
  addMember(db, clock, { orgId: second, userId, role: 'viewer' })
  addMember(db, clock, { orgId: cast.mallory.orgId, userId, role: 'owner' })
  db.prepare('UPDATE member SET inviteHash = ? WHERE orgId = ? AND userId = ?').run(
    Buffer.alloc(32),
    cast.mallory.orgId,
    userId,
  )
  const session = openSession(db, clock, userId, 'invite')
  const answer = signedIn(db, session, userId)
  expect(answer).toEqual({
    ...session,
    user: { id: userId, email, name: 'Bob' },
    orgs: [
      { id: cast.orgId, name: 'Acme', role: 'member' },
      { id: second, name: 'Second', role: 'viewer' },
    ],
  })
  expect(parser(SignedInSchema)(answer)).toBe(answer)
})
