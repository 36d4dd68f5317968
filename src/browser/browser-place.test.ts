import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BrowserPlace, BrowserPlaces } from './browser-place.ts'

const MAX_PAUSED = 4
const never = () => new AbortController().signal
/** Resolves when everything that needs no timer was done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A task, as far as its place is concerned. */
interface Task {
  place: BrowserPlace
  stopping: AbortController
  state: 'new' | 'waiting' | 'in' | 'paused' | 'ended'
}

test('whatever tasks do, as many have a place as there are, and few are open without one', async () => {
  const action = fc.record({ task: fc.nat(7), act: fc.constantFrom('enter', 'pause', 'end', 'stop') })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(action, { maxLength: 60 }),
      async (concurrency, actions) => {
        const places = new BrowserPlaces(concurrency)
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
          // No place is empty while somebody waits for it.
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

test('an organization has two tasks that may pause, and others do not wait for it', async () => {
  const places = new BrowserPlaces(1)
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

test('a place that is taken after its task ended is free again', async () => {
  const places = new BrowserPlaces(1)
  const place = places.of('a', never())
  const entering = place.enter()
  place.end()
  await entering.catch(() => undefined)
  await places.of('b', never()).enter()
})
