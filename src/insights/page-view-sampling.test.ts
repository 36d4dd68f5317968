import { describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { pageViewRoutes } from '../domains/page-view-sampling-routes.ts'
import { createDomain } from '../domains/store.ts'
import { HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { insights } from './index.ts'
import { insightDeps } from './insight-deps.fixture.ts'
import { insightRoutes } from './routes.ts'

async function setUp(fixture: WarehouseFixture) {
  const [db, clock] = [memoryDb(), testClock(HOUR)]
  const people = cast(db, clock)
  const { orgId } = people
  const id = createDomain(db, clock, orgId, { name: 'Shop' })
  let changes = 0
  const publicUrl = 'https://watch.example'
  const routes = [
    ...insightRoutes(insightDeps({ db, clock, warehouse: fixture.warehouse }), insights),
    ...pageViewRoutes({
      db,
      clock,
      publicUrl,
      collectUrl: publicUrl,
      isEndpointLocked: false,
      openIssues: () => ({}),
      lastOrders: () => ({}),
      changed: () => void changes++,
    }),
  ]
  const call = client({ db, clock }, ...routes)
  const path = `/v1/domains/${id}/page-view-sampling`
  return { db, clock, people, orgId, id, call, path, changes: () => changes }
}

describe('page-view sampling', () => {
  test('reports the number of page views per hour', async () => {
    await using fixture = await WarehouseFixture.open()
    const { clock, people, orgId, id, call, path } = await setUp(fixture)
    const start = HOUR - 7 * DAY_MS
    // 20 hours without page views, 100 hours with two, and 48 hours with five. Other domains and other event names do
    // not count.
    for (let n = 0; n < 168; n++) {
      const views = n < 20 ? 0 : n < 120 ? 2 : 5
      const at = { receivedAt: start + n * HOUR_MS, orgId, domainId: id }
      await fixture.add([
        ...Array.from({ length: views }, () => ({ ...at, vendor: 'A', event: 'page_view' })),
        { ...at, vendor: 'A', event: 'purchase' },
        { ...at, domainId: 'dom_other', vendor: 'B', event: 'page_view' },
      ])
    }
    await fixture.flush()
    clock.set(HOUR)
    const { status, body } = await call('GET', path, { as: people.vera.key })
    expect(status).toBe(200)
    expect(body).toEqual({
      available: true,
      canEdit: false,
      supported: true,
      devRate: 1,
      prodRate: 1,
      rates: [1, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01],
      eligible: [{ vendor: 'A', event: 'page_view' }],
      pageViewsPerHour: { quiet: 0, typical: 2 },
    })
  })

  test('can be configured for each environment by users with permission', async () => {
    await using fixture = await WarehouseFixture.open()
    const { people, call, path, changes } = await setUp(fixture)
    const put = (as: string, body: unknown) => call('PUT', path, { as, body })
    expect((await put(people.bob.key, { prodRate: 0.5 })).status).toBe(403)
    expect((await put(people.mallory.key, { prodRate: 0.5 })).status).toBe(404)
    expect((await put(people.ada.key, { prodRate: 0.5 })).body).toEqual({ devRate: 1, prodRate: 0.5 })
    expect((await put(people.ada.key, { devRate: 0.1 })).body).toEqual({ devRate: 0.1, prodRate: 0.5 })
    expect(changes()).toBe(2)
    for (const body of [{ prodRate: 0 }, { prodRate: 0.3 }, { prodRate: 2 }, { devRate: '1' }, { rate: 1 }]) {
      expect((await put(people.ada.key, body)).status).toBe(400)
    }
    const { body } = await call('GET', path, { as: people.ada.key })
    expect(body).toMatchObject({ available: false, canEdit: true, devRate: 0.1, prodRate: 0.5, eligible: [] })
    expect(body.pageViewsPerHour).toEqual({ quiet: 0, typical: 0 })
  })
})
