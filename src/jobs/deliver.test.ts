import { expect, test } from 'bun:test'
import { hook, outboxWorld } from '../integrations/outbox.fixture.ts'
import type { Outbound } from '../integrations/transport.ts'
import { deliverJob } from './deliver.ts'

function setUp() {
  const world = outboxWorld()
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
  const parts = {
    ...world,
    publicUrl: 'https://watch.example',
    transport,
    jitter: () => 0,
    mailConfigured: false,
    report,
  }
  return { ...world, sent, stopping, job: deliverJob(parts, stopping.signal) }
}

test('what waits is sent, once', async () => {
  const { job, sent, tell, summary } = setUp()
  tell('opened')
  await job.run()
  await job.run()
  expect(sent).toMatchObject([{ kind: 'http', url: hook.target }])
  expect(summary()).toEqual(['opened delivered'])
})

test('nothing more is sent once the program stops', async () => {
  const { job, sent, stopping, tell, summary } = setUp()
  tell('opened')
  stopping.abort()
  await job.run()
  expect(sent).toEqual([])
  expect(summary()).toEqual(['opened pending'])
})
