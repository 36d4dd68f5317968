import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import type { VendorSighting } from '../domains/record-sightings.ts'
import { createDomain, deleteDomain, findDomain, listHostnames, setHostnameStatus } from '../domains/store.ts'
import { tx } from '../store/database.ts'
import { hashOf } from './batch-hash.ts'
import { recordSegment } from './record-segment.ts'
import { SeenBatches } from './seen-batches.ts'
import { BatchLog } from './segment-batches.ts'
import type { SegmentCount } from './segment-counts.ts'
import type { BatchRecord } from './segment-file.ts'

function setUp() {
  const [db, clock] = [memoryDb(), testClock()]
  const { orgId } = cast(db, clock)
  const shop = { orgId, id: createDomain(db, clock, orgId, { name: 'Shop' }) }
  const memory = new SeenBatches(db, clock)
  const record = (
    batches: readonly BatchRecord[],
    counts: readonly SegmentCount[],
    vendors: readonly VendorSighting[] = [],
  ) => tx(db, () => recordSegment(db, memory, BatchLog.of(batches), { counts, vendors }))
  const countOf = (values: Partial<SegmentCount> = {}): SegmentCount => ({
    orgId,
    domainId: shop.id,
    host: 'a.example',
    hour: clock.now(),
    events: 1,
    lastReceivedAt: clock.now(),
    lastVersion: null,
    ...values,
  })
  const batchOf = (ledger: BatchRecord['ledger'], receivedAt: Instant = clock.now()): BatchRecord => ({
    key: null,
    orgId,
    domainId: shop.id,
    receivedAt,
    answer: { accepted: 0, rejected: 0, errors: [] },
    ledger,
  })
  const domain = () => findDomain(db, shop, clock.now())
  const hostnames = () => listHostnames(db, shop, { limit: 100 }, clock.now()).items
  const ledger = () => db.prepare('SELECT reason, count, sample, firstSeenAt, lastSeenAt FROM rejection').all()
  const usage = () => db.prepare<[], number>('SELECT ifnull(sum(events), 0) FROM usage').pluck().get()
  return { db, clock, shop, record, countOf, batchOf, domain, hostnames, ledger, usage }
}

