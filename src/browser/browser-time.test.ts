import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairQueue } from '../core/fair-queue.ts'
import { BrowserTime } from './browser-time.ts'

const HOUR_MS = 60 * 60 * 1000

test('time used an hour ago counts half', () => {
  let now = 0
  const time = new BrowserTime(() => now)
  const end = time.begin('a')
  now = 1000
  expect(time.usedBy('a')).toBe(1000)
  end()
  now += HOUR_MS
  expect(time.usedBy('a')).toBe(500)
  expect(time.usedBy('b')).toBe(0)
})

test('an organization with long runs gets no more time than one with short runs', async () => {
  const seconds = fc.integer({ min: 1, max: 20 })
  await fc.assert(
    fc.asyncProperty(seconds, seconds, async (long, short) => {
      let now = 0
      const time = new BrowserTime(() => now)
      const queue = new FairQueue(1, undefined, (name) => time.usedBy(name))
      const total = { a: 0, b: 0 }
      const run = (name: 'a' | 'b', ms: number) =>
        queue.run(
          async () => {
            const end = time.begin(name)
            now += ms
            // The difference is looked at while both have work that waits.
            if (now <= 200_000) total[name] += ms
            end()
          },
          { shares: [{ name, maxRunning: 1, maxWaiting: Number.POSITIVE_INFINITY }] },
        )
      const runs = Array.from({ length: 200 }, () => [run('a', long * 1000), run('b', short * 1000)]).flat()
      await Promise.all(runs)
      expect(Math.abs(total.a - total.b)).toBeLessThanOrEqual(2 * Math.max(long, short) * 1000)
    }),
    { numRuns: 30 },
  )
})
