import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairQueue } from './fair-queue.ts'

/** Returns work that ends when the test resolves or rejects it. */
function task() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let begun = false
  const work = () => {
    begun = true
    return promise
  }
  return { work, resolve, reject, hasBegun: () => begun }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a fair queue', () => {
  test('starts tasks in call order, regardless of which ends first', async () => {
    const queue = new FairQueue(2, 10)
    const tasks = Array.from({ length: 5 }, task)
    const results = tasks.map(({ work }) => queue.run(work))
    const begun = async () => {
      await settled()
      return tasks.map(({ hasBegun }) => hasBegun())
    }
    expect(await begun()).toEqual([true, true, false, false, false])
    tasks[1]?.resolve('second')
    expect(await results[1]).toBe('second')
    expect(await begun()).toEqual([true, true, true, false, false])
    tasks[2]?.reject(new RangeError('deliberate failure'))
    await expect(results[2]).rejects.toThrow('deliberate failure')
    expect(await begun()).toEqual([true, true, true, true, false])
    for (const { resolve } of tasks) resolve('')
    await Promise.all([results[0], results[3], results[4]])
  })

  test('rejects tasks while it is full, and accepts them again when there is space', async () => {
    const queue = new FairQueue(1, 2)
    const [running, ...waiting] = Array.from({ length: 3 }, task)
    const results = [running, ...waiting].map((task) => queue.run(task?.work ?? Promise.reject))
    const late = task()
    await expect(queue.run(late.work)).rejects.toMatchObject({ code: 'unavailable', retryAfterS: 10 })
    expect(late.hasBegun()).toBe(false)
    running?.resolve('')
    await results[0]
    const next = queue.run(late.work)
    for (const { resolve } of [...waiting, late]) resolve('done')
    expect(await next).toBe('done')
    await Promise.all(results)
  })

  test('runs as many tasks concurrently as the limit allows, and never more', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat(3), { maxLength: 30 }),
        async (atOnce, waits) => {
          const queue = new FairQueue(atOnce, 30)
          let running = 0
          let most = 0
          const results = waits.map((wait) =>
            queue.run(async () => {
              most = Math.max(most, ++running)
              for (let n = 0; n < wait; n++) await settled()
              running--
              if (wait === 2) throw new RangeError('deliberate failure')
            }),
          )
          await Promise.allSettled(results)
          expect(running).toBe(0)
          expect(most).toBeLessThanOrEqual(atOnce)
          if (waits.length > 0 && waits.every((wait) => wait > 0)) expect(most).toBe(Math.min(atOnce, waits.length))
        },
      ),
      { numRuns: 50 },
    )
  })
})
