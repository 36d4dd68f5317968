import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { testClock } from '../../test/fixtures.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Principal } from './principal.ts'
import { RateLimit, rateLimited } from './rate-limit.ts'

/** Returns the number of seconds to wait; 0 when the call was allowed. */
function take(limit: RateLimit, name = 'a'): number {
  try {
    limit.take(name)
    return 0
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rateLimited') throw error
    expect(error.message).toContain(`try again in ${error.retryAfterS} s`)
    return error.retryAfterS ?? Number.NaN
  }
}

const takes = (limit: RateLimit, count: number, name = 'a') => Array.from({ length: count }, () => take(limit, name))
const letThrough = (waits: readonly number[]) => waits.filter((wait) => wait === 0).length

describe('a rate limit', () => {
  test.each([
    [1, 1, 1, 1],
    [5, 1, 5, 1],
    [10, 60, 600, 1],
    [1 / 60, 60, 1, 60],
    [0.5, 10, 5, 2],
    [123 / 60, 60, 123, 1],
  ])(
    'of %d per second over %d s allows %d at once, then requires a wait of %d s',
    (perSecond, burstS, burst, waitS) => {
      const limit = new RateLimit(testClock(), perSecond, burstS)
      expect(letThrough(takes(limit, burst))).toBe(burst)
      expect(take(limit)).toBe(waitS)
    },
  )

  test('is divided among processes, whose number may change, and always allows a request after a while', () => {
    const clock = testClock()
    let share = 1
    const limit = new RateLimit(clock, 4, 1, () => share)
    expect(letThrough(takes(limit, 9))).toBe(4)
    share = 1 / 2
    clock.advance(10 * SECOND_MS)
    expect(letThrough(takes(limit, 9))).toBe(2)
    share = 1 / 8
    clock.advance(SECOND_MS)
    expect(take(limit)).toBe(1)
    clock.advance(SECOND_MS)
    expect(letThrough(takes(limit, 9))).toBe(1)
    expect(take(limit)).toBe(2)
    share = 1
    clock.advance(SECOND_MS)
    expect(letThrough(takes(limit, 9))).toBe(4)
  })

  test('allows exactly the burst plus the tokens of the elapsed time, rounded down', () => {
    const steps = fc.array(fc.record({ wait: fc.nat(5000), count: fc.nat(30) }), { maxLength: 20 })
    fc.assert(
      fc.property(fc.constantFrom(0.5, 2, 10), fc.constantFrom(1, 5), steps, (perSecond, burstS, steps) => {
        const clock = testClock()
        const limit = new RateLimit(clock, perSecond, burstS)
        let room = perSecond * burstS
        for (const { wait, count } of steps) {
          clock.advance(wait)
          room = Math.min(perSecond * burstS, room + (wait / SECOND_MS) * perSecond)
          const passed = letThrough(takes(limit, count))
          expect(passed).toBeLessThanOrEqual(room + 1e-6)
          expect(passed).toBeGreaterThan(Math.min(count, room) - 1)
          room -= passed
        }
      }),
    )
  })

  test('allows one request after `retryAfterS` seconds', () => {
    fc.assert(
      fc.property(fc.constantFrom(0.01, 0.3, 1, 7), fc.nat(20_000), (perSecond, wait) => {
        const clock = testClock()
        const limit = new RateLimit(clock, perSecond, 100)
        takes(limit, 100 * perSecond)
        clock.advance(wait % 1000)
        let waitS = take(limit)
        while (waitS === 0) waitS = take(limit)
        clock.advance(waitS * SECOND_MS)
        expect(take(limit)).toBe(0)
      }),
    )
  })

  test('counts each name separately', () => {
    const limit = new RateLimit(testClock(), 1)
    expect(['a', 'b', 'a', 'b', '__proto__', '__proto__'].map((name) => take(limit, name))).toEqual([0, 0, 1, 1, 0, 1])
  })

  test('does not lock out callers when the clock is set back', () => {
    const clock = testClock()
    const limit = new RateLimit(clock, 1, 10)
    takes(limit, 5)
    clock.advance(-HOUR_MS)
    expect(letThrough(takes(limit, 10))).toBe(5)
    clock.advance(3 * SECOND_MS)
    expect(letThrough(takes(limit, 10))).toBe(3)
  })

  test('evicts names instead of growing without limit', () => {
    const limit = new RateLimit(testClock(), 1)
    expect([take(limit, 'early'), take(limit, 'early')]).toEqual([0, 1])
    for (let n = 0; n <= 100_001; n++) limit.take(`stranger ${n}`)
    expect(take(limit, 'early')).toBe(0)
  })
})

