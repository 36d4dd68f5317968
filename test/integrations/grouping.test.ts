import { expect, test } from 'bun:test'
import PostalMime from 'postal-mime'
import { SECOND_MS } from '../../src/core/clock.ts'
import { mailbox, receiver } from '../../src/transport/receiver.fixture.ts'
import { testApp } from '../test-app.ts'

const ALERTS = 26
const start = Date.parse('2026-01-05T12:10:00Z')

test('an incident that triggers many alerts sends two e-mails, but one webhook request and one delivery per alert', async () => {
  await using post = await mailbox()
  await using hook = receiver()
  const smtpUrl = `smtp://127.0.0.1:${post.port}`
  await using world = await testApp({ smtpUrl, outboundAllow: '127.0.0.1', publicUrl: 'https://watch.example' })
  const { token } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  for (let index = 0; index < ALERTS; index++) {
    const { status } = await world.call('POST', '/v1/alerts', {
      body: {
        name: `Rule ${index}`,
        alertType: 'data_validation',
        severity: 'high',
        period: '1h',
        conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
        channels: [
          { type: 'email', target: 'ops@example.com' },
          { type: 'webhook', target: `${hook.url}/in` },
        ],
      },
    })
    expect(status).toBe(201)
  }
  await world.at(start)
  const page = { url: 'https://shop.example/checkout' }
  const events = [{ vendor: 'Shop', event: 'purchase', params: { value: '' } }]
  expect((await world.collect(token, { batchId: 'a-batch-1', page, events })).status).toBe(202)
  await world.at(start + SECOND_MS)
  expect(post.mails).toHaveLength(1)
  expect(hook.requests).toHaveLength(ALERTS)

  // A restart in between makes no difference.
  await world.restart()
  await world.at(start + 30 * SECOND_MS)
  expect(post.mails).toHaveLength(1)
  await world.at(start + 31 * SECOND_MS)
  expect(post.mails).toHaveLength(2)
  const { text = '' } = await PostalMime.parse(post.mails[1]?.source ?? '')
  const named = new Set(text.match(/issues\/iss_\w+/g))
  expect(named.size).toBe(20)
  expect(text).toContain(`${ALERTS - 1} issues`)
  expect(text).toContain(`${ALERTS - 1 - 20} more`)

  await world.at(start + 120 * SECOND_MS)
  expect(post.mails).toHaveLength(2)
  const { deliveries } = (await world.call('GET', '/v1/notifications/deliveries?limit=200')).body
  expect(deliveries).toHaveLength(2 * ALERTS)
  expect(new Set(deliveries.map(({ status }: { status: string }) => status))).toEqual(new Set(['delivered']))
  const { issues } = (await world.call('GET', '/v1/issues?limit=200')).body
  expect(issues.map((issue: { notificationsSent: number }) => issue.notificationsSent)).toEqual(Array(ALERTS).fill(2))
})
