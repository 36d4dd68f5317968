import { describe, expect, test } from 'bun:test'
import type { AlertChannel } from '../../../alerts/alert.ts'
import { SECOND_MS } from '../../../core/clock.ts'
import { APP_TOKEN, BOT_TOKEN, type SlackFixture, slackFixture } from './slack.fixture.ts'

/* Incoming webhooks of Slack and of compatible products without Block Kit. */

async function tell(fixture: SlackFixture, target: string, transition: 'opened' | 'resolved' = 'opened') {
  fixture.clock.advance(SECOND_MS)
  if (!fixture.issueRow()) fixture.issue()
  const channels: AlertChannel[] = [{ type: 'team_chat', target }]
  fixture.tell(transition, 'iss_1', { channels })
  await fixture.deliver()
}

describe('a webhook', () => {
  test('receives the full message as text and blocks, whether given as a URL or an integration', async () => {
    await using fixture = slackFixture()
    const { body } = await fixture.make({ webhookUrl: fixture.slack.webhookUrl })
    expect(body).toMatchObject({ status: 'connected', config: {} })
    for (const target of [body.id, fixture.slack.webhookUrl]) await tell(fixture, target)
    expect(fixture.summary()).toEqual(['opened delivered', 'opened delivered'])
    for (const { body } of fixture.slack.webhooks) {
      for (const words of [
        'New issue · high',
        'GA4',
        'purchase',
        'shop.example',
        'https://watch.example/issues/iss_1',
      ]) {
        expect(body.text).toContain(words)
        expect(JSON.stringify(body.blocks)).toContain(words)
      }
      expect(body).not.toHaveProperty('metadata')
      expect(JSON.stringify(body.blocks)).not.toContain('"actions"')
    }
    await tell(fixture, body.id, 'resolved')
    expect(fixture.slack.webhooks.at(-1)?.body.text).toContain('Resolved')
  })

  test('receives at most one message per second', async () => {
    await using fixture = slackFixture()
    const { webhookUrl } = fixture.slack
    const channels: AlertChannel[] = [{ type: 'team_chat', target: webhookUrl }]
    for (const issueId of ['iss_1', 'iss_2']) fixture.tell('repeated', fixture.issue(issueId), { channels })
    await fixture.deliver()
    expect(fixture.slack.webhooks).toHaveLength(1)
    fixture.clock.advance(SECOND_MS)
    await fixture.deliver()
    expect(fixture.slack.webhooks).toHaveLength(2)
  })

  test('is verified with a test message that reports errors', async () => {
    await using fixture = slackFixture()
    const { make, call, slack, people, statusOf } = fixture
    const as = people.ada.key
    const good = await make({ webhookUrl: slack.webhookUrl })
    expect((await call('POST', `/v1/integrations/${good.body.id}/test`, { as })).status).toBe(200)
    expect(slack.webhooks[0]?.body.text).toContain('This is a test')
    fixture.clock.advance(SECOND_MS)
    const bad = await make({ webhookUrl: `${slack.url}/services/removed` })
    const { status, body } = await call('POST', `/v1/integrations/${bad.body.id}/test`, { as })
    expect([status, body.error]).toEqual([502, expect.stringContaining('no_service')])
    expect(await statusOf(bad.body.id)).toBe('reauth_required')
  })
})

test('a delivered message is posted again only when a replay is requested', async () => {
  await using fixture = slackFixture()
  const id = await fixture.connected()
  await fixture.deliverTransition(id, 'opened')
  const [delivery] = fixture.deliveries()
  fixture.clock.advance(SECOND_MS)
  const path = `/v1/notifications/deliveries/${delivery?.id}/replay`
  expect((await fixture.call('POST', path, { as: fixture.people.bob.key })).status).toBe(200)
  await fixture.deliver()
  expect(fixture.slack.messages).toHaveLength(2)
  expect(fixture.summary()).toEqual(['opened delivered'])
  expect(fixture.issueRow()?.notificationsSent).toBe(1)
})

test('a message whose thread was deleted is posted to the channel', async () => {
  await using fixture = slackFixture()
  const { slack, deliverTransition } = fixture
  const id = await fixture.connected()
  await deliverTransition(id, 'opened')
  slack.messages.length = 0
  await deliverTransition(id, 'repeated')
  await deliverTransition(id, 'resolved')
  expect(slack.messages.map(({ threadTs }) => threadTs)).toEqual([null, slack.messages[0]?.ts ?? ''])
  slack.messages.length = 0
  fixture.setStatusByUser('open')
  await fixture.sync()
  expect(await fixture.statusOf(id)).toBe('connected')
})

