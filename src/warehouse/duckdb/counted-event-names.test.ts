import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cast } from '../../../test/fixtures.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { createDomain, deleteDomain } from '../../domains/store.ts'
import { type EventFields, HOUR, WarehouseFixture } from '../warehouse.fixture.ts'
import { admitNames, MAX_NAMES, type NameCount } from './counted-event-names.ts'

const TODAY = Math.floor(HOUR / DAY_MS)
const nameOf = (event: string, events = 1, day = TODAY): NameCount => ({
  domainId: 'dom_1',
  vendor: 'V',
  event,
  events,
  lastReceivedAt: day * DAY_MS,
})
const keyOf = (event: string) => `V\0${event}`
const places = (...all: [event: string, events: number, lastDay: number][]) =>
  new Map(all.map(([event, events, lastDay]) => [keyOf(event), { vendor: 'V', events, lastDay }]))
/** Returns names that use all slots, each with these totals. */
const full = (events: number, lastDay: number) =>
  places(...Array.from({ length: MAX_NAMES }, (_, at): [string, number, number] => [`e${at}`, events, lastDay]))

describe('a slot for a tracked name', () => {
  test('is assigned to every name while slots are free, then to those with the most events', () => {
    const flood = Array.from({ length: 3 * MAX_NAMES }, (_, at) => nameOf(`e${at}`, at))
    const { entering, leaving } = admitNames(places(['known', 1, TODAY]), flood)
    expect([...entering].map(({ events }) => events)).toEqual(
      Array.from({ length: MAX_NAMES - 1 }, (_, at) => 3 * MAX_NAMES - 1 - at),
    )
    expect(leaving).toEqual([])
  })

  test.each<[string, number, number, boolean]>([
    ['a name with few events, the last of them today', 99, TODAY, false],
    ['a name with few events, the last of them yesterday', 99, TODAY - 1, true],
    ['a name with a hundred events, the last of them 35 days ago', 100, TODAY - 35, false],
    ['a name with a hundred events, the last of them 36 days ago', 100, TODAY - 36, true],
  ])('is freed only if it is needed and its name is inactive: %s', (_, events, lastDay, isFree) => {
    const { entering, leaving } = admitNames(full(events, lastDay), [nameOf('new')])
    expect([entering.size, leaving.length]).toEqual(isFree ? [1, 1] : [0, 0])
    expect(admitNames(full(events, lastDay), [nameOf('e7')])).toEqual({ entering: new Set(), leaving: [] })
  })

  test('is not taken from a recent or an established name', () => {
    const aName = fc.tuple(fc.nat(2 * MAX_NAMES), fc.integer({ min: 1, max: 200 }))
    const aPlace = fc.tuple(fc.nat(2 * MAX_NAMES), fc.nat(100), fc.integer({ min: TODAY - 40, max: TODAY }))
    fc.assert(
      fc.property(
        fc.uniqueArray(aPlace, { selector: ([name]) => name, minLength: 20, maxLength: MAX_NAMES, size: 'max' }),
        fc.uniqueArray(aName, { selector: ([name]) => name, minLength: 1, maxLength: 2 * MAX_NAMES, size: 'max' }),
        (known, came) => {
          const before = places(...known.map(([name, ...rest]): [string, number, number] => [`e${name}`, ...rest]))
          const seen = came.map(([name, events]) => nameOf(`e${name}`, events))
          const { entering, leaving } = admitNames(before, seen)
          const present = new Set(seen.map(({ event }) => keyOf(event)))
          expect(before.size + entering.size - leaving.length).toBeLessThanOrEqual(MAX_NAMES)
          expect(leaving.filter((key) => present.has(key))).toEqual([])
          const established = ([, { events, lastDay }]: [string, { events: number; lastDay: number }]) =>
            events === 100 && lastDay >= TODAY - 35
          expect([...before].filter(established).filter(([key]) => leaving.includes(key))).toEqual([])
          const least = Math.min(...[...entering].map(({ events }) => events))
          const outside = seen.filter((name) => !before.has(keyOf(name.event)) && !entering.has(name))
          for (const { events } of outside) expect(events).toBeLessThanOrEqual(least)
        },
      ),
      { numRuns: 50 },
    )
  })
})

