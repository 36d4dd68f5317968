import { describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import { HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { insightDeps } from './insight-deps.fixture.ts'
import { insightRoutes } from './routes.ts'
import { silentLibraries } from './silent-libraries.ts'

async function setUp(fixture: WarehouseFixture) {
  const [db, clock] = [memoryDb(), testClock(HOUR)]
  const people = cast(db, clock)
  const domainId = createDomain(db, clock, people.orgId, { name: 'Shop' })
  const deps = insightDeps({ db, clock, warehouse: fixture.warehouse })
  const call = client({ db, clock }, ...insightRoutes(deps, [silentLibraries]))
  return { clock, people, domainId, call, path: `/v1/domains/${domainId}/silent-libraries` }
}

describe('libraries without events', () => {
  test("are listed if none of their vendor's events was received in this domain in the last 24 hours", async () => {
    await using fixture = await WarehouseFixture.open()
    const { people, domainId, call, path, clock } = await setUp(fixture)
    const at = {
      receivedAt: HOUR - HOUR_MS,
      orgId: people.orgId,
      domainId,
      event: '',
    }
    const load = { ...at, kind: 'library' as const }
    const [old, late] = [{ receivedAt: HOUR - 25 * HOUR_MS }, { receivedAt: at.receivedAt + 5 }]
    await fixture.add([
      { ...load, ...old, vendor: 'Umami' },
      { ...load, vendor: 'PostHog' },
      { ...load, ...late, vendor: 'PostHog' },
      // An event in another domain, and a hit without an event name.
      { ...at, domainId: 'dom_other', vendor: 'PostHog', event: 'purchase' },
      { ...load, vendor: 'Segment' },
      { ...at, vendor: 'Segment', kind: 'hit' },
      // The vendor's events are captured.
      { ...load, vendor: 'Mixpanel' },
      { ...at, vendor: 'Mixpanel', event: 'purchase' },
      // The vendor's tags send events to other vendors.
      { ...load, vendor: 'Google Tag Manager' },
      { ...load, vendor: 'ann@shop.example' },
      { ...load, domainId: 'dom_other', vendor: 'Plausible' },
    ])
    await fixture.flush()
    clock.set(HOUR)
    const { status, body } = await call('GET', path, { as: people.vera.key })
    expect(status).toBe(200)
    expect(body).toEqual({
      windowHours: 24,
      libraries: [
        { vendor: 'PostHog', loads: 2, lastAt: at.receivedAt + 5 },
        { vendor: 'Segment', loads: 1, lastAt: at.receivedAt },
      ],
    })
  })

  test("form an empty list without any data, and another organization's domain is not found", async () => {
    await using fixture = await WarehouseFixture.open()
    const { people, call, path } = await setUp(fixture)
    expect((await call('GET', path, { as: people.vera.key })).body).toEqual({ windowHours: 24, libraries: [] })
    expect((await call('GET', '/v1/domains/dom_0/silent-libraries', { as: people.vera.key })).status).toBe(404)
  })
})