test('a failed-delivery notice does not become an opening message', async () => {
  await using fixture = slackFixture()
  const { slack } = fixture
  const id = await fixture.connected({ appToken: APP_TOKEN })
  const issueId = fixture.issue()
  fixture.tell('opened', issueId, { channels: [{ type: 'webhook', target: 'https://hooks.example.com/a' }] })
  const [lost] = fixture.deliveries()
  fixture.db
    .prepare(`UPDATE delivery SET transition = 'delivery_failed', channelType = 'team_chat', channelTarget = ?,
      message = json_set(message, '$.kind', 'delivery_failed') WHERE id = ?`)
    .run(id, lost?.id)
  await fixture.deliver()
  expect(slack.messages).toMatchObject([{ text: expect.stringContaining('Notification not delivered') }])
  expect(JSON.stringify(slack.messages[0]?.blocks)).not.toContain('"actions"')
  await fixture.deliverTransition(id, 'repeated')
  expect(slack.messages[1]?.threadTs).toBeNull()
})

test('a message whose blocks Slack rejects is sent as text', async () => {
  await using fixture = slackFixture()
  const { slack } = fixture
  const id = await fixture.connected()
  slack.behaviour.instead = (_method, { blocks }) =>
    blocks ? Response.json({ ok: false, error: 'msg_blocks_too_long' }) : null
  await fixture.deliverTransition(id, 'opened')
  expect(fixture.summary()).toEqual(['opened delivered'])
  expect(slack.messages).toMatchObject([{ blocks: [], text: expect.stringContaining('GA4') }])
})

test('after the channel is rejected, deliveries wait until another channel is chosen', async () => {
  await using fixture = slackFixture()
  const { slack, deliverTransition, statusOf, choose } = fixture
  const id = await fixture.connected()
  slack.channels.set('C024BE91L', { isArchived: true })
  await deliverTransition(id, 'opened')
  expect(fixture.deliveries()).toMatchObject([{ status: 'failed', lastError: expect.stringContaining('is_archived') }])
  expect(await statusOf(id)).toBe('incomplete')
  expect((await choose(id, 'C0OTHER', '#other')).status).toBe(200)
  expect(await statusOf(id)).toBe('connected')
  await deliverTransition(id, 'opened', 'iss_2')
  expect(slack.messages.at(-1)?.channel).toBe('C0OTHER')
})

test('secrets echoed by Slack never reach a caller, a log or the database', async () => {
  await using fixture = slackFixture()
  const { slack, call, people, make } = fixture
  const as = people.ada.key
  const id = await fixture.connected({ appToken: APP_TOKEN })
  const hook = await make({ webhookUrl: slack.webhookUrl })
  slack.behaviour.instead = (method) => {
    const sent = method === 'webhook' ? slack.webhookUrl : method === 'apps.connections.open' ? APP_TOKEN : BOT_TOKEN
    return new Response(`no: ${sent} ${sent.replace(/^http:..[^/]*/, 'Cannot POST ')}`, { status: 403 })
  }
  fixture.listeners.start()
  await fixture.listeners.idle()
  await fixture.deliverTransition(id, 'opened')
  await tell(fixture, hook.body.id)
  const answers = await Promise.all([
    call('GET', `/v1/integrations/${id}`, { as }),
    call('GET', '/v1/integrations', { as }),
    call('GET', '/v1/notifications/deliveries', { as }),
    ...fixture.deliveries().map((row) => call('GET', `/v1/notifications/deliveries/${row.id}`, { as })),
    call('POST', `/v1/integrations/${id}/test`, { as }),
    call('POST', `/v1/integrations/${hook.body.id}/test`, { as }),
    fixture.choose(id),
    make({ botToken: APP_TOKEN }),
    make({ webhookUrl: slack.webhookUrl, botToken: BOT_TOKEN }),
  ])
  const seen = JSON.stringify([answers.map(({ body }) => body), fixture.history(), fixture.reported.map(String)])
  expect(seen).toContain('no: …')
  const bytes = fixture.db.serialize()
  for (const secret of [BOT_TOKEN, APP_TOKEN, 'w3bhook-s3cret-of-24-ch']) {
    expect(seen).not.toContain(secret)
    expect(bytes.includes(secret)).toBe(false)
  }
})

test.each([
  'http://hooks.slack.com/services/a',
  'https://10.0.0.1/services/a',
  'https://169.254.169.254/a',
  'https://[::ffff:10.0.0.1]/a',
  'https://0xa000001/a',
  'https://me:secret@hooks.slack.com/a',
  'https://hooks.slack.com:22/a',
  'https://metadata.google.internal/a',
  'file:///etc/passwd',
])('%s is not a webhook URL', async (webhookUrl) => {
  await using fixture = slackFixture()
  const { status, body } = await fixture.make({ webhookUrl })
  expect([status, body.error]).toEqual([400, expect.stringContaining('config.webhookUrl: ')])
})