/** Returns a fixture whose database contains a domain. */
async function openFixtureWith() {
  const fixture = await WarehouseFixture.open()
  const { orgId } = cast(fixture.db, fixture.clock)
  const domainId = createDomain(fixture.db, fixture.clock, orgId, { name: 'Shop' })
  const add = async (said: readonly EventFields[]) => {
    await fixture.add(said.map((values) => ({ orgId, domainId, ...values })))
    await fixture.flush()
  }
  const sums = () =>
    fixture.query<{ vendor: string; event: string; events: number; pageViews: number }>(
      `SELECT vendor, event, sum(events)::BIGINT AS events, sum(pageViews) AS pageViews FROM counts
       GROUP BY ALL ORDER BY vendor, event`,
      {},
      { over: 'counts' },
    )
  return { fixture, orgId, domainId, add, sums }
}

const invented = (count: number, of: EventFields = {}): EventFields[] =>
  Array.from({ length: count }, (_, at) => ({ vendor: `v${at}`, event: `e${at}`, ...of }))

describe('names beyond the limit', () => {
  test('are grouped by vendor, or all together without a vendor, and every event is counted once', async () => {
    const { fixture, add, sums } = await openFixtureWith()
    await using _ = fixture
    await add([{ vendor: 'Shop', event: 'purchase' }])
    await add(invented(MAX_NAMES - 1))
    await add([
      ...invented(20, { vendor: 'Shop' }),
      ...invented(30, { vendor: 'Other' }),
      { vendor: 'Shop', event: 'Page_View' },
      { vendor: 'Other', event: 'PAGE_VIEW' },
      { vendor: 'Other', event: 'kept', kind: 'library' },
      { vendor: 'Shop', event: 'purchase' },
      { vendor: 'Shop', event: 'purchase' },
    ])
    const check = async () => {
      const all = await sums()
      expect(all.filter(({ vendor }) => !/^v\d/.test(vendor))).toEqual([
        { vendor: '(other)', event: '(other)', events: 30, pageViews: 0 },
        { vendor: '(other)', event: 'page_view', events: 1, pageViews: 1 },
        { vendor: 'Shop', event: '(other)', events: 20, pageViews: 0 },
        { vendor: 'Shop', event: 'page_view', events: 1, pageViews: 1 },
        { vendor: 'Shop', event: 'purchase', events: 3, pageViews: 0 },
      ])
      expect(all.reduce((sum, { events }) => sum + events, 0)).toBe(fixture.events.length - 1)
    }
    await check()
    await fixture.compactCounts(fixture.clock.now() + 2 * HOUR_MS)
    await check()
    await fixture.compactCounts(fixture.clock.now() + 2 * DAY_MS)
    await check()
    const names = await fixture.query('SELECT DISTINCT vendor, event FROM events')
    expect(names).toHaveLength(MAX_NAMES + 20 + 30 + 3)
  })

  test('are limited per domain', async () => {
    const { fixture, add, sums } = await openFixtureWith()
    await using _ = fixture
    await add(invented(MAX_NAMES + 5))
    await add(invented(3, { domainId: 'dom_neighbour', vendor: 'Theirs' }))
    const all = await sums()
    expect(all.filter(({ vendor }) => vendor === 'Theirs')).toHaveLength(3)
    expect(all.filter(({ event }) => event === '(other)')).toEqual([
      { vendor: '(other)', event: '(other)', events: 5, pageViews: 0 },
    ])
  })

  test('get a slot on the next day, and slots survive a restart', async () => {
    const { fixture, add, sums } = await openFixtureWith()
    await using _ = fixture
    await add(Array.from({ length: 100 }, () => ({ vendor: 'Shop', event: 'purchase' })))
    await add(invented(MAX_NAMES))
    await add([{ vendor: 'New', event: 'sign_up' }])
    await fixture.reopen()
    await add([{ vendor: 'New', event: 'sign_up' }])
    fixture.clock.advance(DAY_MS)
    await add([{ vendor: 'New', event: 'sign_up' }])
    await add(invented(MAX_NAMES, { vendor: 'More' }))
    fixture.clock.advance(MINUTE_MS)
    await add([{ vendor: 'Shop', event: 'purchase' }])
    const all = (await sums()).filter(({ vendor }) => vendor === 'New' || vendor === 'Shop')
    expect(all).toEqual([
      { vendor: 'New', event: 'sign_up', events: 1, pageViews: 0 },
      { vendor: 'Shop', event: 'purchase', events: 101, pageViews: 0 },
    ])
  })

  test('leave no data behind when their domain is deleted', async () => {
    const { fixture, orgId, domainId, add } = await openFixtureWith()
    await using _ = fixture
    await add(invented(10))
    deleteDomain(fixture.db, { orgId, id: domainId })
    await add(invented(10))
    expect(fixture.db.prepare('SELECT count(*) FROM countedName').pluck().get()).toBe(0)
  })
})
