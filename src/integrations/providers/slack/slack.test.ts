import { describe, expect, test } from 'bun:test'
import { SECOND_MS } from '../../../core/clock.ts'
import { APP_TOKEN, BOT_TOKEN, CHANNEL, slackFixture } from './slack.fixture.ts'

/* Tests of the Slack provider against a fake Slack server. */

describe('a bot', () => {
  test('requires a channel and is labeled with its name', async () => {
    await using fixture = slackFixture()
    const { make, choose, slack, statusOf, call, people } = fixture
    const { body } = await make({ botToken: BOT_TOKEN })
    expect(body).toMatchObject({ status: 'incomplete', label: 'default', config: {} })
    const test = await call('POST', `/v1/integrations/${body.id}/test`, { as: people.ada.key })
    expect(test.status).toBe(409)
    expect((await choose(body.id)).body).toEqual({ ok: true, label: '#web' })
    expect(slack.messages).toMatchObject([{ channel: CHANNEL, threadTs: null }])
    expect(await statusOf(body.id)).toBe('connected')
    fixture.clock.advance(SECOND_MS)
    expect((await choose(body.id, 'C0OTHER', '#other')).body).toEqual({ ok: true, label: '#web' })
    expect(slack.messages.at(-1)?.channel).toBe('C0OTHER')
  })

  test.each<[string, (fixture: ReturnType<typeof slackFixture>) => void, string]>([
    ['an unknown channel', ({ slack }) => void slack.channels.delete(CHANNEL), 'channel_not_found'],
    ['an archived channel', ({ slack }) => void slack.channels.set(CHANNEL, { isArchived: true }), 'is_archived'],
    [
      'a channel without the app',
      ({ slack }) => {
        slack.channels.set(CHANNEL, { isMember: false })
        slack.behaviour.scopes = ['chat:write']
      },
      'not_in_channel',
    ],
    [
      'missing scopes',
      ({ slack }) => {
        slack.behaviour.scopes = []
      },
      'missing_scope',
    ],
    [
      'a server error',
      ({ slack }) => {
        slack.behaviour.instead = () => new Response('', { status: 503 })
      },
      'HTTP 503',
    ],
  ])('is not changed if the test message is rejected: %s', async (_name, change, error) => {
    await using fixture = slackFixture()
    const { make, choose, slack, call, people } = fixture
    const { body } = await make({ botToken: BOT_TOKEN })
    change(fixture)
    const refused = await choose(body.id)
    expect(refused.status).toBe(502)
    expect(refused.body.error).toContain(error)
    expect(slack.messages).toEqual([])
    const now = await call('GET', `/v1/integrations/${body.id}`, { as: people.ada.key })
    expect(now.body).toMatchObject({ status: 'incomplete', label: 'default' })
  })

  test.each(['choose', 'test'])("returns Slack's rate limit in Retry-After (call: %s)", async (what) => {
    await using fixture = slackFixture()
    const { make, choose, slack, call, people } = fixture
    const { body } = await make({ botToken: BOT_TOKEN })
    if (what === 'test') await choose(body.id)
    const limited = { status: 429, headers: { 'retry-after': '30' } }
    slack.behaviour.instead = () => Response.json({ ok: false, error: 'ratelimited' }, limited)
    const path = `/v1/integrations/${body.id}/test`
    const answer = await (what === 'test' ? call('POST', path, { as: people.ada.key }) : choose(body.id))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([502, '30'])
  })

  test('is required to choose a channel, and must belong to the organization', async () => {
    await using fixture = slackFixture()
    const { make, choose, slack, call, people } = fixture
    const { body } = await make({ webhookUrl: slack.webhookUrl })
    expect((await choose(body.id)).status).toBe(409)
    expect((await choose('int_nobody')).status).toBe(404)
    const bot = await make({ botToken: BOT_TOKEN })
    const path = `/v1/integrations/team_chat/${bot.body.id}/channel`
    const chosen = { channelId: CHANNEL, channelName: '#web' }
    expect((await call('POST', path, { as: people.mallory.key, body: chosen })).status).toBe(404)
    expect((await call('POST', path, { as: people.bob.key, body: chosen })).status).toBe(403)
    expect(slack.messages).toEqual([])
  })

  test('shortens the channel name to fit a label', async () => {
    await using fixture = slackFixture()
    const { make, call, people, slack } = fixture
    const { body } = await make({ botToken: BOT_TOKEN })
    const choose = async (channelName: string) => {
      const path = `/v1/integrations/team_chat/${body.id}/channel`
      const answer = await call('POST', path, { as: people.ada.key, body: { channelId: CHANNEL, channelName } })
      return [answer.status, answer.body]
    }
    const blank = [400, { error: 'channelName: must contain a visible character' }]
    expect([await choose(' '), await choose('\u202e\n')]).toEqual([blank, blank])
    expect(slack.messages).toEqual([])
    expect(await choose('w'.repeat(200))).toEqual([200, { ok: true, label: `${'w'.repeat(99)}…` }])
  })

  test('posts later messages in the thread of the opening message, and reopenings also in the channel', async () => {
    await using fixture = slackFixture()
    const { slack, deliverTransition } = fixture
    const id = await fixture.connected()
    for (const transition of ['opened', 'repeated', 'resolved', 'reopened', 'resolved'] as const)
      await deliverTransition(id, transition)
    expect(fixture.summary().every((line) => line.endsWith('delivered'))).toBe(true)
    const [opening] = slack.messages
    expect(slack.messages.map(({ threadTs, isBroadcast }) => [threadTs, isBroadcast])).toEqual([
      [null, false],
      [opening?.ts ?? '', false],
      [opening?.ts ?? '', false],
      [opening?.ts ?? '', true],
      [opening?.ts ?? '', false],
    ])
    const [delivery] = fixture.deliveries()
    expect(opening?.metadata).toEqual({
      event_type: 'tagwarden',
      event_payload: { deliveryIds: delivery?.id ?? '', issueIds: 'iss_1' },
    })
    expect(slack.calls[0]?.args).toMatchObject({ unfurl_links: false, unfurl_media: false })
  })

  test('updates the status in the opening message without a notification', async () => {
    await using fixture = slackFixture()
    const { slack, deliverTransition, setStatusByUser, sync } = fixture
    const id = await fixture.connected()
    await deliverTransition(id, 'opened')
    const sent = fixture.issueRow()?.notificationsSent
    const shown = () => JSON.stringify(slack.messages[0]?.blocks)
    expect(shown()).toContain('🔴 Open')
    setStatusByUser('acknowledged')
    await sync()
    expect(shown()).toContain('🟠 Acknowledged by Alice')
    await sync()
    setStatusByUser('muted')
    setStatusByUser('open')
    setStatusByUser('resolved')
    await sync()
    expect(shown()).toContain('🟢 Resolved by Alice')
    expect(slack.asked()).toEqual(['chat.postMessage', 'chat.update', 'chat.update'])
    expect(fixture.issueRow()?.notificationsSent).toBe(sent)
  })

  test('waits when Slack limits edits, without being reported as failing', async () => {
    await using fixture = slackFixture()
    const { slack, deliverTransition, setStatusByUser, sync, clock, statusOf } = fixture
    const id = await fixture.connected()
    await deliverTransition(id, 'opened')
    slack.behaviour.instead = (method) =>
      method === 'chat.update'
        ? Response.json({ ok: false, error: 'ratelimited' }, { status: 429, headers: { 'retry-after': '30' } })
        : null
    setStatusByUser('acknowledged')
    for (let times = 0; times < 10; times++) {
      await sync()
      clock.advance(30 * SECOND_MS)
    }
    expect(slack.asked().filter((method) => method === 'chat.update')).toHaveLength(10)
    expect(await statusOf(id)).toBe('connected')
    slack.behaviour.instead = () => null
    await sync()
    expect(JSON.stringify(slack.messages[0]?.blocks)).toContain('🟠 Acknowledged by Alice')
  })

  test('posts at most one message per second to each channel', async () => {
    await using fixture = slackFixture()
    const { slack, clock } = fixture
    const id = await fixture.connected()
    const channels = [{ type: 'team_chat' as const, target: id }]
    for (const issueId of ['iss_1', 'iss_2', 'iss_3']) {
      fixture.tell('repeated', fixture.issue(issueId), { channels })
    }
    const posted = []
    for (let second = 0; second < 4; second++) {
      await fixture.deliver()
      posted.push(slack.messages.length)
      clock.advance(SECOND_MS)
    }
    expect(posted).toEqual([1, 2, 3, 3])
    expect(fixture.deliveries().map(({ attempts }) => attempts)).toEqual([1, 1, 1])
  })
})

