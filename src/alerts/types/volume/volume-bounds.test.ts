import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { alertOf, domainsNamed, HOUR_BEFORE_NOON, volumeInput } from '../../alert.fixture.ts'
import type { AlertInput } from '../../alert.ts'
import { alertTypeOf } from '../index.ts'
import { changeBounds, thresholdBounds } from './volume-bounds.ts'

/** True when the alert fires on a window with `count` events after a window with `before` events. */
function fires(input: AlertInput, count: number, before: number): boolean {
  const rows = [{ domainId: 'dom_shop', vendor: null, event: null, count, before }]
  const type = alertTypeOf(input.alertType)
  return type.judge(alertOf(input), rows, HOUR_BEFORE_NOON, domainsNamed('dom_shop')).length > 0
}

const aPercent = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc.integer({ min: 1, max: 20_000 }).map((cents) => cents / 100),
)
const aCount = fc.oneof(fc.nat(40), fc.nat(100_000))

test('a change fires exactly at its limit and beyond', () => {
  const direction = fc.constantFrom('increase' as const, 'decrease' as const)
  fc.assert(
    fc.property(direction, aPercent, aCount, aCount, (direction, percent, before, count) => {
      const volume = { direction, percent }
      const { expected, low, high } = changeBounds(volume, before)
      const input = { ...volumeInput, alertType: 'tag_volume_change' as const, volume }
      expect(expected).toBe(before)
      for (const near of [count, low ?? 0, (low ?? 0) + 1, high ?? 0, Math.max(0, (high ?? 0) - 1)]) {
        const isBeyond = (low !== null && near <= low) || (high !== null && near >= high)
        expect({ near, fires: fires(input, near, before) }).toEqual({ near, fires: isBeyond })
      }
    }),
    { numRuns: 2000 },
  )
})

test('a threshold fires exactly at its limit and beyond', () => {
  fc.assert(
    fc.property(fc.constantFrom('lte' as const, 'gte' as const), fc.nat(20), fc.nat(20), (op, limit, count) => {
      const volume = { op, count: limit }
      const { low, high } = thresholdBounds(volume)
      const isBeyond = (low !== null && count <= low) || (high !== null && count >= high)
      expect(fires({ ...volumeInput, volume }, count, 0)).toBe(isBeyond)
    }),
  )
})

test('a change has no bounds when the previous window is unknown', () => {
  const nothing = { expected: null, low: null, high: null }
  expect(changeBounds({ direction: 'decrease', percent: 50 }, null)).toEqual(nothing)
})