describe('the records of a segment', () => {
  test('are summed by domain, hour and host, regardless of the order of segments', () => {
    const aCount = fc.record({
      host: fc.constantFrom(null, 'a.example', 'b.example'),
      hours: fc.nat(3),
      events: fc.integer({ min: 1, max: 1000 }),
    })
    fc.assert(
      fc.property(fc.array(fc.array(aCount, { maxLength: 4 }), { maxLength: 5 }), (segments) => {
        const { clock, record, countOf, hostnames, usage, domain } = setUp()
        const start = clock.now()
        clock.advance(4 * HOUR_MS)
        for (const counts of segments) {
          record(
            [],
            counts.map(({ hours, ...count }) => {
              const hour = start + hours * HOUR_MS
              return countOf({ ...count, hour, lastReceivedAt: hour })
            }),
          )
        }
        const all = segments.flat()
        const sum = (some: typeof all) => some.reduce((events, count) => events + count.events, 0)
        expect(usage()).toBe(sum(all))
        expect(domain().events24h).toBe(sum(all))
        expect(domain().lastEventAt).toBe(
          all.length > 0 ? start + Math.max(...all.map(({ hours }) => hours)) * HOUR_MS : null,
        )
        const hosts = new Set(all.flatMap(({ host }) => host ?? []))
        expect(hostnames().map(({ hostname, events24h }) => [hostname, events24h])).toEqual(
          [...hosts].sort().map((host) => [host, sum(all.filter((count) => count.host === host))]),
        )
      }),
      { numRuns: 40 },
    )
  })

  test('show when a hostname was first and last seen, and preserve its status', () => {
    const { db, clock, shop, record, countOf, hostnames } = setUp()
    setHostnameStatus(db, shop, 'a.example', 'approved')
    const first = clock.now()
    record([], [countOf(), countOf({ host: 'b.example' })])
    clock.advance(HOUR_MS)
    record([], [countOf()])
    const told = hostnames().map(({ hostname, status, firstSeenAt, lastSeenAt }) => [
      hostname,
      status,
      firstSeenAt,
      lastSeenAt,
    ])
    expect(told).toEqual([
      ['a.example', 'approved', first, first + HOUR_MS],
      ['b.example', 'unreviewed', first, first],
    ])
  })

  test("set a domain's version to the latest one, even if it is lower, but never back to null", () => {
    const { record, countOf, domain } = setUp()
    const versions = []
    for (const lastVersion of [null, 7, null, 6.5, 8]) {
      record([], [countOf({ lastVersion })])
      versions.push(domain().prodVersion)
    }
    expect(versions).toEqual([null, 7, 7, 6.5, 8])
    record([], [countOf({ lastVersion: 9 }), countOf({ host: 'b.example', lastVersion: 3 }), countOf({ host: null })])
    expect(domain().prodVersion).toBe(3)
  })

  test('have the same final result if a segment that failed is recorded after later ones', () => {
    const statesOf = (order: readonly number[]) => {
      const { db, clock, shop, record, countOf, batchOf, ledger, domain, hostnames } = setUp()
      const start = clock.now()
      clock.advance(4 * HOUR_MS)
      for (const n of order) {
        const [receivedAt, hour] = [start + n * HOUR_MS + 5, start + n * HOUR_MS]
        const said = { hour, lastVersion: n + 1 }
        const counts = [
          countOf({ ...said, lastVersion: null, lastReceivedAt: receivedAt }),
          countOf({ ...said, lastReceivedAt: receivedAt - 1, host: 'b.example' }),
        ]
        const vendors = [{ domainId: shop.id, vendor: 'Shop', lastReceivedAt: receivedAt }]
        record([batchOf([{ reason: 'r', count: 1, sample: `sample ${n}` }], receivedAt)], counts, vendors)
      }
      const { lastEventAt, prodVersion } = domain()
      const seen = hostnames().map(({ firstSeenAt, lastSeenAt }) =>
        [firstSeenAt, lastSeenAt].map((at) => (at ?? 0) - start),
      )
      const vendors = db.prepare<[], number>('SELECT lastSeenAt FROM domainVendor').pluck().all()
      const note = ledger().map((row) =>
        Object.values(row as object).map((v) => (typeof v === 'number' && v > start ? v - start : v)),
      )
      return {
        lastEventAt: (lastEventAt ?? 0) - start,
        prodVersion,
        seen,
        vendors: vendors.map((at) => at - start),
        note,
      }
    }
    const inOrder = statesOf([0, 1, 2])
    expect(inOrder).toMatchObject({ prodVersion: 3, lastEventAt: 2 * HOUR_MS + 5, vendors: [2 * HOUR_MS + 5] })
    for (const order of ['021', '102', '120', '201', '210']) expect(statesOf([...order].map(Number))).toEqual(inOrder)
  })

  test("never move the time of a domain's last event back", () => {
    const { clock, record, countOf, domain } = setUp()
    const now = clock.now()
    record([], [countOf({ lastReceivedAt: now }), countOf({ host: 'b.example', lastReceivedAt: now - 1 })])
    expect(domain().lastEventAt).toBe(now)
  })
})

describe('the ledger', () => {
  test('counts by reason, with the latest sample and the times of the first and last occurrence', () => {
    const { clock, record, batchOf, ledger } = setUp()
    const first = clock.now()
    const late = { reason: 'late', count: 2, sample: '' }
    record(
      [batchOf([{ reason: 'r', count: 2, sample: 'a' }, late]), batchOf([{ reason: 'r', count: 3, sample: 'b' }])],
      [],
    )
    clock.advance(HOUR_MS)
    record([batchOf([{ reason: 'r', count: 1, sample: 'c' }])], [])
    expect(ledger()).toEqual([
      { reason: 'r', count: 6, sample: 'c', firstSeenAt: first, lastSeenAt: first + HOUR_MS },
      { ...late, firstSeenAt: first, lastSeenAt: first },
    ])
  })
})

test('only usage is counted for a domain that has been deleted in the meantime', () => {
  const { db, shop, record, countOf, batchOf, ledger, usage } = setUp()
  deleteDomain(db, shop)
  record([batchOf([{ reason: 'r', count: 1, sample: '' }])], [countOf({ events: 5, lastVersion: 1 })])
  expect(usage()).toBe(5)
  expect(ledger()).toEqual([])
  expect(db.prepare('SELECT count(*) FROM hostname').pluck().get()).toBe(0)
})

test('no changes are saved when the transaction fails', () => {
  const { db, clock, countOf, batchOf, ledger, usage } = setUp()
  const memory = new SeenBatches(db, clock)
  const batch = { ...batchOf([{ reason: 'r', count: 1, sample: '' }]), key: 'dom_1 batch-1' }
  expect(() =>
    tx(db, () => {
      recordSegment(db, memory, BatchLog.of([batch]), { counts: [countOf()], vendors: [] })
      throw new Error('killed')
    }),
  ).toThrow('killed')
  expect([usage(), ledger(), memory.answerOf(hashOf('dom_1 batch-1'))]).toEqual([0, [], null])
})
