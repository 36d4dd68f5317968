import { expect, test } from 'bun:test'
import type { Outbound } from '../../transport/transport.ts'
import { deliver } from './deliver-messages.ts'
import { Dispatcher } from './dispatcher.ts'
import { hook, outboxFixture } from './outbox.fixture.ts'

function setUp() {
  const world = outboxFixture()
  world.issue()
  const sent: Outbound[] = []
  const transport = {
    async send(outbound: Outbound) {
      sent.push(outbound)
      return { kind: 'status', status: 200, headers: {}, body: '' } as const
    },
  }
  const report = (error: unknown) => {
    throw error
  }
  const stopping = new AbortController()
  const delivering = {
    ...world,
    transport,
    jitter: () => 0,
    mailConfigured: false,
    report,
  }
  const dispatcher = new Dispatcher(delivering, stopping.signal)
  const run = async () => {
    deliver({ ...world, publicUrl: 'https://watch.example' }, dispatcher)
    await dispatcher.idle()
  }
  return { ...world, sent, stopping, run }
}

test('pending messages are sent once', async () => {
  const { run, sent, tell, summary } = setUp()
  tell('opened')
  await run()
  await run()
  expect(sent).toMatchObject([{ kind: 'http', url: hook.target }])
  expect(summary()).toEqual(['opened delivered'])
})

test('nothing is sent after the server stops', async () => {
  const { run, sent, stopping, tell, summary } = setUp()
  tell('opened')
  stopping.abort()
  await run()
  expect(sent).toEqual([])
  expect(summary()).toEqual(['opened pending'])
})