describe('a lost response', () => {
  const losing = (fixture: ReturnType<typeof slackFixture>, method: string) => {
    let lost = 0
    fixture.network.losesResponse = ({ url }) => url.endsWith(method) && lost++ === 0
  }

  test.each(['opened', 'repeated', 'reopened'] as const)(
    'does not duplicate the message for the transition: %s',
    async (transition) => {
      await using fixture = slackFixture()
      const { slack, clock } = fixture
      const id = await fixture.connected()
      if (transition !== 'opened') await fixture.deliverTransition(id, 'opened')
      const before = slack.messages.length
      losing(fixture, 'chat.postMessage')
      await fixture.deliverTransition(id, transition)
      expect(fixture.deliveries().at(-1)).toMatchObject({ status: 'pending' })
      clock.advance(6 * SECOND_MS)
      await fixture.deliver()
      expect(fixture.deliveries().at(-1)).toMatchObject({ status: 'delivered' })
      expect(slack.messages).toHaveLength(before + 1)
      await fixture.deliverTransition(id, 'resolved')
      expect(slack.messages.at(-1)?.threadTs).toBe(slack.messages[0]?.ts ?? '')
    },
  )

  test('does not lose the message if the app may not read the channel', async () => {
    await using fixture = slackFixture()
    const { slack, clock } = fixture
    const id = await fixture.connected()
    slack.behaviour.scopes = ['chat:write']
    losing(fixture, 'chat.postMessage')
    await fixture.deliverTransition(id, 'opened')
    clock.advance(6 * SECOND_MS)
    await fixture.deliver()
    expect(fixture.summary()).toEqual(['opened delivered'])
    expect(slack.messages).toHaveLength(2)
  })

  test('is resolved by searching hundreds of channel messages', async () => {
    await using fixture = slackFixture()
    const { slack, clock } = fixture
    const id = await fixture.connected()
    losing(fixture, 'chat.postMessage')
    await fixture.deliverTransition(id, 'opened')
    const [ours] = slack.messages
    if (!ours) throw new Error('expected a message')
    const others = Array.from({ length: 450 }, (_, n) => ({
      ...ours,
      ts: `${Number(ours.ts) + n + 1}`,
      metadata: null,
    }))
    slack.messages.push(...others)
    clock.advance(6 * SECOND_MS)
    await fixture.deliver()
    expect(slack.asked()).toEqual(['chat.postMessage', ...Array(3).fill('conversations.history')])
    expect(fixture.summary()).toEqual(['opened delivered'])
  })

  test.each(['ratelimited', 'internal_error'])('does not post again while the search fails: %s', async (error) => {
    await using fixture = slackFixture()
    const { slack, clock } = fixture
    const id = await fixture.connected()
    losing(fixture, 'chat.postMessage')
    await fixture.deliverTransition(id, 'opened')
    slack.behaviour.instead = (method) =>
      method === 'conversations.history' ? Response.json({ ok: false, error }) : null
    clock.advance(6 * SECOND_MS)
    await fixture.deliver()
    expect(fixture.summary()).toEqual(['opened pending'])
    slack.behaviour.instead = () => null
    clock.advance(40 * SECOND_MS)
    await fixture.deliver()
    expect(fixture.summary()).toEqual(['opened delivered'])
    expect(slack.messages).toHaveLength(1)
  })

  test('leads to a new post if the request never arrived', async () => {
    await using fixture = slackFixture()
    const { slack, clock } = fixture
    const id = await fixture.connected()
    let cut = 0
    slack.behaviour.instead = (method) =>
      method === 'chat.postMessage' && cut++ === 0 ? new Response('gateway', { status: 502 }) : null
    await fixture.deliverTransition(id, 'opened')
    clock.advance(6 * SECOND_MS)
    await fixture.deliver()
    expect(slack.asked()).toEqual(['chat.postMessage', 'conversations.history', 'chat.postMessage'])
    expect(slack.messages).toHaveLength(1)
  })
})

