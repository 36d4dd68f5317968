import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { type EventFields, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import type { Series } from './series.ts'
import { readRowCounts, rowCountsQuery } from './series-counts.ts'

const name = { orgId: 'org_1', domainId: 'dom_1', timezone: 'UTC' }
const SERIES: Omit<Series, 'stepMs'>[] = [
  { ...name, vendor: null, event: null },
  { ...name, vendor: 'Shop', event: null },
  { ...name, vendor: 'Shop', event: "it's" },
  { ...name, vendor: 'Shop', event: '' },
  { ...name, vendor: 'Other', event: 'view' },
  { ...name, vendor: 'Nobody', event: null },
  { ...name, domainId: 'dom_2', vendor: null, event: null },
]

const anEvent = fc.record({
  orgId: fc.constantFrom('org_1', 'org_1', 'org_2'),
  domainId: fc.constantFrom('dom_1', 'dom_2'),
  vendor: fc.constantFrom('Shop', 'Other'),
  event: fc.constantFrom('view', "it's", ''),
  env: fc.constantFrom('prod', 'dev'),
  weight: fc.constantFrom(1, 2, 10 / 3),
  kind: fc.constantFrom<NonNullable<EventFields['kind']>>('event', 'event', 'library'),
})
const traffic = fc.array(
  fc.record({ afterMs: fc.nat({ max: 40 * MINUTE_MS }), events: fc.array(anEvent, { minLength: 1, maxLength: 4 }) }),
  { minLength: 3, maxLength: 14 },
)

test('the rows of several series contain the counts of the series’ events', async () => {
  await fc.assert(
    fc.asyncProperty(
      traffic,
      fc.constantFrom(60, 30, 15, 10, 5, 1),
      fc.constantFrom(0, 15, 30),
      fc.nat({ max: 59 }),
      async (sent, stepMinutes, offsetMinutes, endMinutes) => {
        await using fixture = await WarehouseFixture.open()
        const stepMs = stepMinutes * MINUTE_MS
        const from = fixture.clock.now() + offsetMinutes * MINUTE_MS - 2 * HOUR_MS
        for (const [index, { afterMs, events }] of sent.entries()) {
          fixture.clock.advance(afterMs + SECOND_MS)
          for (const event of events) await fixture.add([event])
          if (index % 4 === 2) await fixture.flush()
        }
        const to = Math.floor(fixture.clock.now() / HOUR_MS) * HOUR_MS + endMinutes * MINUTE_MS
        const [first, ...rest] = SERIES.map((series) => ({ ...series, stepMs }))
        if (!first || to <= from) return
        const series: [Series, ...Series[]] = [first, ...rest]
        const span = { from, to }
        const counts = readRowCounts(await fixture.warehouse.query(rowCountsQuery(series, span)), series, span)
        for (const [place, one] of series.entries()) {
          const own = fixture.events.filter(
            (event) =>
              event.kind !== 'library' &&
              (['orgId', 'domainId', 'vendor', 'event'] as const).every(
                (of) => one[of] === null || one[of] === event[of],
              ),
          )
          for (let start = from; start < to; start += stepMs) {
            const inRow = (until: Instant) =>
              own.filter(({ receivedAt }) => receivedAt >= start && receivedAt < Math.min(until, start + stepMs, to))
            const rows = inRow(to)
            const got = counts[place] ?? null
            expect(got?.weightAt(start) ?? 0).toBeCloseTo(
              rows.reduce((sum, { weight }) => sum + weight, 0),
              5,
            )
            expect(got?.eventsAt(start) ?? 0).toBe(rows.length)
            for (let end = start; end <= start + stepMs; end += 5 * MINUTE_MS) {
              const last = inRow(end).at(-1)
              const expected = last ? (Math.floor(last.receivedAt / MINUTE_MS) + 1) * MINUTE_MS : null
              expect(got?.lastEventAt(start, end) ?? null).toBe(expected)
            }
          }
        }
      },
    ),
    { numRuns: 20 },
  )
})
