import { expect, test } from 'bun:test'
import type { SettingName } from '../../src/config.ts'
import { SECOND_MS } from '../../src/core/clock.ts'
import {
  APP_TOKEN,
  BOT_TOKEN,
  CHANNEL,
  slackServer,
} from '../../src/integrations/providers/slack/slack-server.fixture.ts'
import { TEST_START } from '../fixtures.ts'
import { until } from '../run-program.ts'
import { testApp } from '../test-app.ts'

/* End to end with a fake Slack: from the event to the message, the button press and the updated message. */

test('an issue is posted and acknowledged with a button, and its message is updated', async () => {
  const time = { now: () => TEST_START }
  await using slack = slackServer({ now: () => time.now() })
  const settings = { TEAM_CHAT_URL: slack.apiUrl, outboundAllow: '127.0.0.1' }
  await using world = await testApp(settings as Partial<Record<SettingName, string>>)
  time.now = () => world.clock.now()
  slack.users.set('U0ALICE', { profile: { email: 'alice@example.com' } })

  const config = { botToken: BOT_TOKEN, appToken: APP_TOKEN }
  const { body: chat } = await world.call('POST', '/v1/integrations', { body: { provider: 'team_chat', config } })
  const chosen = await world.call('POST', `/v1/integrations/team_chat/${chat.id}/channel`, {
    body: { channelId: CHANNEL, channelName: '#web' },
  })
  expect(chosen.body).toEqual({ ok: true, label: '#web' })
  await world.run('listen')
  await until('the Slack connection to open', () => slack.sockets.size === 1)

  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const alert = {
    name: 'Purchase has a value',
    alertType: 'data_validation',
    conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
    period: '1h',
    channels: [{ type: 'team_chat', target: chat.id }],
  }
  expect((await world.call('POST', '/v1/alerts', { body: alert })).status).toBe(201)
  await world.collect(domain.token, {
    page: { url: 'https://shop.example/' },
    events: [{ vendor: 'Shop', event: 'purchase', params: { value: '', note: '<!channel>' } }],
  })
  await world.at(world.clock.now() + 2 * SECOND_MS)
  const message = slack.messages[1]
  expect(message?.text).toContain('Purchase has a value')
  expect(message?.text).toContain('&lt;!channel&gt;')

  const actions = message?.blocks.find(({ type }) => type === 'actions')?.elements as { action_id: string }[]
  slack.say({
    envelope_id: 'a-press',
    type: 'interactive',
    payload: {
      type: 'block_actions',
      user: { id: 'U0ALICE' },
      container: { message_ts: message?.ts, channel_id: CHANNEL },
      actions: [{ ...actions.find(({ action_id }) => action_id.endsWith('acknowledged')), action_ts: '1.0' }],
    },
  })
  const status = () => world.app.db.prepare('SELECT status FROM issue').pluck().get()
  await until('the status change', () => status() === 'acknowledged')
  await world.run('sync statuses')
  expect(JSON.stringify(message?.blocks)).toContain('Acknowledged by')
  await world.restart()
  await until('the Slack connection to close', () => slack.sockets.size === 0)
})
