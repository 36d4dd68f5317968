import { describe, expect, test } from 'bun:test'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import type { Db } from '../store/database.ts'
import { auditor } from './audit-log.ts'
import { organizationRoutes } from './org-routes.ts'
import { openSession } from './session.ts'
import { addMember, createOrg, openWebhookSecret } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const told: string[] = []
  const routes = organizationRoutes({
    db,
    box: testBox,
    clock,
    checkPiiPatterns() {},
    changed: () => told.push('changed'),
    deleted: (orgId) => told.push(`deleted ${orgId}`),
  })
  const call = client({ db, clock, audit: auditor(db, clock) }, ...routes)
  return { db, clock, cast: people, told, call }
}

describe('permissions', () => {
  type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
  const readers = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 200 }
  const seers = { ...readers, viewer: 403, member: 403 }
  const admins = { ...seers, readOnly: 403 }
  const owners = { ...admins, admin: 403 }
  const cases: [string, string, unknown, Expected][] = [
    ['GET', '/v1/orgs', undefined, readers],
    ['POST', '/v1/orgs', { name: 'New' }, { ...owners, owner: 201, otherOrg: 201 }],
    ['POST', '/v1/orgs', {}, { ...owners, owner: 400, otherOrg: 400 }],
    ['GET', '/v1/org', undefined, readers],
    ['PATCH', '/v1/org', { name: 'New' }, admins],
    ['POST', '/v1/org/webhook-secret', undefined, admins],
    ['GET', '/v1/org/audit-log', undefined, seers],
    ['DELETE', '/v1/org?name=Acme', undefined, { ...owners, otherOrg: 400 }],
    ['DELETE', '/v1/org', undefined, { ...owners, owner: 400, otherOrg: 400 }],
  ]
  test.each(
    cases.flatMap(([method, path, body, expected]) =>
      CALLERS.map((caller) => {
        const status = caller in expected ? expected[caller as keyof Expected] : 401
        return [method, path, body, caller, status] as const
      }),
    ),
  )('%s %s %j as %s: %i', async (method, path, body, caller, status) => {
    const { db, call, cast } = setUp()
    const dump = () => JSON.stringify(db.prepare('SELECT * FROM org ORDER BY id').all())
    const before = dump()
    const answer = await call(method, path, { as: credentialsOf(cast)[caller], body })
    expect(answer.status).toBe(status)
    if (status >= 400) expect(dump()).toBe(before)
  })
})

describe('an additional organization', () => {
  test('is accessible only to the user who created it', async () => {
    const { call, cast, clock, db } = setUp()
    const { status, body } = await call('POST', '/v1/orgs', { as: cast.alice.key, body: { name: ' Acme Europe ' } })
    expect(status).toBe(201)
    expect(body).toEqual({ id: expect.stringMatching(/^org_/), name: 'Acme Europe', role: 'owner' })
    const as = openSession(db, clock, cast.alice.userId, 'password').token
    const { orgs } = (await call('GET', '/v1/orgs', { as })).body
    expect(orgs.map(({ name }: { name: string }) => name).toSorted()).toEqual(['Acme', 'Acme Europe'])
    expect((await call('GET', '/v1/orgs', { as: cast.ada.key })).body.orgs).toHaveLength(1)
    expect((await call('GET', '/v1/org', { as })).status).toBe(400)
    const there = await call('GET', '/v1/org', { as, headers: { 'x-org-id': body.id } })
    expect(there.body.webhookSecret).toBe(openWebhookSecret(db, testBox, body.id))
    const stranger = await call('GET', '/v1/org', { as: cast.mallory.key, headers: { 'x-org-id': body.id } })
    expect(stranger.status).toBe(403)
  })

  test('can be created by an owner of the current organization', async () => {
    const { db, clock, call, cast } = setUp()
    const { id } = createOrg(db, testBox, clock, { name: 'Second' })
    addMember(db, clock, { orgId: id, userId: cast.alice.userId, role: 'admin' })
    const body = { name: 'Third' }
    const as = openSession(db, clock, cast.alice.userId, 'password').token
    expect((await call('POST', '/v1/orgs', { as, body, headers: { 'x-org-id': id } })).status).toBe(403)
    expect((await call('POST', '/v1/orgs', { as, body, headers: { 'x-org-id': cast.orgId } })).status).toBe(201)
  })

  test("can't be created by an owner of ten organizations", async () => {
    const { call, cast } = setUp()
    const make = () => call('POST', '/v1/orgs', { as: cast.alice.key, body: { name: 'More' } })
    for (let owned = 1; owned < 10; owned++) expect((await make()).status).toBe(201)
    expect(await make()).toMatchObject({ status: 409, body: { error: 'a user can own at most 10 organizations' } })
  })

  test.each([
    ['n'.repeat(200), 201],
    ['n'.repeat(201), 400],
    ['', 400],
    [' \t', 400],
  ])('with the name %j returns %i', async (name, status) => {
    const { call, cast } = setUp()
    const answer = await call('POST', '/v1/orgs', { as: cast.alice.key, body: { name } })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body.error).toStartWith('name: ')
  })
})

