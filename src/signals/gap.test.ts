import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import {
  exceedsMaxCoverage,
  type Gap,
  gapNotice,
  joinGaps,
  MIN_GAP_MS,
  mergeGaps,
  retentionNow,
  subtractSpans,
} from './gap.ts'

const AT = Date.UTC(2026, 0, 5, 12)
const gap = (fromAt: Instant, toAt: Instant, cause: Gap['cause'] = 'down'): Gap => ({ fromAt, toAt, cause })

describe('merging two gaps', () => {
  test.each<[string, Gap, Gap, Gap | null]>([
    ['that overlap', gap(0, 100), gap(50, 200), gap(0, 200)],
    ['that touch', gap(0, 100), gap(100, 200), gap(0, 200)],
    ['of which one contains the other', gap(0, 500), gap(100, 200), gap(0, 500)],
    ['two minutes apart', gap(0, 100), gap(100 + MIN_GAP_MS, 300_000), gap(0, 300_000)],
    ['with different causes', gap(0, 100, 'refused'), gap(150, 200), gap(0, 200, 'refused')],
    ['further apart', gap(0, 100), gap(101 + MIN_GAP_MS, 300_000), null],
    ['of which the later one comes first, because the clock was ahead', gap(500, 600), gap(0, 100), null],
  ])('%s', (_, earlier, later, expected) => {
    expect(joinGaps(earlier, later)).toEqual(expected)
  })
})

test('overlapping gaps are merged', () => {
  const gaps = [gap(0, 100, 'refused'), gap(50, 80), gap(90, 200, 'clock'), gap(200, 300), gap(301, 400)]
  expect(mergeGaps(gaps)).toEqual([gap(0, 300, 'refused'), gap(301, 400)])
  expect(mergeGaps([])).toEqual([])
})

test('subtracting time spans leaves the uncovered parts', () => {
  const span = fc
    .tuple(fc.nat({ max: 30 }), fc.integer({ min: 1, max: 15 }))
    .map(([fromAt, ms]) => ({ fromAt, toAt: fromAt + ms }))
  fc.assert(
    fc.property(span, fc.array(span, { maxLength: 4 }), (time, others) => {
      const holds = (spans: { fromAt: Instant; toAt: Instant }[], at: Instant) =>
        spans.some(({ fromAt, toAt }) => at >= fromAt && at < toAt)
      const pieces = subtractSpans(time, others)
      for (let at = 0; at < 50; at++) {
        expect([at, holds(pieces, at)]).toEqual([at, holds([time], at) && !holds(others, at)])
      }
    }),
  )
})

describe('the current time used for retention', () => {
  const jump = (from: number, to: number) => ({ fromAt: AT + from * DAY_MS, toAt: AT + to * DAY_MS })
  test.each<[string, { fromAt: Instant; toAt: Instant }[], number, number]>([
    ['is the clock time', [], 10, 10],
    ['excludes a jump that has just occurred', [jump(0, 3653)], 3653, 0],
    ['excludes a jump for 7 days', [jump(0, 3653)], 3659.9, 6.9],
    ['includes a jump after 7 days', [jump(0, 3653)], 3660, 3660],
    ['excludes two consecutive jumps', [jump(0, 3653), jump(3654, 7000)], 7001, 2],
    ['includes a jump after 7 days, but excludes a later one', [jump(0, 100), jump(104, 200)], 203, 107],
    ['is the clock time after the clock was set back to before the jump', [jump(0, 3653)], 1, 1],
  ])('%s', (_, jumps, now, expected) => {
    expect((retentionNow(jumps, AT + now * DAY_MS) - AT) / DAY_MS).toBeCloseTo(expected, 6)
  })
})

describe('the gap coverage limit', () => {
  const hour = { from: AT, to: AT + HOUR_MS }
  test.each<[string, Gap[], boolean]>([
    ['without a gap', [], false],
    ['with gaps only outside', [gap(AT - HOUR_MS, AT), gap(AT + HOUR_MS, AT + 2 * HOUR_MS)], false],
    ['with a gap of less than 5 %', [gap(AT, AT + 3 * MINUTE_MS - 1)], false],
    ['with a gap of 5 %', [gap(AT - HOUR_MS, AT + 3 * MINUTE_MS)], true],
    ['with several gaps that total 5 %', [gap(AT, AT + MINUTE_MS), gap(hour.to - 2 * MINUTE_MS, hour.to + 5)], true],
    ['inside a gap', [gap(0, AT + 9 * HOUR_MS)], true],
  ])('is applied to a window %s', (_, gaps, expected) => {
    expect(exceedsMaxCoverage(gaps, hour)).toBe(expected)
  })

  test('remains exceeded when a window gets additional gaps', () => {
    const some = fc.array(fc.tuple(fc.nat({ max: 119 }), fc.integer({ min: 1, max: 10 })), { maxLength: 4 })
    fc.assert(
      fc.property(some, fc.nat({ max: 3 }), (pieces, drop) => {
        const gaps = pieces.map(([slot, minutes], index) => {
          const from = AT - HOUR_MS + (index * 120 + slot) * MINUTE_MS
          return gap(from, from + minutes * MINUTE_MS)
        })
        const window = { from: AT, to: AT + 6 * HOUR_MS }
        if (exceedsMaxCoverage(gaps.toSpliced(drop, 1), window)) expect(exceedsMaxCoverage(gaps, window)).toBe(true)
      }),
    )
  })
})

test('the notice contains the time and the cause', () => {
  expect(gapNotice(gap(AT, AT + HOUR_MS)).subject).toBe(
    'nothing was collected from 2026-01-05 12:00 UTC to 2026-01-05 13:00 UTC',
  )
  expect(gapNotice(gap(AT, AT + 1, 'refused')).subject).toContain('rejecting events since 2026-01-05 12:00 UTC')
})
