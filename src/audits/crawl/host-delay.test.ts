import { expect, test } from 'bun:test'
import type { Slot } from '../../browser/browser-task.ts'
import { HostDelay } from './host-delay.ts'

/** A wait long enough for the crawl to free its slot. */
const LONG_MS = 1200
/** A wait too short for the crawl to free its slot. */
const SHORT_MS = 30

/** Returns a slot that records how it is used. `enter` resolves when the test permits it. */
function watchedPlace(enters: () => Promise<void> = async () => undefined) {
  const log: string[] = []
  const place: Slot = {
    leave: () => void log.push('leave'),
    async enter() {
      log.push('enter')
      await enters()
    },
  }
  return { log, place }
}

const { signal } = new AbortController()

test.each([
  ['a long pause', LONG_MS, ['a', 'leave', 'enter', 'a', 'leave', 'enter', 'a']],
  ['a short pause', SHORT_MS, ['a', 'a', 'a']],
])('the slot is released only during long pauses: %s', async (_, delayMs, expected) => {
  const { log, place } = watchedPlace()
  const pace = new HostDelay(place)
  for (let n = 0; n < 3; n++) {
    await pace.work(async () => {
      await pace.turn('a.example', delayMs, signal)
      log.push('a')
    })
  }
  expect(log).toEqual(expected)
})

test('the slot is occupied while any work is active, and is released afterwards', async () => {
  const { log, place } = watchedPlace()
  const pace = new HostDelay(place)
  const load = Promise.withResolvers<void>()
  await pace.turn('a.example', LONG_MS, signal)
  const waiting = pace.work(async () => {
    await pace.turn('a.example', LONG_MS, signal)
    log.push('a')
  })
  const loading = pace.work(async () => {
    await pace.turn('b.example', 0, signal)
    log.push('b')
    await load.promise
    log.push('b ends')
  })
  await pace.turn('c.example', 0, signal)
  log.length = 0
  load.resolve()
  await Promise.all([waiting, loading])
  expect(log).toEqual(['b ends', 'leave', 'enter', 'a'])
})

test('a host that requires a long pause releases the slot', async () => {
  const { log, place } = watchedPlace()
  const pace = new HostDelay(place)
  pace.rest('a.example', LONG_MS)
  await pace.work(() => pace.turn('a.example', 0, signal))
  expect(log).toEqual(['leave', 'enter'])
})

test('the delay between loads is respected even if the slot is assigned late', async () => {
  const entered = Promise.withResolvers<void>()
  const { place } = watchedPlace(() => entered.promise)
  const pace = new HostDelay(place)
  await pace.turn('a.example', LONG_MS, signal)
  const began: number[] = []
  const turns = [1, 2, 3].map(() =>
    pace.work(async () => {
      await pace.turn('a.example', LONG_MS, signal)
      began.push(performance.now())
      entered.resolve()
    }),
  )
  // By this time, three delays have elapsed.
  setTimeout(() => entered.resolve(), 3 * LONG_MS)
  await Promise.all(turns)
  const gaps = began.slice(1).map((at, n) => at - (began[n] ?? 0))
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(LONG_MS - 2)
})

test('a stopped crawl waits for neither its turn nor a slot', async () => {
  const stopping = new AbortController()
  const { place, log } = watchedPlace(
    () => new Promise((_, reject) => stopping.signal.addEventListener('abort', () => reject(new Error('stopped')))),
  )
  const pace = new HostDelay(place)
  await pace.turn('a.example', LONG_MS, signal)
  const late = pace.work(() => pace.turn('a.example', 60_000, stopping.signal))
  const later = pace.work(() => pace.turn('a.example', 60_000, stopping.signal))
  const ended = Promise.allSettled([late, later])
  while (!log.includes('enter')) await Bun.sleep(10)
  stopping.abort()
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