describe('organization settings', () => {
  test('that are omitted remain unchanged, and every change recompiles the rules', async () => {
    const { call, cast, told } = setUp()
    const patch = (body: unknown) => call('PATCH', '/v1/org', { as: cast.ada.key, body })
    expect((await patch({ phoneRegions: ['DE', 'US', 'DE'] })).body).toMatchObject({
      name: 'Acme',
      phoneRegions: ['DE', 'US'],
    })
    expect((await patch({ name: ' Acme Inc ' })).body).toMatchObject({ name: 'Acme Inc', phoneRegions: ['DE', 'US'] })
    const seen = (await call('GET', '/v1/org', { as: cast.bob.key })).body
    expect(seen).toMatchObject({ name: 'Acme Inc', phoneRegions: ['DE', 'US'], webhookSecret: null })
    expect((await patch({ phoneRegions: [] })).body.phoneRegions).toEqual([])
    expect(told).toEqual(['changed', 'changed', 'changed'])
    const currencies = [{ currency: 'EUR' }, { name: 'Acme' }, { currency: null }].map(
      async (body) => (await patch(body)).body,
    )
    expect((await Promise.all(currencies)).map(({ currency }) => currency)).toEqual(['EUR', 'EUR', null])
    expect((await call('GET', '/v1/org', { as: cast.mallory.key })).body.name).toBe('Mallory and Sons')
  })

  test.each<[unknown, string]>([
    [{ phoneRegions: ['DE', 'XX'] }, 'phoneRegions[1]'],
    [{ phoneRegions: ['de'] }, 'phoneRegions[0]'],
    [{ phoneRegions: [''] }, 'phoneRegions[0]'],
    [{ phoneRegions: ['toString'] }, 'phoneRegions[0]'],
    [{ phoneRegions: Array(51).fill('DE') }, 'phoneRegions'],
    [{ phoneRegions: 'DE' }, 'phoneRegions'],
    [{ currency: 'Euro' }, 'currency'],
    [{ currency: 'eur' }, 'currency'],
    [{ currency: 'XYZ' }, 'currency'],
    [{ currency: '' }, 'currency'],
    [{ currency: 978 }, 'currency'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: null }, 'name'],
    [{ customerSalt: 'x' }, 'customerSalt'],
    [[], 'body'],
  ])('%j is rejected with an error that names %s', async (body, field) => {
    const { call, cast, told } = setUp()
    const answer = await call('PATCH', '/v1/org', { as: cast.ada.key, body })
    expect([answer.status, answer.body.error.split(': ')[0]]).toEqual([400, field])
    expect(told).toEqual([])
  })

  test('the webhook secret is replaced only in the current organization', async () => {
    const { db, call, cast } = setUp()
    const before = openWebhookSecret(db, testBox, cast.orgId)
    const other = openWebhookSecret(db, testBox, cast.mallory.orgId)
    const { body } = await call('POST', '/v1/org/webhook-secret', { as: cast.ada.key })
    expect(body.webhookSecret).toMatch(/^whsec_/)
    expect(body.webhookSecret).not.toBe(before)
    expect(openWebhookSecret(db, testBox, cast.orgId)).toBe(body.webhookSecret)
    expect(openWebhookSecret(db, testBox, cast.mallory.orgId)).toBe(other)
  })
})

interface Column {
  name: string
  type: string
  notnull: number
  pk: number
  dflt_value: string | null
}

/** Names of the columns that assign a row to an organization. */
const OWNERS = ['orgId', 'domainId', 'issueId', 'projectId'] as const
const CHOICES: Record<string, string> = {
  'domain.sessionMode': 'memory',
  'alert.input': '{}',
  'hostname.status': 'approved',
  'domain.routingMode': 'custom',
  'domain.collectStatus': 'active',
  'pageFile.level': 'day',
  'pipelineGap.cause': 'down',
  'signalSetting.mode': 'muted',
  'eventFile.level': 'compacted',
  'rollupFile.level': 'day',
  'issue.status': 'open',
  'delivery.status': 'pending',
  'member.role': 'viewer',
  'finding.action': 'watch',
  'shopOrder.status': 'paid',
  'label.kind': 'step',
  'digestMail.status': 'pending',
  'audit.status': 'finished',
}

function columnsOf(db: Db): [string, Column[]][] {
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all() as { name: string }[]
  return tables.map(({ name }) => [name, db.pragma(`table_info(${name})`) as Column[]])
}

