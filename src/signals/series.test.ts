import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { activeSignalsOn, type DailyEvents, dayOf, MAX_SIGNALS } from './active-signals.ts'
import type { Gap } from './gap.ts'
import { GapRows } from './gap-rows.ts'
import { blockAt, blocksOf, rowStart, type Series, stepMsFor, TICK_MS, tickBefore } from './series.ts'

const WEEK_MS = 7 * DAY_MS
const series: Series = {
  orgId: 'org_1',
  domainId: 'dom_1',
  vendor: 'Shop',
  event: 'view',
  stepMs: HOUR_MS,
  timezone: 'UTC',
}

test.each([
  ['1m', 1, 1],
  ['7m', 7, 1],
  ['10m', 10, 10],
  ['15m', 15, 15],
  ['20m', 20, 10],
  ['25m', 25, 5],
  ['45m', 45, 15],
  ['90m', 90, 30],
  ['1h', 60, 60],
  ['3h', 180, 60],
  ['1d', 1440, 60],
  ['4w', 4 * 7 * 1440, 60],
])('windows of %s are divided into rows of whole minutes', (_, minutes, expected) => {
  expect(stepMsFor(minutes * MINUTE_MS)).toBe(expected * MINUTE_MS)
})

const aSeries: fc.Arbitrary<Series> = fc.record({
  orgId: fc.constantFrom('org_1', 'org_2'),
  domainId: fc.string(),
  vendor: fc.option(fc.string()),
  event: fc.option(fc.string()),
  stepMs: fc.constantFrom(60, 30, 15, 10, 5, 1).map((minutes) => minutes * MINUTE_MS),
  offsetMs: fc.constantFrom(0, 15, 30, 45).map((minutes) => minutes * MINUTE_MS),
  timezone: fc.constant('UTC'),
})
const anInstant = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) })

test('every instant is in exactly one block, with enough history before it', () => {
  fc.assert(
    fc.property(aSeries, anInstant, (one, instant) => {
      const block = blockAt(one, instant)
      expect(block.from).toBeLessThanOrEqual(instant)
      expect(block.to).toBeGreaterThan(instant)
      const isLong = one.stepMs >= 15 * MINUTE_MS
      expect(block.to - block.from).toBe(isLong ? 4 * WEEK_MS : WEEK_MS)
      expect(block.from % HOUR_MS).toBe(0)
      const historyMs = block.from - block.anchor - (isLong ? 8 : 4) * WEEK_MS
      expect(historyMs).toBeGreaterThanOrEqual(0)
      expect(historyMs).toBeLessThan(one.stepMs)
      expect(rowStart(one, block.anchor)).toBe(block.anchor)
      expect(blockAt(one, block.from)).toEqual(block)
      expect(blockAt(one, block.to).from).toBe(block.to)
    }),
  )
})

test('the blocks of a time span are adjacent and cover it', () => {
  fc.assert(
    fc.property(aSeries, anInstant, fc.nat({ max: 100 * DAY_MS }), (one, from, lengthMs) => {
      const blocks = blocksOf(one, { from, to: from + lengthMs })
      if (lengthMs === 0) return expect(blocks).toEqual([])
      expect(blocks[0]).toEqual(blockAt(one, from + 1))
      expect(blocks.at(-1)).toEqual(blockAt(one, from + lengthMs))
      for (const [index, block] of blocks.slice(1).entries()) expect(block.from).toBe(blocks[index]?.to ?? 0)
    }),
  )
})

test('blocks of different series end at different hours, for any row length', () => {
  const froms = Array.from({ length: 300 }, (_, n) => blockAt({ ...series, event: `e${n}` }, Date.UTC(2026, 0, 5)).from)
  expect(new Set(froms).size).toBeGreaterThan(200)
  const again = blockAt({ ...series, stepMs: 15 * MINUTE_MS }, Date.UTC(2026, 0, 5))
  expect(again.from).toBe(blockAt(series, Date.UTC(2026, 0, 5)).from)
})

