import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { retryAfterMs } from '../delivery-outcome.ts'
import { MAX_RETRY_AFTER_MS, RETRY_DELAYS_MS, retryDelayMs, slotFor, throttleWindowMs } from './delivery.ts'

describe('the delay before the next attempt', () => {
  const schedule: [number, number | null][] = [
    [1, 5 * SECOND_MS],
    [2, 30 * SECOND_MS],
    [3, 2 * MINUTE_MS],
    [4, 10 * MINUTE_MS],
    [5, 30 * MINUTE_MS],
    [6, 2 * HOUR_MS],
    [7, 6 * HOUR_MS],
    [8, null],
  ]
  test.each(schedule)('after attempt %i without jitter is %p ms', (attempts, delay) => {
    expect(retryDelayMs(attempts, null, 0)).toBe(delay)
  })

  test('is increased by jitter by at most a fifth, and never reduced', () => {
    const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), jitter, (attempts, share) => {
        const delay = retryDelayMs(attempts, null, share) ?? 0
        const base = RETRY_DELAYS_MS[attempts - 1] ?? 0
        expect(delay).toBeGreaterThanOrEqual(base)
        expect(delay).toBeLessThanOrEqual(base * 1.2)
        expect(Number.isInteger(delay)).toBe(true)
      }),
    )
  })

  test.each([
    [1, 7 * SECOND_MS, 7 * SECOND_MS],
    [1, SECOND_MS, 5 * SECOND_MS],
    [1, 0, 5 * SECOND_MS],
    [7, MINUTE_MS, 6 * HOUR_MS],
    [2, 365 * DAY_MS, MAX_RETRY_AFTER_MS],
    [8, SECOND_MS, null],
  ])('after attempt %i with Retry-After of %i ms is %p ms', (attempts, asked, delay) => {
    expect(retryDelayMs(attempts, asked, 0)).toBe(delay)
  })
})

const now = Date.UTC(2026, 0, 5, 12)
test.each([
  [undefined, null],
  ['', null],
  ['0', 0],
  ['120', 120_000],
  [' 5 ', 5000],
  ['-1', null],
  ['1.5', null],
  ['soon', null],
  ['99999999999', 99_999_999_999_000],
  ['Mon, 05 Jan 2026 12:00:30 GMT', 30_000],
  ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
])('Retry-After %j is parsed as %p ms', (header, delay) => expect(retryAfterMs(header, now)).toBe(delay))

test.each(['86401', '9999999', '99999999999', '9'.repeat(40), 'Mon, 05 Jan 2099 12:00:00 GMT'])(
  'Retry-After %s is limited to one day',
  (header) => expect(retryDelayMs(1, retryAfterMs(header, now), 0)).toBe(MAX_RETRY_AFTER_MS),
)

describe('the slot of a throttled notification', () => {
  const throttle = { count: 2, per: 10, unit: 'minutes' } as const
  const minute = (count: number) => now + count * MINUTE_MS

  test.each([
    ['nothing was sent yet', [], 0, 0],
    ['the window has room', [-5], 0, 0],
    ['both notifications were just sent', [0, 0], 0, 10],
    ['both notifications were sent earlier', [-4, -6], 0, 4],
    ['the older notification is leaving the window now', [-1, -10], 0, 0],
    ['the older notification is about to leave the window', [-1, -9], 0, 1],
    ['one notification is scheduled', [20, -3], 0, 7],
    ['both notifications are scheduled', [20, 15], 0, 25],
    ['more notifications than allowed were sent', [-1, -2, -3], 0, 8],
    ['the notification is due later anyway', [-4, -6], 30, 30],
  ])('has the expected delay when %s', (_name, taken, at, slot) => {
    expect(slotFor(throttle, taken.map(minute), minute(at))).toBe(minute(slot))
  })

  test('is based on a throttle window of `per` times `unit`', () => {
    expect(throttleWindowMs(throttle)).toBe(10 * MINUTE_MS)
    expect(throttleWindowMs({ count: 1, per: 10_080, unit: 'hours' })).toBe(10_080 * HOUR_MS)
  })
})
