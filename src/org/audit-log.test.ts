import { describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { DAY_MS } from '../core/clock.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import { auditor, listAuditEntries, removeOldAuditEntries, writeAuditEntry } from './audit-log.ts'
import { organizationRoutes } from './org-routes.ts'
import { orgRoutes } from './routes.ts'
import { addMember } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const routes = organizationRoutes({ db, box: testBox, clock, changed() {}, deleted() {}, checkPiiPatterns() {} })
  const call = client({ db, clock, audit: auditor(db, clock) }, ...routes)
  return { db, clock, cast: people, call }
}

describe('the audit log', () => {
  const write = ({ db, clock, cast }: ReturnType<typeof setUp>) => {
    const entry = (orgId: string, act: string, userId: string | null) => {
      clock.advance(1000)
      writeAuditEntry(db, clock, { orgId, act, userId })
    }
    entry(cast.orgId, 'signIn', cast.bob.userId)
    entry(cast.orgId, 'signInFailed', null)
    entry(cast.mallory.orgId, 'signIn', cast.mallory.userId)
    entry(cast.orgId, 'signIn', cast.vera.userId)
    entry(cast.orgId, 'createKey', 'usr_gone')
  }
  const read = async ({ call, cast }: ReturnType<typeof setUp>, query = '') =>
    (await call('GET', `/v1/org/audit-log${query}`, { as: cast.ada.key })).body

  test('is listed newest first, with the e-mail addresses of users who still exist', async () => {
    const all = setUp()
    write(all)
    const { entries, nextCursor } = await read(all)
    expect(nextCursor).toBeNull()
    expect(entries.map(({ act, email }: { act: string; email: string | null }) => [act, email])).toEqual([
      ['createKey', null],
      ['signIn', 'vera@example.com'],
      ['signInFailed', null],
      ['signIn', 'bob@example.com'],
    ])
    expect(entries[3]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      at: all.clock.now() - 4000,
      act: 'signIn',
      userId: all.cast.bob.userId,
      email: 'bob@example.com',
      keyId: null,
      address: null,
      target: null,
      targetName: null,
      note: {},
    })
  })

  test("shows the most recent name of an action's target, even after the target has been deleted", async () => {
    const all = setUp()
    const { db, clock, cast } = all
    const { orgId, vera, mallory } = cast
    writeAuditEntry(db, clock, { orgId, act: 'createProject', target: 'prj_1', note: { name: 'Shop' } })
    writeAuditEntry(db, clock, { orgId, act: 'updateProject', target: 'prj_1', note: { name: 'Shops' } })
    writeAuditEntry(db, clock, { orgId, act: 'updateProject', target: 'prj_1', note: {} })
    writeAuditEntry(db, clock, { orgId, act: 'createIntegration', target: 'int_1', note: { label: 'Team' } })
    writeAuditEntry(db, clock, { orgId, act: 'changeMemberRole', target: vera.userId, note: { role: 'admin' } })
    writeAuditEntry(db, clock, { orgId, act: 'inviteMember', target: 'usr_gone', note: { email: 'x@example.com' } })
    writeAuditEntry(db, clock, { orgId, act: 'deleteProject', target: 'prj_2' })
    writeAuditEntry(db, clock, { orgId, act: 'updateOrganization', target: orgId })
    writeAuditEntry(db, clock, { orgId: mallory.orgId, act: 'x', target: 'prj_2', note: { name: 'Secret' } })
    const orgName = db.prepare('SELECT name FROM org WHERE id = ?').pluck().get(orgId)
    const { entries } = await read(all)
    expect(entries.map(({ targetName }: { targetName: string | null }) => targetName)).toEqual([
      orgName,
      null,
      'x@example.com',
      'vera@example.com',
      'Team',
      'Shops',
      'Shops',
      'Shops',
    ])
  })

  test('is filtered by action, user and time', async () => {
    const all = setUp()
    write(all)
    const now = all.clock.now()
    const actsOf = async (query: string) => (await read(all, query)).entries.map(({ act }: { act: string }) => act)
    expect(await actsOf('?act=signIn')).toEqual(['signIn', 'signIn'])
    expect(await actsOf(`?act=signIn&userId=${all.cast.vera.userId}`)).toEqual(['signIn'])
    expect(await actsOf(`?userId=${all.cast.mallory.userId}`)).toEqual([])
    expect(await actsOf(`?from=${now - 1000}`)).toEqual(['createKey', 'signIn'])
    expect(await actsOf(`?from=${now - 1000}&to=${now}`)).toEqual(['signIn'])
    expect(await actsOf('?to=0')).toEqual([])
  })

  test('contains each entry once across more than nine pages', async () => {
    const { db, clock, cast, call } = setUp()
    for (let i = 0; i < 25; i++) writeAuditEntry(db, clock, { orgId: cast.orgId, act: `act${i}` })
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `/v1/org/audit-log?limit=4${cursor}`, { as: cast.ada.key })
      seen.push(...body.entries.map(({ act }: { act: string }) => act))
      if (body.nextCursor === null) break
      cursor = `&cursor=${body.nextCursor}`
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `act${24 - i}`))
  })

  test('records changes, but not rejected calls or reads', async () => {
    const all = setUp()
    const { call, cast } = all
    const { body } = await call('POST', '/v1/orgs', { as: cast.alice.key, body: { name: 'New' }, address: '192.0.2.7' })
    await call('POST', '/v1/orgs', { as: cast.alice.key, body: { name: ' ' } })
    await call('PATCH', '/v1/org', { as: cast.bob.key, body: { name: 'Bobs' } })
    await call('GET', '/v1/org', { as: cast.ada.key })
    const secret = await call('POST', '/v1/org/webhook-secret', { as: cast.ada.key })
    const { entries } = await read(all)
    expect(entries).toMatchObject([
      { act: 'rotateWebhookSecret', userId: cast.ada.userId, keyId: cast.ada.keyId, address: null, target: null },
      { act: 'createOrganization', target: body.id, address: '192.0.2.7', note: { name: 'New' } },
    ])
    expect(JSON.stringify(entries)).not.toContain(secret.body.webhookSecret)
  })

  test('removes entries older than the retention time', async () => {
    const all = setUp()
    write(all)
    removeOldAuditEntries(all.db, all.clock.now() + RECORD_RETENTION_MS - 1000)
    expect((await read(all)).entries).toHaveLength(2)
    all.clock.advance(DAY_MS)
    removeOldAuditEntries(all.db, all.clock.now() + RECORD_RETENTION_MS)
    expect((await read(all)).entries).toEqual([])
  })

  test('accepts no entries for a deleted organization', () => {
    const { db, clock } = setUp()
    writeAuditEntry(db, clock, { orgId: 'org_gone', act: 'signIn' })
    expect(db.prepare('SELECT count(*) AS n FROM auditEntry').get()).toEqual({ n: 0 })
  })

  test.each(['from=x', 'from=-1', 'to=1.5', 'act=', `userId=${'u'.repeat(101)}`, 'limit=0', 'cursor=x', 'who=me'])(
    'rejects ?%s',
    async (query) => {
      const { call, cast } = setUp()
      expect((await call('GET', `/v1/org/audit-log?${query}`, { as: cast.ada.key })).status).toBe(400)
    },
  )
})

