import { expect, test } from 'bun:test'
import { testClock } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { MAX_WAIT_MS, retryAfterS, withWaitLimit } from './wait-limit.ts'

const late = () => new AppError('unavailable', 'the work continues', 7)
const never = new Promise<never>(() => undefined)

test('a caller gets a response after 50 s while the operation continues', async () => {
  const clock = testClock()
  const waiting = withWaitLimit(never, { clock, left: new AbortController().signal, late })
  clock.advance(MAX_WAIT_MS)
  expect(await waiting.catch((error) => error)).toEqual(late())
})

test('waiting ends when the caller disconnects, or with the result or error of the operation', async () => {
  const clock = testClock()
  const leaving = new AbortController()
  const left = withWaitLimit(never, { clock, left: leaving.signal, late })
  leaving.abort()
  expect(await left.catch((error) => error)).toEqual(late())
  const { signal } = new AbortController()
  expect(await withWaitLimit(Promise.resolve(5), { clock, left: signal, late })).toBe(5)
  const failed = withWaitLimit(Promise.reject(new Error('no')), { clock, left: signal, late })
  expect(await failed.catch((error) => error.message)).toBe('no')
})

test.each([
  [null, 5],
  [-1000, 1],
  [30_500, 31],
  [500_000, 100],
])('Retry-After for a wait of %p ms is %d s', (waits, expected) => {
  const clock = testClock()
  const waitsUntil = waits === null ? null : clock.now() + waits
  expect(retryAfterS({ callsDone: 1, callsTotal: 2, waitsUntil }, clock)).toBe(expected)
})
