import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairQueue } from '../core/fair-queue.ts'
import { type BrowserSlot, BrowserSlots, BrowserTime } from './browser-slots.ts'

const MAX_PAUSED = 4
const never = () => new AbortController().signal
/** Resolves when all pending work that does not depend on a timer has been done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A task that only occupies its slot. */
interface Task {
  place: BrowserSlot
  stopping: AbortController
  state: 'new' | 'waiting' | 'in' | 'paused' | 'ended'
}

test('after any sequence of actions, tasks use all slots, and few browsers without a slot are open', async () => {
  const action = fc.record({ task: fc.nat(7), act: fc.constantFrom('enter', 'pause', 'end', 'stop') })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(action, { maxLength: 60 }),
      async (concurrency, actions) => {
        const places = new BrowserSlots(concurrency)
        const tasks = Array.from({ length: 8 }, (_, n): Task => {
          const stopping = new AbortController()
          return { place: places.of(`org_${n % 3}`, stopping.signal), stopping, state: 'new' }
        })
        const enter = (task: Task) => {
          task.state = 'waiting'
          task.place.enter().then(
            () => {
              if (task.state === 'waiting') task.state = 'in'
            },
            () => {
              task.state = 'ended'
            },
          )
        }
        const end = (task: Task) => {
          task.state = 'ended'
          task.place.end()
        }
        const has = (state: Task['state']) => tasks.filter((task) => task.state === state).length
        for (const { task: index, act } of actions) {
          const task = tasks[index] as Task
          if (act === 'enter' && (task.state === 'new' || task.state === 'paused')) enter(task)
          if (act === 'pause' && task.state === 'in') {
            const canPause = has('paused') < MAX_PAUSED
            task.place.pause()
            if (canPause) task.state = 'paused'
          }
          if (act === 'end' && task.state !== 'new') end(task)
          if (act === 'stop' && task.state === 'waiting') task.stopping.abort()
          await settled()
          expect(has('in')).toBeLessThanOrEqual(concurrency)
          expect(has('paused')).toBeLessThanOrEqual(MAX_PAUSED)
          // While a task waits, all slots are occupied.
          if (has('waiting') > 0) expect(has('in')).toBe(concurrency)
        }
        for (const task of tasks) if (task.state !== 'new') end(task)
        const last = Array.from({ length: concurrency }, () => places.of('org_0', never()))
        await Promise.all(last.map((place) => place.enter()))
      },
    ),
    { numRuns: 200 },
  )
})

test('an organization may have two pausing tasks without delaying other organizations', async () => {
  const places = new BrowserSlots(1)
  const began: string[] = []
  const ends: (() => void)[] = []
  const run = (orgId: string) =>
    places.runPausing(
      orgId,
      () => {
        began.push(orgId)
        return new Promise<void>((resolve) => ends.push(resolve))
      },
      never(),
    )
  const runs = ['a', 'a', 'a', 'b'].map(run)
  await settled()
  expect(began).toEqual(['a', 'a', 'b'])
  ends[0]?.()
  await runs[0]
  await settled()
  expect(began).toEqual(['a', 'a', 'b', 'a'])
})

test('a slot assigned after its task has ended is released', async () => {
  const places = new BrowserSlots(1)
  const place = places.of('a', never())
  const entering = place.enter()
  place.end()
  await entering.catch(() => undefined)
  await places.of('b', never()).enter()
})

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
            // Totals are compared only while both organizations have waiting tasks.
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