describe('the configuration', () => {
  test.each<[string, object, string]>([
    ['an empty configuration', {}, 'config: an incoming webhook (webhookUrl) or a bot token (botToken) is required'],
    [
      'a webhook URL and a bot token',
      { webhookUrl: 'https://hooks.example.com/a', botToken: BOT_TOKEN },
      "config.webhookUrl: can't be combined",
    ],
    [
      'an app token alone',
      { appToken: APP_TOKEN },
      'config: an incoming webhook (webhookUrl) or a bot token (botToken) is required',
    ],
    ['swapped tokens', { botToken: APP_TOKEN }, 'config.botToken: is an app-level token'],
    ['a token with a line break', { botToken: 'xoxb-1\r\nx: y' }, 'config.botToken: must be a token without spaces'],
    ['a private address', { webhookUrl: 'https://10.0.0.1/hook' }, 'config.webhookUrl: host 10.0.0.1'],
  ])('is rejected: %s', async (_name, config, error) => {
    await using fixture = slackFixture()
    const { status, body } = await fixture.make(config)
    expect([status, body.error]).toEqual([400, expect.stringContaining(error)])
  })

  test('can change from a webhook to a bot and back', async () => {
    await using fixture = slackFixture()
    const { make, call, slack, people } = fixture
    const { body } = await make({ webhookUrl: slack.webhookUrl })
    const put = (config: object) =>
      call('PUT', `/v1/integrations/${body.id}`, { as: people.ada.key, body: { provider: 'team_chat', config } })
    expect((await put({ botToken: BOT_TOKEN, appToken: APP_TOKEN })).body.status).toBe('incomplete')
    expect((await put({ webhookUrl: slack.webhookUrl })).body.status).toBe('connected')
  })
})
