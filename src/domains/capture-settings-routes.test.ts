import { expect, test } from 'bun:test'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { domainDirectory } from './domain-directory.ts'
import { domainRoutes } from './routes.ts'
import { createDomain } from './store.ts'

function setUp() {
  const [db, clock] = [memoryDb(), testClock()]
  const people = cast(db, clock)
  const directory = domainDirectory({ db, clock })
  const routes = domainRoutes({
    db,
    clock,
    collectUrl: 'https://collect.example',
    publicUrl: 'https://tags.example',
    isEndpointLocked: false,
    openIssues: () => ({}),
    lastOrders: () => ({}),
    changed: () => directory.invalidate(),
  })
  const call = client({ db, clock }, ...routes)
  const id = createDomain(db, clock, people.orgId, { name: 'Shop' })
  const path = `/v1/domains/${id}/capture`
  const get = async () => (await call('GET', path, { as: people.vera.key })).body
  const put = (body: unknown, as = people.ada.key) => call('PUT', path, { as, body })
  const known = async () => {
    const { body } = await call('GET', `/v1/domains/${id}`, { as: people.ada.key })
    return directory.byToken(body.token)?.capture
  }
  return { people, id, call, get, put, known }
}

const DEFAULTS = { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' } as const

test('capture is enabled for all events by default, and omitted fields stay unchanged', async () => {
  const { get, put, known } = setUp()
  expect([await get(), await known()]).toEqual([DEFAULTS, DEFAULTS])
  const settings: Record<string, unknown> = { ...DEFAULTS }
  for (const [change, result] of [
    [{ enabled: false }, { enabled: false }],
    [{ sampleRate: { prod: 0.1 } }, { sampleRate: { prod: 0.1, dev: 1 } }],
    [{ sampleRate: { dev: 0 } }, { sampleRate: { prod: 0.1, dev: 0 } }],
    [{ sessionMode: 'customer' }, { sessionMode: 'customer' }],
    [{}, {}],
    [{ enabled: true }, { enabled: true }],
  ]) {
    Object.assign(settings, result)
    expect(await put(change)).toMatchObject({ status: 200, body: settings })
    expect<unknown>([await get(), await known()]).toEqual([settings, settings])
  }
})

test('replacing the settings of a domain does not change its capture settings', async () => {
  const { people, id, call, get, put } = setUp()
  await put({ enabled: false })
  await call('PUT', `/v1/domains/${id}`, { as: people.ada.key, body: { name: 'Other' } })
  expect(await get()).toMatchObject({ enabled: false })
})

test('changing capture settings requires permission in the same organization', async () => {
  const { people, get, put } = setUp()
  const change = { enabled: false }
  expect((await put(change, people.bob.key)).status).toBe(403)
  expect((await put(change, people.mallory.key)).status).toBe(404)
  expect(await get()).toEqual(DEFAULTS)
})

test.each([
  { sampleRate: 0.5 },
  { sampleRate: { prod: 0.3 } },
  { sampleRate: { prod: 2 } },
  { sampleRate: { prod: -1 } },
  { sampleRate: { stage: 1 } },
  { sessionMode: 'cookie' },
  { enabled: 'yes' },
  { kill: true },
])('the capture settings %j are rejected', async (change) => {
  const { get, put } = setUp()
  expect((await put(change)).status).toBe(400)
  expect(await get()).toEqual(DEFAULTS)
})
