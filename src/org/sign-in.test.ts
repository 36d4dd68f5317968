import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { cast, memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { until } from '../../test/run-program.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type NewAuditEntry, writeAuditEntry } from './audit-log.ts'
import { authenticator } from './authenticate.ts'
import { hashPassword } from './password-hash.ts'
import { networkOf, type PasswordSignInDeps, signIn, signInLimits } from './sign-in.ts'
import { addMember, createUser } from './store.ts'

const PASSWORD = 'correct horse e\u0301'
const passwordHash = await hashPassword(PASSWORD)
const anotherHash = await hashPassword('another horse')
const origin = { address: '192.0.2.1', userAgent: 'a browser' }

function setUp({ perMinute = 60 } = {}) {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const entries: NewAuditEntry[] = []
  const reported: unknown[] = []
  const parts: PasswordSignInDeps = {
    db,
    box: testBox,
    clock,
    limits: signInLimits(clock, perMinute),
    queueSecurityMail: null,
    audit(entry) {
      writeAuditEntry(db, clock, entry)
      entries.push(entry)
    },
    report: (error) => reported.push(error),
  }
  const setPassword = (userId: string, hash: string | null = passwordHash) =>
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(hash, userId)
  setPassword(people.bob.userId)
  const enter = (email: string, password: string, address: string | null = origin.address) =>
    signIn(parts, { email, password }, { ...origin, address })
  return { db, clock, cast: people, parts, entries, reported, setPassword, enter }
}

const REFUSED = { code: 'unauthorized', message: 'e-mail address or password is wrong' }

describe('a correct password', () => {
  test.each([
    ['bob@example.com', PASSWORD],
    [' BOB@Example.com\n', PASSWORD],
    ['bob@example.com', PASSWORD.normalize('NFC')],
  ])('signs in as %j', async (email, password) => {
    const { db, clock, cast, entries, enter } = setUp()
    const { userId, orgId } = cast.bob
    const { token, user, orgs } = await enter(email, password)
    expect(user).toEqual({ id: userId, email: 'bob@example.com', name: 'Bob' })
    expect(orgs).toEqual([{ id: orgId, name: 'Acme', role: 'member' }])
    const headers = new Headers({ authorization: `Bearer ${token}` })
    expect(authenticator({ db, clock })(headers)).toMatchObject({ via: 'session', userId, orgId })
    const note = { userAgent: 'a browser' }
    expect(entries).toEqual([{ orgId, act: 'signIn', userId, address: '192.0.2.1', note }])
  })

  test('a sign-in is recorded in the audit log of each organization of the user, except those with a pending invitation', async () => {
    const { db, clock, cast, entries, enter } = setUp()
    const { userId, orgId } = cast.bob
    addMember(db, clock, { orgId: cast.mallory.orgId, userId, role: 'viewer' })
    await enter('bob@example.com', PASSWORD)
    expect(entries.map(({ orgId }) => orgId).sort()).toEqual([orgId, cast.mallory.orgId].sort())
    db.prepare('UPDATE member SET inviteHash = ? WHERE orgId = ? AND userId = ?').run(
      Buffer.alloc(32),
      cast.mallory.orgId,
      userId,
    )
    entries.length = 0
    await enter('bob@example.com', PASSWORD)
    expect(entries.map(({ orgId }) => orgId)).toEqual([orgId])
  })

  test('of a user without an organization is rejected, and no session is created', async () => {
    const { db, clock, enter } = setUp()
    createUser(db, clock, { email: 'lone@example.com', passwordHash })
    await expect(enter('lone@example.com', PASSWORD)).rejects.toMatchObject({
      code: 'forbidden',
      message: 'the user is not a member of any organization',
    })
    expect(db.prepare('SELECT * FROM session').all()).toEqual([])
  })
})

describe('a wrong password', () => {
  const cases: [string, string, string][] = [
    ['an unknown address', 'nobody@example.com', PASSWORD],
    ['not an address', "' OR 1=1 --", PASSWORD],
    ['a user without a password', 'vera@example.com', PASSWORD],
    ['a wrong password', 'bob@example.com', 'correct horse'],
    ['the hash', 'bob@example.com', passwordHash],
  ]
  test.each(cases)('is rejected with the same message after one verification: %s', async (_name, email, password) => {
    const { db, enter } = setUp()
    using verify = spyOn(Bun.password, 'verify')
    await expect(enter(email, password)).rejects.toMatchObject(REFUSED)
    expect(verify).toHaveBeenCalledTimes(1)
    const cost = (hash: unknown) => String(hash).split('$').slice(0, 4)
    expect(cost(verify.mock.calls[0]?.[1])).toEqual(cost(passwordHash))
    expect(db.prepare('SELECT * FROM session').all()).toEqual([])
  })

  test('requires as many verifications as a correct one', async () => {
    const { enter } = setUp()
    using verify = spyOn(Bun.password, 'verify')
    await enter('bob@example.com', PASSWORD)
    expect(verify).toHaveBeenCalledTimes(1)
  })

  test("is recorded in the audit logs of the user's organizations after the response", async () => {
    const { cast, entries, enter } = setUp()
    await expect(enter('nobody@example.com', PASSWORD)).rejects.toMatchObject(REFUSED)
    await expect(enter('bob@example.com', 'wrong')).rejects.toMatchObject(REFUSED)
    expect(entries).toEqual([])
    await until('the entry', () => entries.length > 0)
    const { userId, orgId } = cast.bob
    expect(entries).toEqual([
      {
        orgId,
        act: 'signInFailed',
        userId: null,
        address: '192.0.2.1',
        target: userId,
        note: { userAgent: 'a browser' },
      },
    ])
  })

  test("returns the same error if the audit log can't be written, which is reported", async () => {
    const { db, reported, enter } = setUp()
    db.exec('DROP TABLE auditEntry')
    await expect(enter('bob@example.com', 'wrong')).rejects.toMatchObject(REFUSED)
    await until('the report', () => reported.length > 0)
    expect(String(reported[0])).toContain('auditEntry')
  })
})

test('a session and its audit log entry are created together or not at all', async () => {
  const { db, enter } = setUp()
  db.exec('DROP TABLE auditEntry')
  await expect(enter('bob@example.com', PASSWORD)).rejects.toThrow('auditEntry')
  expect(db.prepare('SELECT * FROM session').all()).toEqual([])
})

test('a password that changes during its verification opens no session', async () => {
  const { db, cast, setPassword, enter } = setUp()
  const entering = enter('bob@example.com', PASSWORD)
  setPassword(cast.bob.userId, anotherHash)
  await expect(entering).rejects.toMatchObject(REFUSED)
  expect(db.prepare('SELECT * FROM session').all()).toEqual([])
})

/** Returns the number of seconds to wait; 0 when the attempt was allowed. */
function waitOf(take: () => void): number {
  try {
    take()
    return 0
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rateLimited') throw error
    return error.retryAfterS ?? Number.NaN
  }
}

describe('sign-in attempts are limited', () => {
  test.each([1, 60, 123, 507])('by IP address: after %i in a minute, the next one is rejected', (perMinute) => {
    const clock = testClock()
    const { byAddress } = signInLimits(clock, perMinute)
    const take = (address: string | null) => waitOf(() => byAddress({ address }))
    for (let n = 0; n < perMinute; n++) expect(take('192.0.2.1')).toBe(0)
    const waitS = take('192.0.2.1')
    expect(waitS).toBe(Math.max(1, Math.ceil(60 / perMinute)))
    for (const address of ['192.0.2.2', '2001:db8::1', null]) expect(take(address)).toBe(0)
    clock.advance(waitS * SECOND_MS)
    expect(take('192.0.2.1')).toBe(0)
  })

  test('by account: 10 a minute from one IP address, ignoring case and white space, known or not', () => {
    const clock = testClock()
    const { byAccount } = signInLimits(clock, 60)
    for (const name of ['bob@example.com', 'nobody@example.com']) {
      const take = (email: string) => waitOf(() => byAccount(email, origin))
      for (let n = 0; n < 10; n++) expect(take(n % 2 ? name.toUpperCase() : ` ${name}`)).toBe(0)
      expect(take(name)).toBe(6)
      clock.advance(MINUTE_MS)
      for (let n = 0; n < 10; n++) expect(take(name)).toBe(0)
      expect(take(name)).toBe(6)
    }
  })

  test('by account: 100 a minute in total, so that one IP address can’t lock out the user', () => {
    const { byAccount } = signInLimits(testClock(), 60)
    const take = (address: string, email = 'bob@example.com') => waitOf(() => byAccount(email, { address }))
    for (let n = 0; n < 10; n++) expect(take('192.0.2.1')).toBe(0)
    expect(take('192.0.2.1')).toBe(6)
    for (let n = 0; n < 90; n++) expect(take(`198.51.100.${n}`)).toBe(0)
    expect(take('198.51.100.99')).toBe(1)
    expect(take('192.0.2.1', 'ann@example.com')).toBe(0)
  })

  test('before any verification, and first by IP address', async () => {
    const { clock, enter } = setUp({ perMinute: 12 })
    using verify = spyOn(Bun.password, 'verify')
    verify.mockImplementation(() => Promise.resolve(false))
    for (let n = 0; n < 10; n++) await expect(enter('bob@example.com', 'wrong')).rejects.toMatchObject(REFUSED)
    // Even the correct password is rejected, because the limit for the account is used up, but only for this IP
    // address.
    const limited = { code: 'rateLimited', message: 'too many requests; try again in 6 s', retryAfterS: 6 }
    await expect(enter('bob@example.com', PASSWORD)).rejects.toMatchObject(limited)
    await expect(enter('BOB@example.com', PASSWORD, '198.51.100.7')).rejects.toMatchObject(REFUSED)
    // Other accounts can be used until the limit of the IP address is reached. Attempts rejected by that limit are not
    // counted for the account.
    await expect(enter('ada@example.com', 'wrong')).rejects.toMatchObject(REFUSED)
    await expect(enter('alice@example.com', 'wrong')).rejects.toMatchObject({
      code: 'rateLimited',
      retryAfterS: 5,
    })
    expect(verify).toHaveBeenCalledTimes(12)
    clock.advance(MINUTE_MS)
    verify.mockRestore()
    expect((await enter('bob@example.com', PASSWORD)).user.email).toBe('bob@example.com')
  })
})

describe('an IP address is identified', () => {
  const cases: [string | null, string][] = [
    [null, 'unknown'],
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.255', '192.0.2.255'],
    ['::ffff:0.0.0.0', '0.0.0.0'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['2001:DB8:0001:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ]
  test.each(cases)('%j as %j', (address, name) => {
    expect(networkOf(address)).toBe(name)
  })

  test('by only the first half of an IPv6 address', () => {
    const group = fc.nat(0xffff)
    const text = (groups: number[]) => groups.map((n) => n.toString(16)).join(':')
    const half = fc.array(group, { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(half, half, half, (net, host, other) => {
        fc.pre(net.some((n) => n !== 0))
        const name = networkOf(text([...net, ...host]))
        expect(name).toBe(networkOf(text([...net, ...other])))
        expect(name === networkOf(text([...other, ...host]))).toBe(text(net) === text(other))
      }),
    )
  })
})
