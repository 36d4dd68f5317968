import { describe, expect, test } from 'bun:test'
import type { Channel } from '../../../alerts/alert.ts'
import { SECOND_MS } from '../../../core/clock.ts'
import { APP_TOKEN, BOT_TOKEN, type SlackFixture, slackFixture } from './slack.fixture.ts'

/* Incoming webhooks of Slack, and of compatible products without Block Kit. */

async function tell(world: SlackFixture, target: string, transition: 'opened' | 'resolved' = 'opened') {
  world.clock.advance(SECOND_MS)
  if (!world.issueRow()) world.issue()
  const channels: Channel[] = [{ type: 'team_chat', target }]
  world.tell(transition, 'iss_1', { channels })
  await world.deliver()
}

describe('a webhook', () => {
  test('receives the full message as text and as blocks, from an address and from an integration', async () => {
    await using world = slackFixture()
    const { body } = await world.make({ webhookUrl: world.slack.webhookUrl })
    expect(body).toMatchObject({ status: 'connected', config: {} })
    for (const target of [body.id, world.slack.webhookUrl]) await tell(world, target)
    expect(world.summary()).toEqual(['opened delivered', 'opened delivered'])
    for (const { body } of world.slack.webhooks) {
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
    await tell(world, body.id, 'resolved')
    expect(world.slack.webhooks.at(-1)?.body.text).toContain('Resolved')
  })

  test('receives at most one message per second', async () => {
    await using world = slackFixture()
    const { webhookUrl } = world.slack
    const channels: Channel[] = [{ type: 'team_chat', target: webhookUrl }]
    for (const issueId of ['iss_1', 'iss_2']) world.tell('repeated', world.issue(issueId), { channels })
    await world.deliver()
    expect(world.slack.webhooks).toHaveLength(1)
    world.clock.advance(SECOND_MS)
    await world.deliver()
    expect(world.slack.webhooks).toHaveLength(2)
  })

  test('is checked by a test message, which reports what is wrong', async () => {
    await using world = slackFixture()
    const { make, call, slack, people, statusOf } = world
    const as = people.ada.key
    const good = await make({ webhookUrl: slack.webhookUrl })
    expect((await call('POST', `/v1/integrations/${good.body.id}/test`, { as })).status).toBe(200)
    expect(slack.webhooks[0]?.body.text).toContain('This is a test')
    world.clock.advance(SECOND_MS)
    const bad = await make({ webhookUrl: `${slack.url}/services/removed` })
    const { status, body } = await call('POST', `/v1/integrations/${bad.body.id}/test`, { as })
    expect([status, body.error]).toEqual([502, expect.stringContaining('no_service')])
    expect(await statusOf(bad.body.id)).toBe('reauth_required')
  })
})

test('a delivered message is posted again only when a replay is requested', async () => {
  await using world = slackFixture()
  const id = await world.connected()
  await world.told(id, 'opened')
  const [delivery] = world.deliveries()
  world.clock.advance(SECOND_MS)
  const path = `/v1/notifications/deliveries/${delivery?.id}/replay`
  expect((await world.call('POST', path, { as: world.people.bob.key })).status).toBe(200)
  await world.deliver()
  expect(world.slack.messages).toHaveLength(2)
  expect(world.summary()).toEqual(['opened delivered'])
  expect(world.issueRow()?.notificationsSent).toBe(1)
})

test('a message whose thread was deleted is posted to the channel', async () => {
  await using world = slackFixture()
  const { slack, told } = world
  const id = await world.connected()
  await told(id, 'opened')
  slack.messages.length = 0
  await told(id, 'repeated')
  await told(id, 'resolved')
  expect(slack.messages.map(({ threadTs }) => threadTs)).toEqual([null, slack.messages[0]?.ts ?? ''])
  slack.messages.length = 0
  world.byHand('open')
  await world.sync()
  expect(await world.statusOf(id)).toBe('connected')
})

test('a notice about a failed delivery does not become an opening', async () => {
  await using world = slackFixture()
  const { slack } = world
  const id = await world.connected({ appToken: APP_TOKEN })
  const issueId = world.issue()
  world.tell('opened', issueId, { channels: [{ type: 'webhook', target: 'https://hooks.example.com/a' }] })
  const [lost] = world.deliveries()
  world.db
    .prepare(`UPDATE delivery SET transition = 'delivery_failed', channelType = 'team_chat', channelTarget = ?,
      message = json_set(message, '$.kind', 'delivery_failed') WHERE id = ?`)
    .run(id, lost?.id)
  await world.deliver()
  expect(slack.messages).toMatchObject([{ text: expect.stringContaining('Notification not delivered') }])
  expect(JSON.stringify(slack.messages[0]?.blocks)).not.toContain('"actions"')
  await world.told(id, 'repeated')
  expect(slack.messages[1]?.threadTs).toBeNull()
})

test('a message with blocks that Slack rejects is sent as text', async () => {
  await using world = slackFixture()
  const { slack } = world
  const id = await world.connected()
  slack.behaviour.instead = (_method, { blocks }) =>
    blocks ? Response.json({ ok: false, error: 'msg_blocks_too_long' }) : null
  await world.told(id, 'opened')
  expect(world.summary()).toEqual(['opened delivered'])
  expect(slack.messages).toMatchObject([{ blocks: [], text: expect.stringContaining('GA4') }])
})

test('after a refusal of the channel, deliveries wait until another is chosen', async () => {
  await using world = slackFixture()
  const { slack, told, statusOf, choose } = world
  const id = await world.connected()
  slack.channels.set('C024BE91L', { isArchived: true })
  await told(id, 'opened')
  expect(world.deliveries()).toMatchObject([{ status: 'failed', lastError: expect.stringContaining('is_archived') }])
  expect(await statusOf(id)).toBe('incomplete')
  expect((await choose(id, 'C0OTHER', '#other')).status).toBe(200)
  expect(await statusOf(id)).toBe('connected')
  await told(id, 'opened', 'iss_2')
  expect(slack.messages.at(-1)?.channel).toBe('C0OTHER')
})

test('secrets that Slack echoes never reach a caller, a log or the database', async () => {
  await using world = slackFixture()
  const { slack, call, people, make } = world
  const as = people.ada.key
  const id = await world.connected({ appToken: APP_TOKEN })
  const hook = await make({ webhookUrl: slack.webhookUrl })
  slack.behaviour.instead = (method) => {
    const sent = method === 'webhook' ? slack.webhookUrl : method === 'apps.connections.open' ? APP_TOKEN : BOT_TOKEN
    return new Response(`no: ${sent} ${sent.replace(/^http:..[^/]*/, 'Cannot POST ')}`, { status: 403 })
  }
  world.listeners.start()
  await world.listeners.idle()
  await world.told(id, 'opened')
  await tell(world, hook.body.id)
  const answers = await Promise.all([
    call('GET', `/v1/integrations/${id}`, { as }),
    call('GET', '/v1/integrations', { as }),
    call('GET', '/v1/notifications/deliveries', { as }),
    ...world.deliveries().map((row) => call('GET', `/v1/notifications/deliveries/${row.id}`, { as })),
    call('POST', `/v1/integrations/${id}/test`, { as }),
    call('POST', `/v1/integrations/${hook.body.id}/test`, { as }),
    world.choose(id),
    make({ botToken: APP_TOKEN }),
    make({ webhookUrl: slack.webhookUrl, botToken: BOT_TOKEN }),
  ])
  const seen = JSON.stringify([answers.map(({ body }) => body), world.history(), world.reported.map(String)])
  expect(seen).toContain('no: …')
  const bytes = world.db.serialize()
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
])('%s is no webhook', async (webhookUrl) => {
  await using world = slackFixture()
  const { status, body } = await world.make({ webhookUrl })
  expect([status, body.error]).toEqual([400, expect.stringContaining('config.webhookUrl: ')])
})
