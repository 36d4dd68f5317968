import { describe, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../core/clock.ts'
import { addressGuard } from '../../transport/address-guard.ts'
import { httpTransport } from '../../transport/http-transport.ts'
import { receiver } from '../../transport/receiver.fixture.ts'
import { type MailOutbound, transport } from '../../transport/transport.ts'
import { type MessageHistory, NO_HISTORY } from '../message/message.ts'
import { type DeliveryRecord, messageOfDelivery } from './delivery.ts'
import { Dispatcher } from './dispatcher.ts'
import { MessageEnricher, PAUSE_AFTER_FAILURE_MS } from './message-enricher.ts'
import { hook, mail, outboxFixture } from './outbox.fixture.ts'

const history: MessageHistory = { ...NO_HISTORY, cause: { sentence: 'The release did it.' } }
const never = new AbortController().signal

/** Two channels that are notified of the same opening. `ask` replaces the event history. */
function setUp(ask: (signal: AbortSignal, id: string) => Promise<MessageHistory | null>) {
  const world = outboxFixture()
  const reported: unknown[] = []
  let asked = 0
  const asker = new MessageEnricher({
    ...world,
    fetchHistory({ id }, signal) {
      asked++
      return ask(signal, id)
    },
    report: (error) => void reported.push(error),
    timeoutMs: 100,
  })
  const complete = async (delivery: DeliveryRecord, signal = never) => {
    const message = messageOfDelivery(delivery)
    if (!message) throw new Error('the message is corrupt')
    return (await asker.enrich(delivery, message, signal)).cause?.sentence ?? null
  }
  const open = (id = 'iss_1') => {
    world.tell('opened', world.issue(id), { channels: [hook, mail] })
    return world.take()
  }
  return { ...world, complete, open, reported, asked: () => asked }
}

test('channels of one notification share a query whose result is stored with their deliveries', async () => {
  const { complete, open, asked, deliveries } = setUp(async () => history)
  const [first, second] = open()
  if (!first || !second) throw new Error('expected two deliveries')
  expect(await Promise.all([complete(first), complete(second)])).toEqual(['The release did it.', 'The release did it.'])
  expect(asked()).toBe(1)
  for (const delivery of deliveries()) expect(messageOfDelivery(delivery)).toMatchObject(history)
  const [again] = deliveries()
  if (again) expect(await complete(again)).toBe('The release did it.')
  expect(asked()).toBe(1)
})

test.each<[string, Partial<DeliveryRecord>]>([
  ['a second attempt', { attempts: 2 }],
  ['a test', { transition: 'test' }],
  ['a notice about a failed delivery', { transition: 'delivery_failed' }],
  ['a message without an issue', { issueId: null }],
  ['a late repeat', { transition: 'repeated', dueAt: 0 }],
  ['a late resolution', { transition: 'resolved', dueAt: 0 }],
])('the history is not queried for %s', async (_name, values) => {
  const { complete, open, asked } = setUp(async () => history)
  const [first] = open()
  expect(first && (await complete({ ...first, ...values }))).toBeNull()
  expect(asked()).toBe(0)
})

describe('a notification without history', () => {
  test('is sent when the history times out, and later notifications temporarily skip the history', async () => {
    const { complete, open, asked, clock, reported } = setUp(async (signal, id) =>
      id === 'iss_1' ? new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))) : history,
    )
    const [first] = open('iss_1')
    expect(first && (await complete(first))).toBeNull()
    const [second] = open('iss_2')
    expect(second && (await complete(second))).toBeNull()
    expect([asked(), reported]).toEqual([1, []])
    clock.advance(PAUSE_AFTER_FAILURE_MS)
    expect(second && (await complete(second))).toBe('The release did it.')
  })

  test('is sent for an organization with a slow history, but other organizations are unaffected', async () => {
    const { complete, open } = setUp(async (signal, id) =>
      id === 'iss_1' ? new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))) : history,
    )
    const [first] = open('iss_1')
    expect(first && (await complete(first))).toBeNull()
    const [second] = open('iss_2')
    expect(second && (await complete(second))).toBeNull()
    expect(second && (await complete({ ...second, orgId: 'org_other' }))).toBe('The release did it.')
  })

  test('is sent when the history ignores the cancellation', async () => {
    const { complete, open } = setUp(() => new Promise(() => undefined))
    const [first] = open()
    expect(first && (await complete(first))).toBeNull()
  })

  test('is sent when the history fails, and the error is reported', async () => {
    const { complete, open, reported } = setUp(() => Promise.reject(new Error('a bug')))
    const [first] = open()
    expect(first && (await complete(first))).toBeNull()
    expect(reported).toEqual([new Error('a bug')])
  })

  test('is sent when the server shuts down', async () => {
    const stopping = new AbortController()
    const { complete, open } = setUp(() => {
      stopping.abort()
      return new Promise(() => undefined)
    })
    const [first] = open()
    expect(first && (await complete(first, stopping.signal))).toBeNull()
  })
})

test('the history is added to e-mails, once per notification, but not to webhooks', async () => {
  const world = outboxFixture()
  await using server = receiver()
  const mails: MailOutbound[] = []
  let asked = 0
  const historyAsker = new MessageEnricher({
    ...world,
    async fetchHistory() {
      asked++
      return history
    },
    report: () => undefined,
  })
  const { history: _, ...parts } = world
  const dispatcher = new Dispatcher(
    {
      ...parts,
      transport: transport({
        http: httpTransport({ guard: addressGuard(['127.0.0.1']) }),
        async mail(outbound) {
          const isFirst = mails.push(outbound) === 1
          if (isFirst) return { kind: 'error', message: 'greylisted', permanent: false }
          return { kind: 'status', status: 250, headers: {}, body: '' }
        },
      }),
      jitter: () => 0,
      mailConfigured: true,
      enricher: historyAsker,
      report: (error) => {
        throw error
      },
    },
    never,
  )
  world.tell('opened', world.issue(), { channels: [{ type: 'webhook', target: server.url }] })
  dispatcher.start()
  await dispatcher.idle()
  expect([server.requests.length, asked]).toEqual([1, 0])

  world.tell('repeated', 'iss_1', { channels: [{ type: 'webhook', target: server.url }, mail] })
  dispatcher.start()
  await dispatcher.idle()
  world.clock.advance(MINUTE_MS)
  dispatcher.start()
  await dispatcher.idle()
  expect(mails.map(({ text }) => text.includes('Probable cause: The release did it.'))).toEqual([true, true])
  expect(asked).toBe(1)
  expect(server.requests).toHaveLength(2)
  expect(server.requests[1]?.body).not.toContain('The release did it.')
})

test('at most two issues are queried concurrently across all organizations', async () => {
  let running = 0
  let most = 0
  const { complete, open } = setUp(async () => {
    running++
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return history
  })
  const deliveries = Array.from({ length: 12 }, (_, index) => open(`iss_${index}`)[0])
  const told = await Promise.all(deliveries.map((delivery) => delivery && complete(delivery)))
  expect(new Set(told)).toEqual(new Set(['The release did it.']))
  expect(most).toBe(2)
})
