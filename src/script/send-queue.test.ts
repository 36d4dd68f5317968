import { describe, expect, test } from 'bun:test'
import type { Batch } from './batch.ts'
import { handClock, hitOf } from './collector.fixture.ts'
import { FLUSH_MS, makeSendQueue } from './send-queue.ts'

function setUp() {
  const clock = handClock()
  const sent: number[] = []
  const state = { isSpent: false, closed: 0 }
  const queue = makeSendQueue({
    ...clock,
    isSpent: () => state.isSpent,
    closing: () => void state.closed++,
    send: (batches: readonly Batch[]) => {
      for (const { content } of batches) sent.push((content.hits as unknown[]).length)
    },
  })
  return { ...clock, queue, sent, state }
}

describe('ready items are sent', () => {
  test('five seconds after the first item was added', () => {
    const { queue, pass, sent } = setUp()
    queue.add(hitOf())
    pass(FLUSH_MS - 1)
    queue.add(hitOf())
    expect(sent).toEqual([])
    pass(1)
    expect(sent).toEqual([2])
    pass(60_000)
    expect(sent).toEqual([2])
  })

  test.each([
    ['20 items', 20, ''],
    ['30 kB', 3, 'x'.repeat(10_000)],
  ])('immediately when they reach %s', (_what, count, content) => {
    const { queue, pass, sent } = setUp()
    const under = Array.from({ length: count }, () => hitOf({ content, outcome: undefined, isTimed: false }))
    for (const item of under) queue.add(item)
    queue.check()
    pass(200)
    expect(sent).toEqual([])
    for (const item of under) if (item.list === 'hits') item.call.outcome = 204
    queue.check()
    pass(200)
    expect(sent.reduce((sum, one) => sum + one, 0)).toBe(count)
  })

  test('without an outcome only after their outcome has been checked again', () => {
    const { queue, pass, sent } = setUp()
    let looks = 0
    const look = () => void looks++
    for (const outcome of ['ok', undefined] as const) queue.add(hitOf({ outcome, isTimed: false, look }))
    pass(FLUSH_MS)
    expect({ sent, looks }).toEqual({ sent: [1], looks: 0 })
    queue.flush('hidden')
    expect({ sent, looks }).toEqual({ sent: [1, 1], looks: 1 })
  })

  test('later if the time budget is used up', () => {
    const { queue, pass, sent, state } = setUp()
    state.isSpent = true
    queue.add(hitOf())
    pass(FLUSH_MS)
    expect(sent).toEqual([])
    state.isSpent = false
    pass(1000)
    expect(sent).toEqual([1])
  })
})

test.each([
  ['ready', 1],
  ['hidden', 2],
  ['end', 3],
] as const)(
  'a flush in mode %s immediately sends %p of three calls, and the others when they are ready',
  (until, count) => {
    const { queue, pass, sent } = setUp()
    queue.add(hitOf())
    queue.add(hitOf({ outcome: undefined, isTimed: false }))
    queue.add(hitOf({ outcome: undefined, isTimed: false, isReading: true }))
    queue.flush(until)
    expect(sent).toEqual([count])
    pass(30_000)
    expect(sent.reduce((sum, one) => sum + one, 0)).toBe(3)
  },
)

test('the oldest items are dropped when more than 500 items are waiting', () => {
  const { queue, sent } = setUp()
  for (let n = 0; n < 700; n++) queue.add(hitOf({ outcome: undefined, isTimed: false }))
  queue.flush('end')
  expect(sent.reduce((sum, one) => sum + one, 0)).toBe(500)
})

test('`closing` is called only if there are items to send', () => {
  const { queue, state } = setUp()
  queue.flush('end')
  expect(state.closed).toBe(0)
  queue.add(hitOf())
  queue.flush('ready')
  expect(state.closed).toBe(1)
})