describe('too many rate-limited names', () => {
  const unknownCallers = (limit: RateLimit, count: number, times = 1) => {
    for (let n = 0; n < count; n++) for (let one = 0; one < times; one++) limit.take(`stranger ${n}`)
  }

  test('do not refill the tokens of a name that has used them up, or give another name a full burst', () => {
    const limit = new RateLimit(testClock(), 1, 10)
    takes(limit, 10, 'attacker')
    takes(limit, 6, 'busy')
    unknownCallers(limit, 300_000)
    expect(letThrough(takes(limit, 10, 'attacker'))).toBe(0)
    expect(letThrough(takes(limit, 10, 'busy'))).toBe(4)
  })

  test('are evicted starting with those that have the most tokens', () => {
    const clock = testClock()
    const limit = new RateLimit(clock, 1, 10)
    takes(limit, 10, 'long ago')
    clock.advance(10 * SECOND_MS)
    takes(limit, 7, 'now')
    // Adds more slightly depleted buckets than must be evicted.
    unknownCallers(limit, 100_000, 3)
    expect(letThrough(takes(limit, 10, 'now'))).toBe(3)
    expect(letThrough(takes(limit, 10, 'long ago'))).toBe(10)
  })

  test('with equal tokens are evicted oldest first, and only some of them', () => {
    const limit = new RateLimit(testClock(), 1, 10)
    unknownCallers(limit, 100_001)
    const isKnown = (n: number) => letThrough(takes(limit, 10, `stranger ${n}`)) === 9
    expect([0, 9_999, 10_000, 100_000].map(isKnown)).toEqual([false, false, true, true])
  })
})

describe('rate-limited callers', () => {
  const principal: Principal = {
    via: 'key',
    userId: 'usr_1',
    orgId: 'org_1',
    role: 'owner',
    readOnly: false,
    keyId: 'key_1',
    sessionId: null,
  }

  test('are counted by user, across keys and sessions', () => {
    const clock = testClock()
    const callers: Record<string, Principal> = {
      one: principal,
      two: { ...principal, keyId: 'key_2' },
      session: { ...principal, via: 'session', keyId: null, sessionId: 'a session' },
      other: { ...principal, userId: 'usr_2' },
    }
    const authenticate = rateLimited(
      (headers) => callers[headers.get('as') ?? ''] ?? principal,
      new RateLimit(clock, 1),
    )
    const call = (as: string) => authenticate(new Headers({ as }))
    for (const first of ['one', 'other']) expect(call(first)).toBe(callers[first] ?? principal)
    for (const as of ['one', 'two', 'session', 'other']) expect(() => call(as)).toThrow('too many requests')
    clock.advance(MINUTE_MS)
    expect(call('one')).toBe(principal)
  })

  test('count once when they are authenticated twice for one request', () => {
    const limit = new RateLimit(testClock(), 1)
    const authenticate = rateLimited(() => principal, limit)
    authenticate(new Headers())
    for (let n = 0; n < 3; n++) expect(authenticate(new Headers(), { again: true })).toBe(principal)
    expect(() => authenticate(new Headers())).toThrow('too many requests')
  })

  test('that are unknown are rejected with `unauthorized`', () => {
    const authenticate = rateLimited(() => {
      throw new AppError('unauthorized', 'no credential')
    }, new RateLimit(testClock(), 1))
    for (let n = 0; n < 3; n++) expect(() => authenticate(new Headers())).toThrow('no credential')
  })
})
