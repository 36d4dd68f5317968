import { describe, expect, test } from 'bun:test'
import {
  CALLERS,
  type Caller,
  cast,
  client,
  credentialsOf,
  memoryDb,
  TEST_START,
  testClock,
} from '../../test/fixtures.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { createProject } from '../domains/project-store.ts'
import { createDomain } from '../domains/store.ts'
import { MAX_WINDOWS } from './maintenance.ts'
import { maintenanceRoutes } from './routes.ts'
import { windowsInForce } from './store.ts'

const NOW = TEST_START
const valid = { name: 'Deploy', from: NOW - HOUR_MS, to: NOW + HOUR_MS, timezone: 'Europe/Berlin' }

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const changed: string[] = []
  const call = client({ db, clock }, ...maintenanceRoutes({ db, clock, changed: (orgId) => changed.push(orgId) }))
  const create = (body: unknown, as = people.bob.key) => {
    clock.advance(1)
    return call('POST', '/v1/maintenance', { as, body })
  }
  const list = async (as = people.bob.key) => (await call('GET', '/v1/maintenance', { as })).body.maintenance
  return { db, clock, people, orgId: people.orgId, call, create, list, changed }
}

type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
const readers: Expected = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 200 }
const writers: Expected = { viewer: 403, readOnly: 403, member: 200, admin: 200, owner: 200, otherOrg: 404 }
const created: Expected = { viewer: 403, readOnly: 403, member: 201, admin: 201, owner: 201, otherOrg: 201 }

test.each(
  [
    ['GET', '/v1/maintenance', undefined, readers] as const,
    ['POST', '/v1/maintenance', valid, created] as const,
    ['PUT', '/v1/maintenance/{id}', valid, writers] as const,
    ['DELETE', '/v1/maintenance/{id}', undefined, writers] as const,
  ].flatMap(([method, path, body, expected]) =>
    CALLERS.map((caller) => [method, path, body, caller, expected[caller as keyof Expected] ?? 401] as const),
  ),
)('%s %s %j as %s: %i', async (method, path, body, caller, status) => {
  const { db, call, create, people } = setUp()
  const { id } = (await create({ ...valid, name: 'Before' })).body
  const dump = () => JSON.stringify(db.prepare('SELECT * FROM maintenance').all())
  const before = dump()
  const answer = await call(method, path.replace('{id}', id), { as: credentialsOf(people)[caller], body })
  expect(answer.status).toBe(status)
  if (status >= 400) expect(dump()).toBe(before)
  if (caller === 'otherOrg' && method === 'GET') expect(answer.body.maintenance).toEqual([])
})

test('a window is created, replaced and deleted, and shows when it is in force', async () => {
  const { call, create, list, people, orgId, changed, clock } = setUp()
  const made = await create({ ...valid, rrule: 'FREQ=DAILY' })
  const first = { from: valid.from, to: valid.to }
  expect(made).toMatchObject({
    status: 201,
    body: { ...valid, rrule: 'FREQ=DAILY', domainIds: null, projectId: null, vendors: null, inForceUntil: valid.to },
  })
  expect(made.body.nextOccurrences).toEqual(
    [0, 1, 2, 3, 4].map((day) => ({ from: first.from + day * DAY_MS, to: first.to + day * DAY_MS })),
  )
  clock.set(valid.to)
  expect(await list()).toMatchObject([{ id: made.body.id, inForceUntil: null }])
  const { id, createdAt: _at, inForceUntil: _until, nextOccurrences: _next, ...same } = made.body
  const path = `/v1/maintenance/${id}`
  const replaced = await call('PUT', path, { as: people.bob.key, body: { ...same, name: 'Renamed', rrule: null } })
  expect(replaced).toMatchObject({ status: 200, body: { name: 'Renamed', rrule: null, nextOccurrences: [] } })
  expect((await call('DELETE', path, { as: people.bob.key })).body).toEqual({ ok: true })
  expect((await call('DELETE', path, { as: people.bob.key })).status).toBe(404)
  expect(await list()).toEqual([])
  expect(changed).toEqual([orgId, orgId, orgId])
})

test('the next occurrences of a window are shown without saving it', async () => {
  const { call, list, people, clock } = setUp()
  const { name: _, ...times } = valid
  const preview = (body: object) => call('POST', '/v1/maintenance/preview', { as: people.vera.key, body })
  const day = (days: number) => ({ from: times.from + days * DAY_MS, to: times.to + days * DAY_MS })
  expect((await preview({ ...times, rrule: 'FREQ=DAILY;COUNT=3' })).body).toEqual({
    nextOccurrences: [day(0), day(1), day(2)],
  })
  clock.set(times.to)
  expect((await preview(times)).body).toEqual({ nextOccurrences: [] })
  expect(await preview({ ...times, rrule: 'FREQ=SECONDLY' })).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^rrule: /) },
  })
  expect((await preview({ ...times, to: times.from })).body.error).toBe('to: must be after `from`')
  expect(await list()).toEqual([])
})

