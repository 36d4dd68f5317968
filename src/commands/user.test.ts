import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { runProgram, temporaryFolder } from '../../test/run-program.ts'
import { systemClock } from '../core/clock.ts'
import { openStores } from '../data-folder/open-folder.ts'
import { listKeys } from '../org/api-key-store.ts'
import { listAuditEntries } from '../org/audit-log.ts'
import { invite } from '../org/member-store.ts'
import { verifyPassword } from '../org/password-hash.ts'
import { beginSecondFactor, confirmSecondFactor } from '../org/second-factor.ts'
import { openSession } from '../org/session.ts'
import { signInLimits } from '../org/sign-in.ts'
import { createOrg, createUser, initialize } from '../org/store.ts'
import { stepAt, totpCode } from '../org/totp.ts'
import { lockFolder } from '../store/folder-lock.ts'

const OWNER = 'owner@example.com'

/** Creates a data folder with an owner who has a session, a key and a second factor. */
async function setUp() {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const { db, box } = openStores(data)
  const limits = signInLimits(systemClock, 60)
  const made = await initialize(db, box, systemClock, { orgName: 'Acme', email: OWNER, password: 'correct horse' })
  openSession(db, systemClock, made.userId, 'password')
  const deps = { db, box, clock: systemClock, limits }
  const { secret } = beginSecondFactor(deps, made.userId)
  confirmSecondFactor(deps, made.userId, totpCode(secret, stepAt(systemClock.now())))
  db.close()
  const run = async (words: string, stdin = '') => {
    const { code, stdout, stderr } = await runProgram([...words.split(' '), '--data', data, '--json'], {}, stdin)
    return { code, stderr, answer: code === 0 ? JSON.parse(stdout) : stdout }
  }
  const inDb = <T>(work: (db: ReturnType<typeof openStores>['db']) => T): T => {
    const { db } = openStores(data)
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  return { ...made, data, box, run, inDb, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

describe('the user commands', () => {
  test.each([true, false])('set a password, which ends all access (server running: %p)', async (isRunning) => {
    using all = await setUp()
    const unlock = isRunning ? lockFolder(all.data) : () => undefined
    const done = await all.run(`user password --email ${OWNER.toUpperCase()}`, 'battery staple horse\n')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.answer).toEqual({
      ok: true,
      userId: all.userId,
      revokedKeys: 1,
      endedSessions: 1,
      secondFactorRemoved: false,
    })
    const listed = await all.run('user list')
    unlock()
    expect(listed.answer.users).toMatchObject([
      {
        id: all.userId,
        email: OWNER,
        hasPassword: true,
        secondFactor: true,
        sessions: 0,
        organizations: [{ id: all.orgId, name: 'Acme', role: 'owner', status: 'active' }],
      },
    ])
    const { hash, keys, entries } = all.inDb((db) => ({
      hash: db.prepare('SELECT passwordHash FROM user').pluck().get() as string,
      keys: listKeys(db, { orgId: all.orgId }, { limit: 10 }).items,
      entries: listAuditEntries(db, all.orgId, { limit: 10 }).items,
    }))
    expect(await verifyPassword('battery staple horse', hash)).toBe(true)
    expect(keys).toEqual([])
    expect(entries[0]).toMatchObject({ act: 'setUserPassword', userId: null, target: all.userId, targetName: OWNER })
    expect(JSON.stringify(entries)).not.toContain('staple')
  })

  test('remove the second factor of a user whose device is lost', async () => {
    using all = await setUp()
    const { answer } = await all.run(`user password --email ${OWNER} --remove-second-factor`, 'battery staple horse')
    expect(answer.secondFactorRemoved).toBe(true)
    expect((await all.run(`user list --email ${OWNER}`)).answer.users[0].secondFactor).toBe(false)
    // The server notifies the user when it runs.
    const queued = all.inDb((db) =>
      db.prepare('SELECT channelType, channelTarget, status, message FROM delivery').all(),
    ) as { message: string }[]
    expect(queued).toMatchObject([{ channelType: 'security_mail', channelTarget: OWNER, status: 'pending' }])
    const event = { kind: 'secondFactorRemoved' }
    expect(JSON.parse(queued[0]?.message ?? '')).toMatchObject({ to: OWNER, event, origin: null })
  })

  test.each([
    ['nobody@example.com', 'battery staple horse', 'email: there is no user with the address nobody@example.com'],
    [OWNER, 'password123', 'password: is one of the most common passwords'],
    [OWNER, 'owner@example.com', 'password: is too similar'],
    [OWNER, '', 'password: must have at least 10 characters'],
  ])('refuse to set the password of %s to %j', async (email, password, message) => {
    using all = await setUp()
    const { code, stderr } = await all.run(`user password --email ${email}`, password)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(all.inDb((db) => listKeys(db, { orgId: all.orgId }, { limit: 10 }).items)).toHaveLength(1)
  })

  test('change the role of a member, accept an invitation, and add a member', async () => {
    using all = await setUp()
    const { orgId } = all
    all.inDb((db) => {
      invite(db, systemClock, { orgId, email: 'invited@example.com', role: 'viewer' })
      createUser(db, systemClock, { email: 'stranger@example.com' })
    })
    const role = async (email: string, to: string) => (await all.run(`user role --email ${email} --role ${to}`)).answer
    expect(await role('invited@example.com', 'admin')).toMatchObject({ ok: true, orgId, role: 'admin', before: null })
    expect(await role('invited@example.com', 'owner')).toMatchObject({ role: 'owner', before: 'admin' })
    expect(await role('stranger@example.com', 'member')).toMatchObject({ orgId, role: 'member', before: null })
    const { users } = (await all.run('user list')).answer
    type Listed = { email: string; organizations: { role: string; status: string }[] }
    const listed = users.map(({ email, organizations: [only] }: Listed) => [email, only?.role, only?.status])
    expect(listed).toEqual([
      ['invited@example.com', 'owner', 'active'],
      ['owner@example.com', 'owner', 'active'],
      ['stranger@example.com', 'member', 'active'],
    ])
    const entries = all.inDb((db) => listAuditEntries(db, orgId, { limit: 10 }).items)
    expect(entries.map(({ act, note }) => [act, note.role])).toEqual([
      ['changeMemberRole', 'member'],
      ['changeMemberRole', 'owner'],
      ['changeMemberRole', 'admin'],
    ])
  })

  test('keep an owner, and ask for the organization when there are several', async () => {
    using all = await setUp()
    const last = await all.run(`user role --email ${OWNER} --role viewer`)
    expect([last.code, last.stderr]).toEqual([2, expect.stringContaining('must have an owner')])
    const other = all.inDb((db) => {
      createUser(db, systemClock, { email: 'stranger@example.com' })
      return createOrg(db, all.box, systemClock, { name: 'Second' }).id
    })
    const unclear = await all.run('user role --email stranger@example.com --role owner')
    expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining(`${other} (Second)`)])
    for (const org of ['Second', other]) {
      const { answer } = await all.run(`user role --email stranger@example.com --role owner --org ${org}`)
      expect(answer).toMatchObject({ orgId: other, role: 'owner' })
    }
  })

  test('refuse to migrate the database of a running server', async () => {
    using all = await setUp()
    all.inDb((db) => db.pragma(`user_version = ${migrations.length - 1}`))
    const unlock = lockFolder(all.data)
    const { code, stderr } = await all.run('user list')
    unlock()
    expect([code, stderr]).toEqual([2, expect.stringContaining('the running server has another version')])
  })
})