test('changes to a key are recorded only in the audit log of its organization', async () => {
  const { db, clock, cast } = setUp()
  const { bob, mallory, ada } = cast
  addMember(db, clock, { orgId: mallory.orgId, userId: bob.userId, role: 'viewer' })
  const call = client({ db, clock, audit: auditor(db, clock) }, ...orgRoutes({ db, clock }))
  const body = { name: 'CI', expiresInDays: 30 }
  const { id } = (await call('POST', '/v1/keys', { as: bob.key, body, address: '192.0.2.7' })).body
  // The call was rejected, so there is no entry.
  expect((await call('DELETE', `/v1/keys/${id}`, { as: mallory.key })).status).toBe(404)
  await call('DELETE', `/v1/keys/${id}`, { as: ada.key, address: '192.0.2.8' })
  const note = { name: 'CI', expiresInDays: 30, scopes: ['all'] }
  const entries = (orgId: string) => listAuditEntries(db, orgId, { limit: 10 }).items
  expect(
    entries(cast.orgId).map(({ act, userId, keyId, address, target, note }) => [
      act,
      userId,
      keyId,
      address,
      target,
      note,
    ]),
  ).toEqual([
    ['revokeKey', ada.userId, ada.keyId, '192.0.2.8', id, {}],
    ['createKey', bob.userId, bob.keyId, '192.0.2.7', id, note],
  ])
  expect(entries(mallory.orgId)).toEqual([])
})
