import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairQueue, type Share } from './fair-queue.ts'

/** Returns work that runs until the test ends it. */
function openEnded() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { work: () => promise, end: resolve }
}

const share = (name: string, atOnce: number, waiting = 100): Share => ({
  name,
  maxRunning: atOnce,
  maxWaiting: waiting,
})
/** Lets pending promises and callbacks run. */
const settle = () => Bun.sleep(0)

/** Adds tasks to the queue, and records the order in which they start. */
function recorder(queue: FairQueue) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (name: string, shares: Share[] = [], signal?: AbortSignal) => {
    const { work, end } = openEnded()
    ends.set(name, end)
    const begin = () => {
      begun.push(name)
      return work()
    }
    return queue.run(begin, { shares, signal })
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await settle()
  }
  return { begun, ask, end }
}

describe('a fair queue with shares', () => {
  test('starts as many tasks as there are slots, then the rest in call order', async () => {
    const { begun, ask, end } = recorder(new FairQueue(2))
    const all = ['a', 'b', 'c', 'd'].map((name) => ask(name))
    await settle()
    expect(begun).toEqual(['a', 'b'])
    await end('b')
    expect(begun).toEqual(['a', 'b', 'c'])
    for (const name of ['a', 'c', 'd']) await end(name)
    await Promise.all(all)
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  test("returns the task's result or error", async () => {
    const queue = new FairQueue(1)
    expect(await queue.run(async () => 7)).toBe(7)
    const failing = queue.run(async () => {
      throw new Error('no')
    })
    expect(failing).rejects.toThrow('no')
    expect(await queue.run(async () => 8)).toBe(8)
    expect(queue.load).toEqual({ running: 0, waiting: 0 })
  })

  test('limits the running tasks per share, and lets tasks of other shares overtake', async () => {
    const { begun, ask } = recorder(new FairQueue(4))
    for (const name of ['a', 'b', 'c', 'd']) void ask(name, [share('caller', 2)])
    void ask('other', [share('another', 2)])
    await settle()
    expect(begun).toEqual(['a', 'b', 'other'])
  })

  test('gives a free slot to the share with the fewest running tasks', async () => {
    const { begun, ask, end } = recorder(new FairQueue(3))
    const ofAcme = [share('acme', 3)]
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void ask(name, ofAcme)
    void ask('b1', [share('beta', 3)])
    await end('a1')
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1'])
    await end('a2')
    expect(begun.at(-1)).toBe('a4')
  })

  test('rejects a task when too many tasks of its share are waiting, and accepts it when there is space', async () => {
    const { ask, end } = recorder(new FairQueue(4))
    const mine = [share('caller', 1, 2)]
    const taken = ['a', 'b', 'c'].map((name) => ask(name, mine))
    expect(ask('d', mine)).rejects.toMatchObject({ code: 'rateLimited', retryAfterS: expect.any(Number) })
    await end('a')
    taken.push(ask('e', mine))
    for (const name of ['b', 'c', 'e']) await end(name)
    await Promise.all(taken)
  })

  test('rejects a task when too many tasks are waiting in total', async () => {
    const { ask } = recorder(new FairQueue(1, 1))
    void ask('a', [share('x', 1)])
    void ask('b', [share('y', 1)])
    expect(ask('c', [share('z', 1)])).rejects.toMatchObject({ code: 'unavailable', retryAfterS: expect.any(Number) })
  })

  test('never starts a task whose signal was aborted while it waited', async () => {
    const { begun, ask, end } = recorder(new FairQueue(1))
    const controller = new AbortController()
    void ask('a')
    const given = ask('b', [share('caller', 1)], controller.signal)
    void ask('c')
    controller.abort()
    expect(given).rejects.toMatchObject({ code: 'unavailable' })
    expect(ask('d', [], controller.signal)).rejects.toMatchObject({ code: 'unavailable' })
    await end('a')
    expect(begun).toEqual(['a', 'c'])
  })

  test('frees the slot of an aborted running task, but counts it towards its share until it ends', async () => {
    const { begun, ask, end } = recorder(new FairQueue(1))
    const controller = new AbortController()
    const mine = [share('caller', 1)]
    void ask('a', mine, controller.signal)
    void ask('b', mine)
    void ask('other')
    controller.abort()
    await settle()
    expect(begun).toEqual(['a', 'other'])
    await end('other')
    expect(begun).toEqual(['a', 'other'])
    await end('a')
    expect(begun).toEqual(['a', 'other', 'b'])
  })

  test('respects every limit, runs every task, and is empty at the end', async () => {
    const call = fc.record({ caller: fc.integer({ min: 0, max: 3 }), steps: fc.integer({ min: 0, max: 5 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (all) => {
        const queue = new FairQueue(3)
        const running = new Map<number, number>()
        const answered = await Promise.all(
          all.map(({ caller, steps }) =>
            queue.run(
              async () => {
                running.set(caller, (running.get(caller) ?? 0) + 1)
                expect(running.get(caller)).toBeLessThanOrEqual(2)
                expect([...running.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(3)
                for (let step = 0; step < steps; step++) await Promise.resolve()
                running.set(caller, (running.get(caller) ?? 0) - 1)
                return caller
              },
              { shares: [share(`${caller}`, 2)] },
            ),
          ),
        )
        expect(answered).toEqual(all.map(({ caller }) => caller))
        expect(queue.load).toEqual({ running: 0, waiting: 0 })
      }),
    )
  })
})
