import { describe, expect, test } from 'bun:test'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { until as waitUntil } from '../../../../test/run-program.ts'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { setAssignee, setStatus } from '../../../issues/store.ts'
import { APP_TOKEN, CHANNEL, type SlackFixture, slackFixture } from './slack.fixture.ts'

/* Button presses that are received through an outbound connection. */

const until = (isTrue: () => boolean | Promise<boolean>) => waitUntil('the condition', isTrue)

/** Sets up a bot with an open connection, and an open issue. */
async function listening(fixture: SlackFixture, issues = ['iss_1']) {
  const { slack, listeners } = fixture
  const id = await fixture.connected({ appToken: APP_TOKEN })
  for (const [user, email] of [
    ['U0BOB', 'BOB@example.com'],
    ['U0VERA', 'vera@example.com'],
    ['U0NOBODY', 'nobody@example.com'],
    ['U0MALLORY', 'mallory@example.com'],
  ] as const) {
    slack.users.set(user, { profile: { email } })
  }
  listeners.start()
  await until(() => slack.sockets.size === 1)
  for (const issueId of issues) await fixture.deliverTransition(id, 'opened', issueId)
  return id
}

interface Button {
  text: { text: string }
  action_id: string
  value: string
}

const buttonsOf = (message: { blocks: { type: string; elements?: unknown }[] } | undefined) =>
  (message?.blocks.find(({ type }) => type === 'actions')?.elements ?? []) as Button[]

let envelopes = 0

/** The envelope that Slack sends when a user presses a button. */
function pressed(fixture: SlackFixture, label: string, values: { user?: string; index?: number; more?: object } = {}) {
  const { user = 'U0BOB', index = 0, more = {} } = values
  const message = fixture.slack.messages[index]
  const button = buttonsOf(message).find(({ text }) => text.text === label)
  const envelope = {
    envelope_id: `envelope-${++envelopes}`,
    type: 'interactive',
    accepts_response_payload: true,
    payload: {
      type: 'block_actions',
      user: { id: user, team_id: 'T024BE7LD' },
      channel: { id: message?.channel },
      container: { type: 'message', message_ts: message?.ts, channel_id: message?.channel },
      actions: [{ ...button, type: 'button', action_ts: `${envelopes}.0` }],
      ...more,
    },
  }
  fixture.slack.say(envelope)
  return envelope
}

const acknowledged = ({ slack }: SlackFixture, { envelope_id }: { envelope_id: string }) =>
  until(() => slack.acknowledged.includes(envelope_id))

