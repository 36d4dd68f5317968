import { expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import type { Outbound, Reply } from '../transport/transport.ts'

const SETTINGS = {
  smtpUrl: 'smtp://127.0.0.1:1',
  operatorMail: 'ops@company.example',
  operatorWebhookUrl: 'https://hooks.example.com/secret-path-of-the-operator',
}

/** A transport that records what is sent, and answers with the current replies. */
function outbox() {
  const sent: Outbound[] = []
  const answers = { mail: 250, http: 200 }
  const transport = {
    async send(outbound: Outbound): Promise<Reply> {
      sent.push(outbound)
      return { kind: 'status', status: answers[outbound.kind], headers: {}, body: '' }
    },
  }
  const kinds = () => sent.map(({ kind }) => kind).sort()
  return { sent, answers, transport, kinds }
}

test('a message to the operator is sent by mail and webhook, and retried after a restart', async () => {
  const { sent, answers, transport, kinds } = outbox()
  answers.http = 503
  await using world = await testApp(SETTINGS, { transport })
  world.clock.advance(HOUR_MS)
  await world.crash()
  await world.run('deliver')
  expect(kinds()).toEqual(['http', 'mail'])
  expect(sent.find(({ kind }) => kind === 'mail')).toMatchObject({
    to: ['ops@company.example'],
    subject: expect.stringMatching(/^Tagwarden: nothing was collected from 2026-01-05/),
  })
  answers.http = 200
  await world.restart()
  world.clock.advance(MINUTE_MS)
  await world.run('deliver')
  expect(kinds()).toEqual(['http', 'http', 'mail'])
  const [first, second] = sent.filter((one) => one.kind === 'http')
  expect(second?.url).toBe(SETTINGS.operatorWebhookUrl)
  // The id lets the receiver recognise the repeat.
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'] ?? '')
  expect(JSON.parse(second?.body ?? '')).toEqual({
    text: expect.stringMatching(/^Tagwarden: Nothing was collected from 2026-01-05.*Counts from this period/),
    subject: expect.stringMatching(/^nothing was collected/),
    details: expect.stringContaining('Counts from this period'),
    at: expect.any(Number),
    server: expect.stringMatching(/^http/),
  })
  world.clock.advance(HOUR_MS)
  await world.run('deliver')
  expect(sent).toHaveLength(3)
  // The URL is a secret, so neither the log nor the database contains it.
  const rows = world.app.db.prepare('SELECT * FROM delivery').all()
  const attempts = world.app.db.prepare('SELECT * FROM deliveryAttempt').all()
  expect(JSON.stringify([rows, attempts, world.lines])).not.toContain('secret-path-of-the-operator')
})

test('while the database cannot be written, messages are sent directly', async () => {
  const { sent, transport, kinds } = outbox()
  await using world = await testApp(SETTINGS, { transport })
  const { db } = world.app
  db.exec(
    `CREATE TEMP TRIGGER full BEFORE INSERT ON delivery BEGIN SELECT raise(ABORT, 'database or disk is full'); END`,
  )
  world.clock.advance(HOUR_MS)
  await world.run('heartbeat')
  expect(sent).toEqual([])
  await world.run('send operator messages')
  expect(kinds()).toEqual(['http', 'mail'])
  db.exec('DROP TRIGGER full')
  world.clock.advance(MINUTE_MS)
  await world.run('send operator messages', 'deliver')
  expect(sent).toHaveLength(2)
})

test('no organization sees messages to the operator', async () => {
  const { transport } = outbox()
  await using world = await testApp(SETTINGS, { transport })
  world.clock.advance(HOUR_MS)
  await world.run('heartbeat', 'deliver')
  expect((await world.call('GET', '/v1/notifications/deliveries')).body.deliveries).toEqual([])
  expect((await world.call('GET', '/v1/orgs')).body.orgs).toHaveLength(1)
})

test('the heartbeat URL is requested only while the server is ready', async () => {
  const { sent, transport } = outbox()
  await using world = await testApp({ heartbeatUrl: 'https://hc.example.com/ping/uuid' }, { transport })
  await world.run('evaluate', 'call heartbeat URL')
  expect(sent).toMatchObject([{ kind: 'http', method: 'GET', url: 'https://hc.example.com/ping/uuid' }])
  // No evaluation has succeeded for more than two minutes.
  world.clock.advance(2 * MINUTE_MS + SECOND_MS)
  await world.run('heartbeat', 'call heartbeat URL')
  expect(sent).toHaveLength(1)
  await world.run('evaluate', 'call heartbeat URL')
  expect(sent).toHaveLength(2)
})

test('a failing heartbeat URL is logged once', async () => {
  const { answers, transport } = outbox()
  answers.http = 500
  await using world = await testApp({ heartbeatUrl: 'https://hc.example.com/ping/uuid' }, { transport })
  for (let n = 0; n < 3; n++) await world.run('call heartbeat URL')
  expect(world.warnings).toEqual(['TAGWARDEN_HEARTBEAT_URL cannot be reached: status 500'])
})