test('rows and ticks begin at multiples of their length plus the offset', () => {
  const at = Date.UTC(2026, 0, 5, 12, 47, 13)
  const offsetMs = 30 * MINUTE_MS
  expect(rowStart(series, at)).toBe(Date.UTC(2026, 0, 5, 12))
  expect(rowStart({ stepMs: HOUR_MS, offsetMs }, at)).toBe(Date.UTC(2026, 0, 5, 12, 30))
  expect(rowStart({ stepMs: HOUR_MS, offsetMs }, at - 30 * MINUTE_MS)).toBe(Date.UTC(2026, 0, 5, 11, 30))
  expect(tickBefore(at)).toBe(Date.UTC(2026, 0, 5, 12, 45))
  expect(tickBefore(Date.UTC(2026, 0, 5))).toBe(Date.UTC(2026, 0, 5))
})

describe('collection gaps', () => {
  const at = (minutes: number): Instant => Date.UTC(2026, 0, 5) + minutes * MINUTE_MS
  const gap = (from: number, to: number): Gap => ({ fromAt: at(from), toAt: at(to), cause: 'down' })
  const rows = new GapRows([gap(50, 70), gap(180, 240), gap(300, 301)], series)

  test.each([
    [-60, false],
    [0, true],
    [60, true],
    [120, false],
    [180, true],
    [240, false],
    [300, true],
    [360, false],
  ])('touch the row that begins after %i minutes: %p', (minutes, expected) => {
    expect(rows.touches(at(minutes))).toBe(expected)
  })

  test.each([
    [50, null],
    [51, 51],
    [70, 70],
    [100, 70],
    [200, 200],
    [299, 240],
  ])('before minute %i end at minute %p', (minutes, expected) => {
    expect(rows.endBefore(at(minutes))).toBe(expected === null ? null : at(expected))
  })
})

describe('active signals of a day', () => {
  const DAY = 20_000
  const daily = (event: string, counts: Record<number, number>): DailyEvents => ({
    domainId: 'dom_1',
    vendor: 'Shop',
    event,
    days: Object.keys(counts).map((ago) => DAY - Number(ago)),
    counts: Object.values(counts),
  })

  test.each<[string, Record<number, number>, boolean]>([
    ['include a signal with 100 events yesterday', { 1: 100 }, true],
    ['exclude a signal with 99 events yesterday', { 1: 99 }, false],
    ['exclude a signal with 100 events today, because the day has not ended', { 0: 100 }, false],
    ['include a signal with 100 events in a week', { 1: 15, 2: 15, 3: 15, 4: 15, 5: 15, 6: 15, 7: 10 }, true],
    ['exclude a signal with 100 events in eight days', { 1: 50, 8: 50 }, false],
    ['include a signal whose last 100 events were four weeks ago', { 28: 100 }, true],
    ['exclude a signal whose last 100 events were more than four weeks ago', { 29: 50, 35: 50 }, false],
    ['include a signal whose last week with 100 events ended four weeks ago', { 28: 50, 34: 50 }, true],
    ['exclude a signal without events', {}, false],
  ])('%s', (_, counts, expected) => {
    expect(activeSignalsOn(DAY, [daily('view', counts)])).toEqual(expected ? [{ vendor: 'Shop', event: 'view' }] : [])
  })

  test('are limited to the 500 with the most traffic, in a stable order', () => {
    const many = Array.from({ length: 700 }, (_, n) => daily(`e${n}`, { 1: 100 + (n % 350) }))
    const found = activeSignalsOn(DAY, many)
    expect(found).toHaveLength(MAX_SIGNALS)
    expect(found[0]).toEqual({ vendor: 'Shop', event: 'e349' })
    expect(found[1]).toEqual({ vendor: 'Shop', event: 'e699' })
    expect(activeSignalsOn(DAY, many.toReversed())).toEqual(found)
    expect(found.some(({ event }) => event === 'e0')).toBe(false)
  })

  test('days are in UTC', () => {
    expect(dayOf(Date.UTC(2026, 0, 5)) - dayOf(Date.UTC(2026, 0, 5) - 1)).toBe(1)
    expect(dayOf(Date.UTC(2026, 0, 5) + TICK_MS)).toBe(dayOf(Date.UTC(2026, 0, 5)))
  })
})
