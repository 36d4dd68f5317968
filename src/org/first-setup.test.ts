import { describe, expect, test } from 'bun:test'
import { memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { secretHash } from '../core/secret-box.ts'
import { type NewAuditEntry, writeAuditEntry } from './audit-log.ts'
import { authenticator } from './authenticate.ts'
import { canSetUp, newSetupToken, type SetUpDeps, type SetUpInput, setUp } from './first-setup.ts'
import { signIn, signInLimits } from './sign-in.ts'
import { hasOwner, initialize } from './store.ts'

const origin = { address: '192.0.2.1', userAgent: null }

function world(perMinute = 60) {
  const db = memoryDb()
  const clock = testClock()
  const { token: setupToken, secret: token } = newSetupToken()
  const entries: NewAuditEntry[] = []
  const parts: SetUpDeps = {
    db,
    box: testBox,
    clock,
    setupToken,
    limits: signInLimits(clock, perMinute),
    queueSecurityMail: null,
    audit(entry) {
      writeAuditEntry(db, clock, entry)
      entries.push(entry)
    },
    report: (error) => {
      throw error
    },
  }
  const input = { token, orgName: ' Acme ', email: 'alice@example.com', password: 'correct horse' }
  const run = (change: Partial<SetUpInput> = {}) => setUp(parts, { ...input, ...change }, origin)
  const rows = () => ['org', 'user', 'member', 'session', 'apiKey'].map((table) => countOf(table))
  const countOf = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  return { db, clock, token, parts, entries, run, rows }
}

describe('a valid setup token', () => {
  test('creates the first owner and signs them in, without an API key', async () => {
    const { db, clock, parts, entries, run, rows } = world()
    expect([canSetUp(parts), hasOwner(db)]).toEqual([true, false])
    const { token, user, orgs } = await run({ name: ' Alice ' })
    expect(user).toMatchObject({ email: 'alice@example.com', name: 'Alice' })
    expect(orgs).toEqual([{ id: expect.stringMatching(/^org_/), name: 'Acme', role: 'owner' }])
    const orgId = orgs[0]?.id ?? ''
    const principal = authenticator({ db, clock })(new Headers({ authorization: `Bearer ${token}` }))
    expect(principal).toMatchObject({ via: 'session', userId: user.id, orgId, role: 'owner' })
    expect(rows()).toEqual([1, 1, 1, 1, 0])
    const [entry] = entries
    expect(entries).toHaveLength(1)
    expect(entry).toMatchObject({ orgId, act: 'setUp', userId: user.id, address: '192.0.2.1', target: orgId })
    expect([canSetUp(parts), hasOwner(db)]).toEqual([false, true])
    const again = await signIn(parts, { email: 'alice@example.com', password: 'correct horse' }, origin)
    expect(again.user).toEqual(user)
  })

  test('works once', async () => {
    const { db, token, parts, run } = world()
    await run()
    await expect(run({ email: 'bob@example.com' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'an owner already exists',
    })
    // The token remains unusable even after the owner has been deleted.
    db.exec('DELETE FROM org; DELETE FROM user')
    expect(parts.setupToken?.fits(token)).toBe(false)
    await expect(run()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('creates one owner for two concurrent requests', async () => {
    const { run, rows } = world()
    const outcomes = await Promise.allSettled([run(), run({ email: 'bob@example.com' })])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } })
    expect(rows()).toEqual([1, 1, 1, 1, 0])
  })

  test('creates nothing if another owner has been created in the meantime', async () => {
    const { db, clock, parts, run, rows } = world()
    const running = run()
    await initialize(db, testBox, clock, { orgName: 'First', email: 'first@example.com', password: null })
    await expect(running).rejects.toMatchObject({ code: 'conflict' })
    expect(rows()).toEqual([1, 1, 1, 0, 1])
    expect(canSetUp(parts)).toBe(false)
  })

  test.each([
    [{ orgName: ' ' }, 'orgName: must not be blank'],
    [{ email: 'alice' }, 'email: is not an e-mail address'],
    [{ password: 'short' }, 'password: must have at least 10 characters'],
    [{ name: '\t' }, 'name: must not be blank'],
  ])('remains valid after %j is rejected with the field name, and nothing is created', async (change, message) => {
    const { parts, entries, run, rows } = world()
    await expect(run(change)).rejects.toMatchObject({ code: 'invalid', message })
    expect(rows()).toEqual([0, 0, 0, 0, 0])
    expect(entries).toEqual([])
    expect(canSetUp(parts)).toBe(true)
    expect((await run()).orgs).toHaveLength(1)
  })
})

describe('setup creates nothing', () => {
  const cases: [string, (token: string) => string][] = [
    ['another token', () => newSetupToken().secret],
    ['a truncated token', (token) => token.slice(0, -1)],
    ['the token in upper case', (token) => token.toUpperCase()],
    ['the hash of the token', (token) => secretHash(token).toString('hex')],
  ]
  test.each(cases)('with %s', async (_name, change) => {
    const { token, parts, run, rows } = world()
    await expect(run({ token: change(token) })).rejects.toMatchObject({ code: 'unauthorized' })
    expect(rows()).toEqual([0, 0, 0, 0, 0])
    expect(canSetUp(parts)).toBe(true)
  })

  test('if no setup token is valid', async () => {
    const { token, parts, rows } = world()
    const none: SetUpDeps = { ...parts, setupToken: null }
    expect(canSetUp(none)).toBe(false)
    const input = { token, orgName: 'Acme', email: 'alice@example.com', password: 'correct horse' }
    await expect(setUp(none, input, origin)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(rows()).toEqual([0, 0, 0, 0, 0])
  })
})

test('setup attempts share the rate limit per IP address with sign-ins', async () => {
  const { parts, run } = world(2)
  await expect(run({ token: 'su_guess' })).rejects.toMatchObject({ code: 'unauthorized' })
  parts.limits.byAddress(origin)
  await expect(run()).rejects.toMatchObject({ code: 'rateLimited', retryAfterS: 30 })
})
