import { describe, expect, test } from 'bun:test'
import type { Batch } from './batch.ts'
import { handClock } from './collector.fixture.ts'
import { makeErrorGuard } from './error-guard.ts'
import { makeSender, type SendFunctions } from './sender.ts'

interface Try {
  batchId: string
  sentAt: number
  keepalive: boolean
  how: 'fetch' | 'beacon'
  answer(status: number, headers?: Record<string, string>): Promise<void>
}

/** Lets pending promises settle. */
const turns = () => new Promise((resolve) => setImmediate(resolve))

function setUp(change: Partial<SendFunctions> = {}) {
  const clock = handClock()
  const tries: Try[] = []
  const guard = makeErrorGuard(clock.now)
  const fetch = (_url: string, { body, keepalive }: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      const { batchId, sentAt } = JSON.parse(String(body))
      const answer = async (status: number, headers = {}) => {
        if (status === 0) reject(new TypeError('Failed to fetch'))
        else resolve(new Response(null, { status, headers }))
        await turns()
      }
      tries.push({ batchId, sentAt, keepalive: keepalive === true, how: 'fetch', answer })
    })
  const beacon = (_url: string, body: string) => {
    tries.push({ ...JSON.parse(body), keepalive: true, how: 'beacon', answer: turns })
    return true
  }
  const sender = makeSender({
    url: 'https://collect.example/api/v1/events',
    token: 'pt_1',
    ways: { fetch: fetch as unknown as typeof globalThis.fetch, beacon, canKeep: true, ...change },
    guard,
    date: () => 1_000_000 + clock.now(),
    later: clock.later,
  })
  return { ...clock, guard, sender, tries, ids: () => tries.map(({ batchId }) => batchId) }
}

const batch = (batchId: string, length = 100): Batch => ({
  batchId,
  content: { hits: [{ url: 'x'.repeat(length) }] },
})

test('batches are sent one at a time', async () => {
  const { sender, tries, ids } = setUp()
  sender.send([batch('a'), batch('b')])
  expect(ids()).toEqual(['a'])
  await tries[0]?.answer(202)
  expect(ids()).toEqual(['a', 'b'])
  await tries[1]?.answer(202)
  sender.retryNow()
  expect(ids()).toEqual(['a', 'b'])
})

describe('a batch that was not accepted', () => {
  test.each([0, 429, 500, 503])(
    'with status %p is retried at increasing intervals, with the same id and a new send time',
    async (status) => {
      const { sender, tries, pass, ids } = setUp()
      sender.send([batch('a')])
      await tries[0]?.answer(status)
      expect(ids()).toEqual(['a'])
      pass(1000)
      await tries[1]?.answer(status)
      pass(500)
      expect(ids()).toHaveLength(2)
      pass(1500)
      expect(ids()).toEqual(['a', 'a', 'a'])
      expect(tries.map(({ sentAt }) => sentAt)).toEqual([...tries.map(({ sentAt }) => sentAt)].sort())
      expect(new Set(tries.map(({ sentAt }) => sentAt)).size).toBe(3)
    },
  )

  test('is retried after the `retry-after` time, or within a minute without it', async () => {
    const { sender, tries, pass, ids } = setUp()
    sender.send([batch('a')])
    await tries[0]?.answer(503, { 'retry-after': '30' })
    pass(29_000)
    expect(ids()).toHaveLength(1)
    pass(1000)
    for (let n = 1; n < 12; n++) {
      expect(ids()).toHaveLength(n + 1)
      await tries[n]?.answer(0)
      pass(60_000)
    }
  })

  test('is retried immediately when the page is online again', async () => {
    const { sender, tries, ids } = setUp()
    sender.send([batch('a')])
    await tries[0]?.answer(0)
    sender.retryNow()
    expect(ids()).toEqual(['a', 'a'])
  })

  test.each([400, 403, 404, 413])('with status %p is dropped', async (status) => {
    const { sender, tries, ids } = setUp()
    sender.send([batch('a'), batch('b')])
    await tries[0]?.answer(status)
    expect(ids()).toEqual(['a', 'b'])
  })

  test('because of an unknown token stops all sending', async () => {
    const { sender, tries, guard, ids } = setUp()
    sender.send([batch('a'), batch('b')])
    await tries[0]?.answer(401)
    sender.send([batch('c')])
    sender.sendLast()
    expect([ids(), guard.isOff()]).toEqual([['a'], true])
  })

  test('is dropped when thirty more batches are waiting', async () => {
    const { sender, tries, ids } = setUp()
    sender.send([batch('a')])
    await tries[0]?.answer(0)
    sender.send(Array.from({ length: 30 }, (_, n) => batch(`b${n}`)))
    sender.retryNow()
    expect(ids()).toEqual(['a', 'b0'])
  })
})

describe('when the page may close', () => {
  test('waiting and in-flight batches are sent once, with requests that outlive the page', async () => {
    const { sender, tries, ids } = setUp()
    sender.send([batch('a'), batch('b')])
    sender.sendLast()
    sender.sendLast()
    expect(ids()).toEqual(['a', 'a', 'b'])
    expect(tries.map(({ keepalive }) => keepalive)).toEqual([false, true, true])
    for (const one of tries) await one.answer(202)
    sender.retryNow()
    expect(ids()).toHaveLength(3)
  })

  test('at most 40 kB are sent, to leave room for vendors, and the rest is sent if the page stays open', async () => {
    const { sender, tries, ids } = setUp()
    sender.send([batch('a', 25_000), batch('b', 25_000), batch('c', 10_000)])
    sender.sendLast()
    expect(ids()).toEqual(['a', 'a', 'c'])
    for (const one of tries.slice()) await one.answer(202)
    expect(ids()).toEqual(['a', 'a', 'c', 'b'])
  })

  test.each<[string, Partial<SendFunctions>, string[]]>([
    ['can not outlive the page', { canKeep: false }, ['fetch', 'beacon']],
    ['has been removed', { fetch: undefined }, ['beacon']],
  ])('a beacon is used when `fetch` %s', async (_what, change, hows) => {
    const { sender, tries } = setUp(change)
    sender.send([batch('a')])
    sender.sendLast()
    await turns()
    expect(tries.map(({ how }) => how)).toEqual(expect.arrayContaining(hows))
  })
})

test('nothing fails if no function for sending is available', async () => {
  const { sender, pass } = setUp({ fetch: undefined, beacon: undefined })
  sender.send([batch('a')])
  sender.sendLast()
  await turns()
  pass(100_000)
})
