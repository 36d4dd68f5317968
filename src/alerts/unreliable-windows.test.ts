import { describe, expect, test } from 'bun:test'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { Gap } from '../signals/gap.ts'
import { alertOf, NOON, validationInput, volumeInput } from './alert.fixture.ts'
import type { AlertInput } from './alert.ts'
import { alertTypeOf } from './types/index.ts'
import { areRowsUnreliable, isWindowUnreliable } from './unreliable-windows.ts'

/** Returns gaps, given in minutes from noon. */
const gapsFrom = (...minutes: [from: number, to: number][]) => {
  const gaps = minutes.map(([from, to]): Gap => {
    return { fromAt: NOON + from * MINUTE_MS, toAt: NOON + to * MINUTE_MS, cause: 'down' }
  })
  return (from: Instant, to: Instant) => gaps.filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
}

const change: AlertInput = {
  ...volumeInput,
  alertType: 'tag_volume_change',
  volume: { direction: 'decrease', percent: 50 },
}
const hour = { from: NOON, to: NOON + HOUR_MS, complete: true }

describe('the reliability of a one-hour window', () => {
  test.each<[string, AlertInput, [number, number][], boolean]>([
    ['with a threshold and no gaps', volumeInput, [], false],
    ['with a threshold and a gap of 5 %', volumeInput, [[10, 13]], true],
    ['with a threshold and a gap below 5 %', volumeInput, [[10, 12.9]], false],
    [
      'with a threshold and several gaps of 5 % in total',
      volumeInput,
      [
        [-5, 1],
        [10, 11],
        [59, 70],
      ],
      true,
    ],
    ['with a threshold and a gap in only the previous window', volumeInput, [[-30, 0]], false],
    ['that is compared with an unreliable window', change, [[-30, -20]], true],
    ['that is compared with a window after a gap', change, [[-90, -60]], false],
    ['of single events', validationInput, [[0, 60]], false],
  ])('is correct for a window %s', (_, input, gaps, expected) => {
    const alert = alertOf(input)
    expect(isWindowUnreliable(alertTypeOf(alert.alertType), alert, hour, gapsFrom(...gaps))).toBe(expected)
  })
})

describe('the reliability of rows', () => {
  const hourly = { stepMs: HOUR_MS }
  const day = { from: NOON, to: NOON + 24 * HOUR_MS, complete: true }

  test.each<[string, { stepMs: number } | undefined, typeof hour, [number, number][], boolean]>([
    ['in an hour with one row', hourly, hour, [[59, 60]], true],
    [
      'in an hour next to a gap',
      hourly,
      hour,
      [
        [60, 90],
        [-20, 0],
      ],
      false,
    ],
    ['of 15 minutes, with one of four affected', { stepMs: 15 * MINUTE_MS }, hour, [[59, 60]], true],
    ['in a day, with one of 24 affected', hourly, day, [[10, 20]], false],
    [
      'in a day, with one of 24 affected by two gaps',
      hourly,
      day,
      [
        [10, 20],
        [30, 40],
      ],
      false,
    ],
    ['in a day, with two of 24 affected', hourly, day, [[55, 65]], true],
    [
      'in a day, with two of 24 affected, far apart',
      hourly,
      day,
      [
        [10, 20],
        [300, 310],
      ],
      true,
    ],
    ['without a scope', undefined, hour, [[0, 60]], false],
  ])('is correct for rows %s', (_, scope, window, gaps, expected) => {
    expect(areRowsUnreliable(scope, window, gapsFrom(...gaps))).toBe(expected)
  })
})