/** Adds a row to every table whose rows belong to organizations. */
function fill(db: Db, orgId: string): void {
  const known: Record<string, string> = {
    orgId,
    domainId: `dom_${orgId}`,
    issueId: `iss_${orgId}`,
    projectId: `prj_${orgId}`,
    testId: `tst_${orgId}`,
  }
  const ids: Record<string, string> = {
    domain: `dom_${orgId}`,
    issue: `iss_${orgId}`,
    project: `prj_${orgId}`,
    flowTest: `tst_${orgId}`,
  }
  const made = db.prepare('INSERT INTO user (id, email, createdAt) VALUES (?, ?, 0)')
  made.run(`usr_${orgId}`, `someone@${orgId}.example`)
  const rowIds: Record<string, number> = {}
  db.pragma('foreign_keys = OFF')
  for (const [table, columns] of columnsOf(db)) {
    if (!columns.some(({ name }) => OWNERS.some((owner) => owner === name))) continue
    // SQLite assigns the value of an integer primary key, which is the rowid.
    const isRowId = ({ type, pk }: Column) =>
      pk > 0 && type === 'INTEGER' && columns.filter(({ pk }) => pk > 0).length === 1
    const wanted = columns.filter((it) => (it.notnull || it.pk || it.name in known) && !isRowId(it))
    const values = wanted.map(({ name, type }) => {
      if (name === 'id') return ids[table] ?? `${table}_${orgId}`
      if (name === 'userId') return `usr_${orgId}`
      const text = known[name] ?? CHOICES[`${table}.${name}`] ?? `${name} ${orgId}`
      return type === 'TEXT' ? text : type === 'BLOB' ? Buffer.from(text) : (rowIds[name] ?? 1)
    })
    const names = wanted.map(({ name }) => name)
    const insert = db.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`)
    rowIds[`${table}Id`] = Number(insert.run(...values).lastInsertRowid)
  }
  db.pragma('foreign_keys = ON')
  expect(db.pragma('foreign_key_check')).toEqual([])
}

/** Returns the number of rows in each table that belong to an organization. Tables without such rows are omitted. */
function rowsOf(db: Db, orgId: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [table, columns] of columnsOf(db)) {
    const owners = OWNERS.filter((owner) => columns.some(({ name }) => name === owner))
    if (owners.length === 0) continue
    const where = owners.map((name) => `${name} LIKE '%' || @orgId`).join(' OR ')
    const { n } = db.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get({ orgId }) as { n: number }
    if (n > 0) counts[table] = n
  }
  return counts
}

describe('deleting an organization', () => {
  test('leaves only rows that jobs remove later, and does not affect other organizations', async () => {
    const { db, call, cast, told } = setUp()
    const { orgId, mallory } = cast
    for (const id of [orgId, mallory.orgId]) fill(db, id)
    const others = rowsOf(db, mallory.orgId)
    expect(Object.keys(rowsOf(db, orgId)).toSorted()).toEqual(Object.keys(others).toSorted())
    expect(Object.keys(others).length).toBeGreaterThan(12)
    const answer = await call('DELETE', '/v1/org?name=Acme', { as: cast.alice.key })
    expect([answer.status, answer.body]).toEqual([200, { ok: true }])
    // The ids of undeleted files remain. The next run of the signals and the cleanup of old records delete the other
    // rows.
    expect(rowsOf(db, orgId)).toEqual({
      deletedOrg: 1,
      eventFile: 1,
      pageFile: 1,
      rollupFile: 1,
      signalAlert: 1,
      importedFile: 1,
    })
    expect(rowsOf(db, mallory.orgId)).toEqual(others)
    expect(told).toEqual([`deleted ${orgId}`])
  })

  test('ends the access of users who belong to no other organization', async () => {
    const { db, clock, call, cast } = setUp()
    addMember(db, clock, { orgId: cast.mallory.orgId, userId: cast.bob.userId, role: 'viewer' })
    const sessions = [cast.vera, cast.bob].map(({ userId }) => openSession(db, clock, userId, 'password').token)
    expect((await call('DELETE', '/v1/org?name=Acme', { as: cast.alice.key })).status).toBe(200)
    const statuses = await Promise.all(
      [cast.vera.key, cast.bob.key, ...sessions, cast.mallory.key].map(
        async (as) => (await call('GET', '/v1/org', { as })).status,
      ),
    )
    expect(statuses).toEqual([401, 401, 401, 200, 200])
  })

  test.each(['acme', 'Acme ', '', 'Mallory and Sons'])('requires the exact name and rejects %j', async (name) => {
    const { call, cast, told } = setUp()
    const answer = await call('DELETE', `/v1/org?name=${encodeURIComponent(name)}`, { as: cast.alice.key })
    expect([answer.status, answer.body.error.split(': ')[0]]).toEqual([400, 'query.name'])
    expect(told).toEqual([])
  })

  test('is rejected for the only organization', async () => {
    const { call, cast } = setUp()
    expect((await call('DELETE', '/v1/org?name=Acme', { as: cast.alice.key })).status).toBe(200)
    const last = await call('DELETE', '/v1/org?name=Mallory%20and%20Sons', { as: cast.mallory.key })
    expect(last.status).toBe(409)
    expect((await call('GET', '/v1/org', { as: cast.mallory.key })).status).toBe(200)
  })
})

test('the webhook secret is hidden from a read-only key of an owner', async () => {
  const { call, cast } = setUp()
  const secretFor = async (as: string) => (await call('GET', '/v1/org', { as })).body.webhookSecret
  expect(await secretFor(cast.alice.key)).toMatch(/^whsec_/)
  expect(await secretFor(cast.keys.readOnly)).toBeNull()
})
