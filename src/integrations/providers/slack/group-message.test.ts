import { describe, expect, test } from 'bun:test'
import { SECOND_MS } from '../../../core/clock.ts'
import { APP_TOKEN, type SlackFixture, slackFixture } from './slack.fixture.ts'

/* Many issues opening at once: one message for the first, and one for those that follow within 30 s. */

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `iss_${index + 1}`)

/** Opens issues within a second and delivers until the outbox is empty. */
async function opened(world: SlackFixture, id: string, count: number) {
  const channels = [{ type: 'team_chat' as const, target: id }]
  for (const issueId of idsOf(count)) world.tell('opened', world.issue(issueId), { channels })
  await world.deliver()
  world.clock.advance(30 * SECOND_MS)
  await world.deliver()
}

const settle = async (world: SlackFixture) => {
  for (let seconds = 0; seconds < 3; seconds++) {
    world.clock.advance(SECOND_MS)
    await world.deliver()
  }
}

test('two hundred issues make two messages, in which each is listed or counted', async () => {
  await using world = slackFixture()
  const id = await world.connected()
  await opened(world, id, 200)
  const { messages } = world.slack
  expect(new Set(world.summary())).toEqual(new Set(['opened delivered']))
  expect(messages).toHaveLength(2)
  const shown = JSON.stringify(messages[1]?.blocks)
  expect(shown).toContain('199 issues opened within 30 seconds')
  expect(shown).toContain('and 179 more')
  expect(shown.split('•').length - 1).toBe(20)
  const { deliveryIds = '', issueIds = '' } = messages[1]?.metadata?.event_payload ?? {}
  const rest = world.deliveries().slice(1)
  expect(deliveryIds.split(',')).toEqual(rest.map((row) => row.id))
  expect(issueIds.split(',')).toEqual(rest.map((row) => row.issueId ?? ''))
  expect(world.issueRow('iss_150')?.notificationsSent).toBe(1)
})

test('a resolution is posted in the thread of the group message, which shows the status of all issues', async () => {
  await using world = slackFixture()
  const { slack, byHand, sync, told } = world
  const id = await world.connected()
  await opened(world, id, 5)
  const shared = slack.messages[1]
  await told(id, 'resolved', 'iss_3')
  expect(slack.messages.at(-1)).toMatchObject({ threadTs: shared?.ts ?? '', isBroadcast: false })
  for (const issueId of idsOf(5)) byHand('acknowledged', issueId)
  slack.calls.length = 0
  await sync()
  expect(slack.asked()).toEqual(['chat.update', 'chat.update'])
  expect(JSON.stringify(shared?.blocks)).toContain('🟠 Acknowledged 4')
  byHand('resolved', 'iss_2')
  await sync()
  expect(JSON.stringify(shared?.blocks)).toContain('🟠 Acknowledged 3 · 🟢 Resolved 1')
  expect(shared?.edits).toBe(2)
})

test.each([3, 250])('a lost response does not duplicate a message about %i issues', async (count) => {
  await using world = slackFixture()
  const id = await world.connected()
  const channels = [{ type: 'team_chat' as const, target: id }]
  for (const issueId of idsOf(count)) world.tell('opened', world.issue(issueId), { channels })
  await world.deliver()
  let lost = 0
  world.wayOut.loses = ({ url }) => url.endsWith('chat.postMessage') && lost++ === 0
  world.clock.advance(30 * SECOND_MS)
  await world.deliver()
  expect(world.summary().filter((line) => line.endsWith('pending'))).toHaveLength(count - 1)
  world.clock.advance(6 * SECOND_MS)
  await world.deliver()
  await settle(world)
  expect(new Set(world.summary())).toEqual(new Set(['opened delivered']))
  expect(world.slack.messages).toHaveLength(2)
  await world.told(id, 'resolved', `iss_${count}`)
  expect(world.slack.messages.at(-1)?.threadTs).toBe(world.slack.messages[1]?.ts ?? '')
})

describe('buttons', () => {
  test('of a group message ask for confirmation and act on all of its issues', async () => {
    await using world = slackFixture()
    const id = await world.connected({ appToken: APP_TOKEN })
    await opened(world, id, 4)
    const actions = world.slack.messages[1]?.blocks.find(({ type }) => type === 'actions')
    const elements = actions?.elements as { text: { text: string }; value: string; confirm: object }[]
    expect(elements.map(({ text }) => text.text)).toEqual(['Acknowledge all', 'Resolve all', 'Mute all'])
    expect(elements.every(({ value, confirm }) => value === id && confirm !== undefined)).toBe(true)
    world.slack.users.set('U0BOB', { profile: { email: 'bob@example.com' } })
    world.listeners.start()
    while (world.slack.sockets.size === 0) await Bun.sleep(5)
    const message = world.slack.messages[1]
    world.slack.say({
      envelope_id: 'all',
      type: 'interactive',
      payload: {
        type: 'block_actions',
        user: { id: 'U0BOB' },
        container: { message_ts: message?.ts, channel_id: message?.channel },
        actions: [{ ...elements[0], action_id: 'tagwarden_acknowledged', action_ts: '1.0' }],
      },
    })
    while (world.issueRow('iss_4')?.status !== 'acknowledged') await Bun.sleep(5)
    expect(idsOf(4).map((issueId) => world.issueRow(issueId)?.status)).toEqual([
      'open',
      'acknowledged',
      'acknowledged',
      'acknowledged',
    ])
  })
})