/** A TCP proxy that can be frozen. While frozen, it neither forwards data nor closes connections. */
async function frozenRelay(to: number) {
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const [from, onto] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('data', (chunk) => {
        if (!isFrozen) onto.write(chunk)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/link`,
    freeze() {
      isFrozen = true
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe('a Slack button', () => {
  test.each([
    ['Acknowledge', 'acknowledged', ['Resolve', 'Mute']],
    ['Resolve', 'resolved', []],
    ['Mute', 'muted', ['Resolve']],
  ])('labelled %s acts on behalf of the member with the same e-mail address', async (label, status, left) => {
    await using fixture = slackFixture()
    await listening(fixture)
    expect(buttonsOf(fixture.slack.messages[0]).map(({ text }) => text.text)).toEqual([
      'Acknowledge',
      'Resolve',
      'Mute',
    ])
    await acknowledged(fixture, pressed(fixture, label))
    await until(() => fixture.issueRow()?.status === status)
    expect(fixture.issueRow()?.statusBy).toBe(fixture.people.bob.userId)
    await fixture.sync()
    expect(JSON.stringify(fixture.slack.messages[0]?.blocks)).toContain('by Bob')
    expect(buttonsOf(fixture.slack.messages[0]).map(({ text }) => text.text)).toEqual(left)
    expect(fixture.slack.ephemerals).toEqual([])
  })

  test('labelled Acknowledge assigns an unassigned issue to the member, and keeps another assignee', async () => {
    await using fixture = slackFixture()
    await listening(fixture)
    expect(fixture.issueRow()?.assigneeId).toBeNull()
    await acknowledged(fixture, pressed(fixture, 'Acknowledge'))
    await until(() => fixture.issueRow()?.status === 'acknowledged')
    const { bob, alice } = fixture.people
    expect(fixture.issueRow()?.assigneeId).toBe(bob.userId)
    await fixture.sync()
    expect(JSON.stringify(fixture.slack.messages[0]?.blocks)).toContain('Assigned to*\\nBob')
    const hand = { orgId: fixture.orgId, by: alice.userId, now: fixture.clock.now() }
    setAssignee(fixture.db, hand, 'iss_1', alice.userId, () => {})
    setStatus(fixture.db, hand, 'iss_1', 'open', () => {})
    await fixture.sync()
    await acknowledged(fixture, pressed(fixture, 'Acknowledge'))
    await until(() => fixture.issueRow()?.status === 'acknowledged')
    expect(fixture.issueRow()?.assigneeId).toBe(alice.userId)
  })

  test.each([
    ['a viewer', 'U0VERA', {}],
    ['an unknown user', 'U0NOBODY', {}],
    ['a member of another organization', 'U0MALLORY', {}],
    ['a user from another workspace with the same e-mail address', 'U0BOB', { team_id: 'T0OTHER' }],
    ['a user with an unconfirmed e-mail address', 'U0BOB', { is_email_confirmed: false }],
    ['a deactivated user', 'U0BOB', { deleted: true }],
  ])('does nothing for %s, who receives a private reply', async (_name, user, facts) => {
    await using fixture = slackFixture()
    await listening(fixture)
    fixture.slack.users.set(user, { ...fixture.slack.users.get(user), ...facts })
    await acknowledged(fixture, pressed(fixture, 'Resolve', { user }))
    await until(() => fixture.slack.ephemerals.length === 1)
    expect(fixture.slack.ephemerals).toMatchObject([{ user, channel: CHANNEL }])
    expect(fixture.slack.ephemerals[0]?.text).toContain('only members')
    expect(fixture.issueRow()?.status).toBe('open')
  })

  test('replies with an explanation if the app may not look up the user', async () => {
    await using fixture = slackFixture()
    await listening(fixture)
    fixture.slack.behaviour.scopes = ['chat:write']
    pressed(fixture, 'Resolve')
    await until(() => fixture.slack.ephemerals.length === 1)
    expect(fixture.slack.ephemerals[0]?.text).toContain('missing_scope')
    expect(fixture.issueRow()?.status).toBe('open')
  })

  test('replies through response_url if the app is not in the channel', async () => {
    await using fixture = slackFixture()
    await listening(fixture)
    fixture.slack.channels.set(CHANNEL, { isMember: false })
    pressed(fixture, 'Resolve', { user: 'U0VERA', more: { response_url: fixture.slack.responseUrl } })
    await until(() => fixture.slack.responses.length === 1)
    expect(fixture.slack.responses).toMatchObject([{ response_type: 'ephemeral', replace_original: false }])
    pressed(fixture, 'Resolve', { user: 'U0VERA', more: { response_url: 'https://169.254.169.254/' } })
    await until(
      () => fixture.reported.length === 1 || fixture.slack.asked().filter((one) => one === 'users.info').length === 2,
    )
    expect(fixture.slack.responses).toHaveLength(1)
  })

  test('acts once if the event is resent, and replies if it has no effect', async () => {
    await using fixture = slackFixture()
    await listening(fixture)
    const first = pressed(fixture, 'Acknowledge')
    await until(() => fixture.issueRow()?.status === 'acknowledged')
    fixture.setStatusByUser('open')
    fixture.slack.say({ ...first, envelope_id: 'again', retry_attempt: 1 })
    await until(() => fixture.slack.acknowledged.includes('again'))
    await acknowledged(fixture, pressed(fixture, 'Resolve'))
    await until(() => fixture.issueRow()?.status === 'resolved')
    expect(fixture.history().filter(({ kind }) => kind === 'acknowledged')).toHaveLength(1)
    pressed(fixture, 'Resolve')
    await until(() => fixture.slack.ephemerals.length === 1)
    expect(fixture.slack.ephemerals[0]?.text).toContain('already resolved')
  })

  test('of another integration of the same app is received through the shared connection', async () => {
    await using fixture = slackFixture()
    await listening(fixture, [])
    const other = await fixture.connected({ appToken: APP_TOKEN })
    fixture.listeners.start()
    expect(fixture.slack.sockets.size).toBe(1)
    await fixture.deliverTransition(other, 'opened')
    pressed(fixture, 'Acknowledge')
    await until(() => fixture.issueRow()?.status === 'acknowledged')
  })

  test.each<[string, (button: Button, id: string) => object]>([
    ['an unknown action', (button) => ({ ...button, action_id: 'somebody-else' })],
    ['the id of another integration', (button) => ({ ...button, value: 'int_other:iss_1' })],
    ['an unknown issue', (button, id) => ({ ...button, value: `${id}:iss_9` })],
    ['invalid values', () => ({ action_id: 7, value: { a: 1 } })],
  ])('with %s changes nothing', async (_name, change) => {
    await using fixture = slackFixture()
    const id = await listening(fixture)
    const [button] = buttonsOf(fixture.slack.messages[0])
    if (!button) throw new Error('expected a button')
    await acknowledged(fixture, pressed(fixture, '', { more: { actions: [change(button, id)] } }))
    await acknowledged(fixture, pressed(fixture, '', { more: { actions: null, user: null } }))
    pressed(fixture, 'Acknowledge')
    await until(() => fixture.issueRow()?.status === 'acknowledged')
    expect(fixture.history().filter(({ kind }) => kind === 'acknowledged')).toHaveLength(1)
  })
})

describe('the Socket Mode connection', () => {
  test('is closed only after its replacement is open if Slack requests a refresh', async () => {
    await using fixture = slackFixture()
    const { slack } = fixture
    await listening(fixture)
    const opened = () => slack.asked().filter((method) => method === 'apps.connections.open').length
    for (const reason of ['warning', 'refresh_requested']) {
      const before = opened()
      slack.say({ type: 'disconnect', reason })
      await until(() => opened() === before + 1 && slack.sockets.size === 1)
    }
    pressed(fixture, 'Acknowledge')
    await until(() => fixture.issueRow()?.status === 'acknowledged')
  })

  test.each(['refresh_requested', 'link_disabled'])('is paused after repeated %s', async (reason) => {
    await using fixture = slackFixture()
    const { slack, listeners, clock } = fixture
    await fixture.connected({ appToken: APP_TOKEN })
    slack.behaviour.greeting = { type: 'disconnect', reason }
    listeners.start()
    await listeners.idle()
    await until(() => slack.sockets.size === 0)
    expect(slack.asked()).toHaveLength(reason === 'link_disabled' ? 1 : 3)
    slack.behaviour.greeting = { type: 'hello' }
    listeners.start()
    expect(slack.asked().length).toBeLessThan(4)
    clock.advance(SECOND_MS)
    listeners.start()
    await until(() => slack.sockets.size === 1)
  })

  test('is reopened after failures at increasing intervals', async () => {
    await using fixture = slackFixture()
    const { slack, clock, listeners, statusOf } = fixture
    const id = await listening(fixture, [])
    const opened = () => slack.asked().filter((method) => method === 'apps.connections.open').length
    slack.behaviour.instead = (method) =>
      method === 'apps.connections.open' ? Response.json({ ok: false, error: 'internal_error' }) : null
    for (const socket of slack.sockets) socket.terminate()
    await listeners.idle()
    const pauses: number[] = []
    for (let before = opened(), waited = 0; pauses.length < 4; ) {
      clock.advance(SECOND_MS)
      waited++
      listeners.start()
      await listeners.idle()
      if (opened() === before) continue
      pauses.push(waited)
      before = opened()
      waited = 0
    }
    expect(pauses).toEqual([1, 2, 4, 8])
    expect(await statusOf(id)).toBe('failing')
    slack.behaviour.instead = () => null
    clock.advance(MINUTE_MS)
    listeners.start()
    await until(async () => (await statusOf(id)) === 'connected')
  })

  test('is reopened after too long without data', async () => {
    await using fixture = slackFixture()
    fixture.network.quietMs = 60
    const { slack, clock, listeners } = fixture
    using relay = await frozenRelay(Number(slack.server.port))
    slack.behaviour.instead = (method) =>
      method === 'apps.connections.open' ? Response.json({ ok: true, url: relay.url }) : null
    await listening(fixture, [])
    relay.freeze()
    await listeners.idle()
    slack.behaviour.instead = () => null
    clock.advance(SECOND_MS)
    listeners.start()
    await until(() => slack.sockets.size === 2)
  })

  test.each([
    ['a rejected app token', { ok: false, error: 'invalid_auth' }, {}],
    ['a rate limit', { ok: false, error: 'ratelimited' }, { status: 429, headers: { 'retry-after': '30' } }],
    ['a private address', { ok: true, url: 'ws://10.0.0.1/link' }, {}],
    ['a metadata address', { ok: true, url: 'wss://169.254.169.254/link' }, {}],
    ['another URL scheme', { ok: true, url: 'file:///etc/passwd' }, {}],
    ['a non-JSON response', 'busy', { status: 503 }],
  ])('is not opened because of %s, although messages are still sent', async (_name, answer, init) => {
    await using fixture = slackFixture()
    const { slack, listeners, clock, statusOf } = fixture
    const id = await fixture.connected({ appToken: APP_TOKEN })
    slack.behaviour.instead = (method) =>
      method === 'apps.connections.open' ? Response.json(answer, init as ResponseInit) : null
    for (let tries = 0; tries < 3; tries++) {
      listeners.start()
      await listeners.idle()
      clock.advance(MINUTE_MS)
    }
    expect(slack.sockets.size).toBe(0)
    expect(await statusOf(id)).toBe('failing')
    await fixture.deliverTransition(id, 'opened')
    expect(fixture.summary()).toEqual(['opened delivered'])
    expect(JSON.stringify(fixture.reported)).not.toContain(APP_TOKEN)
  })

  test('is closed when the app token is removed, the integration is deleted, or the server stops', async () => {
    await using fixture = slackFixture()
    const { slack, listeners, call, people } = fixture
    const id = await listening(fixture, [])
    const as = people.ada.key
    await call('DELETE', `/v1/integrations/${id}`, { as })
    listeners.start()
    await until(() => slack.sockets.size === 0)
    const other = await fixture.connected({ appToken: APP_TOKEN })
    listeners.start()
    await until(() => slack.sockets.size === 1)
    const webhook = { provider: 'team_chat', config: { webhookUrl: slack.webhookUrl } }
    expect((await call('PUT', `/v1/integrations/${other}`, { as, body: webhook })).status).toBe(200)
    listeners.start()
    await until(() => slack.sockets.size === 0)
    await fixture.connected({ appToken: APP_TOKEN })
    listeners.start()
    await until(() => slack.sockets.size === 1)
    fixture.stopping.abort()
    await listeners.idle()
    await until(() => slack.sockets.size === 0)
  })

  test('is shared by all integrations of an app, and limited per organization', async () => {
    await using fixture = slackFixture()
    const { slack, listeners, make, choose } = fixture
    slack.behaviour.instead = (method) =>
      method === 'apps.connections.open' ? new Response('', { status: 503 }) : null
    for (let index = 0; index < 12; index++) {
      const { body } = await make({ botToken: 'xoxb-1-b0t-secret', appToken: `xapp-${index}-of-its-own` })
      fixture.clock.advance(SECOND_MS)
      await choose(body.id)
    }
    slack.calls.length = 0
    listeners.start()
    await listeners.idle()
    expect(slack.calls).toHaveLength(8)
  })

  test('is reopened after a failure while the database rejects writes', async () => {
    await using fixture = slackFixture()
    const { slack, listeners, db, clock, reported } = fixture
    await fixture.connected({ appToken: APP_TOKEN })
    slack.behaviour.instead = (method) =>
      method === 'apps.connections.open' ? new Response('', { status: 503 }) : null
    db.exec(`CREATE TRIGGER full BEFORE UPDATE ON integration BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
    for (let round = 0; round < 2; round++) {
      listeners.start()
      await listeners.idle()
      clock.advance(60 * SECOND_MS)
    }
    expect(reported.map(String)).toEqual([expect.stringContaining('the disk is full')])
    slack.behaviour.instead = () => null
    db.exec('DROP TRIGGER full')
    listeners.start()
    await until(() => slack.sockets.size === 1)
  })
})
