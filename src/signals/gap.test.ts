import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { type Gap, gapNotice, isCovered, joined, PAUSE_MS } from './gap.ts'

const AT = Date.UTC(2026, 0, 5, 12)
const gap = (fromAt: Instant, toAt: Instant, cause: Gap['cause'] = 'down'): Gap => ({ fromAt, toAt, cause })

describe('two gaps', () => {
  test.each<[string, Gap, Gap, Gap | null]>([
    ['that overlap', gap(0, 100), gap(50, 200), gap(0, 200)],
    ['that touch', gap(0, 100), gap(100, 200), gap(0, 200)],
    ['of which one holds the other', gap(0, 500), gap(100, 200), gap(0, 500)],
    ['two minutes apart', gap(0, 100), gap(100 + PAUSE_MS, 300_000), gap(0, 300_000)],
    ['of two causes', gap(0, 100, 'refused'), gap(150, 200), gap(0, 200, 'refused')],
    ['further apart', gap(0, 100), gap(101 + PAUSE_MS, 300_000), null],
  ])('%s', (_, earlier, later, expected) => {
    expect(joined(earlier, later)).toEqual(expected)
  })
})

describe('a window', () => {
  const hour = { from: AT, to: AT + HOUR_MS }
  test.each<[string, Gap[], boolean]>([
    ['without a gap', [], false],
    ['whose gaps lie outside', [gap(AT - HOUR_MS, AT), gap(AT + HOUR_MS, AT + 2 * HOUR_MS)], false],
    ['of which a gap covers less than 5 %', [gap(AT, AT + 3 * MINUTE_MS - 1)], false],
    ['of which a gap covers 5 %', [gap(AT - HOUR_MS, AT + 3 * MINUTE_MS)], true],
    ['of which gaps cover 5 % together', [gap(AT, AT + MINUTE_MS), gap(hour.to - 2 * MINUTE_MS, hour.to + 5)], true],
    ['inside a gap', [gap(0, AT + 9 * HOUR_MS)], true],
  ])('%s', (_, gaps, expected) => {
    expect(isCovered(gaps, hour)).toBe(expected)
  })

  test('is covered by more gaps whenever it is by fewer', () => {
    const some = fc.array(fc.tuple(fc.nat({ max: 119 }), fc.integer({ min: 1, max: 10 })), { maxLength: 4 })
    fc.assert(
      fc.property(some, fc.nat({ max: 3 }), (pieces, drop) => {
        const gaps = pieces.map(([slot, minutes], index) => {
          const from = AT - HOUR_MS + (index * 120 + slot) * MINUTE_MS
          return gap(from, from + minutes * MINUTE_MS)
        })
        const window = { from: AT, to: AT + 6 * HOUR_MS }
        if (isCovered(gaps.toSpliced(drop, 1), window)) expect(isCovered(gaps, window)).toBe(true)
      }),
    )
  })
})

test('the operator reads since when, and why', () => {
  expect(gapNotice(gap(AT, AT + HOUR_MS)).subject).toBe(
    'nothing was collected from 2026-01-05T12:00:00.000Z to 2026-01-05T13:00:00.000Z',
  )
  expect(gapNotice(gap(AT, AT + 1, 'refused')).subject).toContain('refusing what comes in since 2026-01-05T12:00')
})