test.each<[string, object]>([
  ['name: must not be empty', { name: '' }],
  ['name: must not be blank', { name: '  ' }],
  ['name: must be a string', { name: 5 }],
  ['to: must be after `from`', { to: valid.from }],
  ['to: must be at most 30 days after `from`', { to: valid.from + 30 * DAY_MS + 1 }],
  ['to: must be a whole number', { to: 1.5 }],
  ['to: is missing', { to: undefined }],
  ['from: must be after 2000 and at most 5 years ahead', { from: 0, to: HOUR_MS }],
  ['from: must be after 2000 and at most 5 years ahead', { from: NOW + 2000 * DAY_MS, to: NOW + 2001 * DAY_MS }],
  ['timezone: Mars/Base is not a known time zone; use a name such as Europe/Berlin', { timezone: 'Mars/Base' }],
  ['timezone: is missing', { timezone: undefined }],
  ['domainIds[0]: no such domain', { domainIds: ['dom_none'] }],
  ['domainIds: must have at least one item', { domainIds: [] }],
  ['projectId: no such project', { projectId: 'prj_none' }],
  ['vendors: must have at least one item', { vendors: [] }],
  ['vendors[0]: must not be empty', { vendors: [''] }],
  ['rrule: FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY', { rrule: 'FREQ=SECONDLY' }],
  ['rrule: the window would begin again before it has ended', { rrule: 'FREQ=DAILY', to: NOW + 2 * DAY_MS }],
  ['colour: there is no such field', { colour: 'red' }],
])('%s', async (error, values) => {
  const { create, list } = setUp()
  expect(await create({ ...valid, ...values })).toMatchObject({ status: 400, body: { error } })
  expect(await list()).toEqual([])
})

test("another organization's domains and projects are rejected", async () => {
  const { db, clock, create, people } = setUp()
  const other = people.mallory.orgId
  const domainId = createDomain(db, clock, other, { name: 'Theirs' })
  const { id: projectId } = createProject(db, clock, other, { name: 'Theirs' })
  expect((await create({ ...valid, domainIds: [domainId] })).body.error).toBe('domainIds[0]: no such domain')
  expect((await create({ ...valid, projectId })).body.error).toBe('projectId: no such project')
})

test(`an organization has at most ${MAX_WINDOWS} windows`, async () => {
  const { create } = setUp()
  for (let count = 0; count < MAX_WINDOWS; count++) expect((await create(valid)).status).toBe(201)
  expect((await create(valid)).status).toBe(409)
})

describe('a window selects issues', () => {
  test.each<[string, 'all' | 'shop' | 'project' | 'vendor' | 'both', string, string | null, boolean]>([
    ['of any domain', 'all', 'shop', null, true],
    ['of its domain', 'shop', 'shop', 'GA4', true],
    ['of another domain', 'shop', 'blog', 'GA4', false],
    ["of its project's domain", 'project', 'shop', null, true],
    ['of a domain outside its project', 'project', 'blog', null, false],
    ['of its vendor', 'vendor', 'blog', 'GA4', true],
    ['of another vendor', 'vendor', 'blog', 'Meta', false],
    ['of several vendors', 'vendor', 'blog', null, false],
    ['of its domain and vendor', 'both', 'shop', 'GA4', true],
    ['of its vendor on another domain', 'both', 'blog', 'GA4', false],
  ])('%s', async (_name, kind, domain, vendor, expected) => {
    const { db, clock, create, orgId } = setUp()
    const ids = { shop: createDomain(db, clock, orgId, { name: 'Shop' }), blog: '' }
    ids.blog = createDomain(db, clock, orgId, { name: 'Blog' })
    const { id: projectId } = createProject(db, clock, orgId, { name: 'Shops', domainIds: [ids.shop] })
    const filters = {
      all: {},
      shop: { domainIds: [ids.shop] },
      project: { projectId },
      vendor: { vendors: ['GA4'] },
      both: { domainIds: [ids.shop], vendors: ['GA4'] },
    }[kind]
    await create({ ...valid, ...filters })
    const domainId = ids[domain as 'shop' | 'blog']
    const found = windowsInForce(db, orgId, clock.now())({ domainId, vendor })
    expect(found?.until ?? null).toBe(expected ? valid.to : null)
    expect(windowsInForce(db, orgId, valid.to)({ domainId, vendor })).toBeNull()
  })

  test('and of several, the one that ends last is named', async () => {
    const { db, orgId, create } = setUp()
    await create(valid)
    await create({ ...valid, name: 'Longer', to: valid.to + 1 })
    const found = windowsInForce(db, orgId, NOW)({ domainId: null, vendor: null })
    expect(found).toMatchObject({ name: 'Longer', until: valid.to + 1 })
  })
})
