import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { SECOND_MS } from '../core/clock.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'
import { IngestRates } from './ingest-rates.ts'

const START = Date.UTC(2026, 0, 5, 12)

test('an organization without events since startup reports the stored time of its last event', () => {
  const counts = new IngestRates((orgId) => (orgId === 'org_1' ? 7 : null))
  counts.add('org_1', START, 0)
  expect(counts.of('org_1', START)).toEqual({ lastStoredAt: 7, eventsPerMinute: 0 })
  expect(counts.of('org_2', START)).toEqual({ lastStoredAt: null, eventsPerMinute: 0 })
  counts.add('org_1', START, 3)
  expect(counts.of('org_1', START)).toEqual({ lastStoredAt: START, eventsPerMinute: 3 })
  expect(counts.of('org_2', START)).toEqual({ lastStoredAt: null, eventsPerMinute: 0 })
})

test('only events of the last 60 seconds are counted', () => {
  const batch = fc.record({
    after: fc.integer({ min: 0, max: 90 * SECOND_MS }),
    events: fc.integer({ min: 1, max: 9 }),
  })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 30 }), fc.nat(90 * SECOND_MS), (batches, later) => {
      const counts = new IngestRates(() => null)
      let at = START
      const stored = batches.map(({ after, events }) => {
        at += after
        counts.add('org_1', at, events)
        return { second: Math.floor(at / SECOND_MS), events }
      })
      const now = at + later
      const first = Math.floor(now / SECOND_MS) - 59
      const expected = stored.reduce((sum, { second, events }) => (second >= first ? sum + events : sum), 0)
      expect(counts.of('org_1', now)).toEqual({
        lastStoredAt: stored.length > 0 ? at : null,
        eventsPerMinute: expected,
      })
    }),
  )
})

test('events of other processes are added in any order, and do not make this process a receiver', () => {
  const counts = new IngestRates(() => null)
  counts.addOther('org_1', START + 61 * SECOND_MS, 5)
  counts.addOther('org_1', START + SECOND_MS, 100)
  counts.addOther('org_1', START + 30 * SECOND_MS, 2)
  const now = START + 61 * SECOND_MS
  expect(counts.of('org_1', now)).toEqual({ lastStoredAt: now, eventsPerMinute: 7 })
  counts.add(INTERNAL_ORG_ID, now, 1)
  expect(counts.isReceiving(now)).toBe(false)
  counts.add('org_1', now, 1)
  counts.addOther('org_1', now + 1, 1)
  expect([counts.isReceiving(now), counts.isReceiving(now + 60 * SECOND_MS)]).toEqual([true, false])
})

test('a clock that is set back leaves no events in the future', () => {
  const counts = new IngestRates(() => null)
  counts.add('org_1', START, 5)
  expect(counts.of('org_1', START - 10 * SECOND_MS).eventsPerMinute).toBe(0)
  counts.add('org_1', START - 10 * SECOND_MS, 2)
  expect(counts.of('org_1', START - 10 * SECOND_MS)).toEqual({
    lastStoredAt: START - 10 * SECOND_MS,
    eventsPerMinute: 2,
  })
})
