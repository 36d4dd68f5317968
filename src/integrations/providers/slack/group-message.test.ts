import { describe, expect, test } from 'bun:test'
import { SECOND_MS } from '../../../core/clock.ts'
import { APP_TOKEN, type SlackFixture, slackFixture } from './slack.fixture.ts'

/*
 * Tests in which many issues open at once. One message is sent for the first issue, and one for the issues that open in
 * the next 30 s.
 */

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `iss_${index + 1}`)

/** Opens several issues within a second and delivers until the outbox is empty. */
async function opened(fixture: SlackFixture, id: string, count: number) {
  const channels = [{ type: 'team_chat' as const, target: id }]
  for (const issueId of idsOf(count)) fixture.tell('opened', fixture.issue(issueId), { channels })
  await fixture.deliver()
  fixture.clock.advance(30 * SECOND_MS)
  await fixture.deliver()
}

const settle = async (fixture: SlackFixture) => {
  for (let seconds = 0; seconds < 3; seconds++) {
    fixture.clock.advance(SECOND_MS)
    await fixture.deliver()
  }
}

test('two hundred issues are sent in two messages that list or count each of them', async () => {
  await using fixture = slackFixture()
  const id = await fixture.connected()
  await opened(fixture, id, 200)
  const { messages } = fixture.slack
  expect(new Set(fixture.summary())).toEqual(new Set(['opened delivered']))
  expect(messages).toHaveLength(2)
  const shown = JSON.stringify(messages[1]?.blocks)
  expect(shown).toContain('199 issues opened within 30 seconds')
  expect(shown).toContain('and 179 more')
  expect(shown.split('•').length - 1).toBe(20)
  const { deliveryIds = '', issueIds = '' } = messages[1]?.metadata?.event_payload ?? {}
  const rest = fixture.deliveries().slice(1)
  expect(deliveryIds.split(',')).toEqual(rest.map((row) => row.id))
  expect(issueIds.split(',')).toEqual(rest.map((row) => row.issueId ?? ''))
  expect(fixture.issueRow('iss_150')?.notificationsSent).toBe(1)
})

test('a resolution is posted in the thread of the group message, and the group message shows the status of all issues', async () => {
  await using fixture = slackFixture()
  const { slack, setStatusByUser, sync, deliverTransition } = fixture
  const id = await fixture.connected()
  await opened(fixture, id, 5)
  const shared = slack.messages[1]
  await deliverTransition(id, 'resolved', 'iss_3')
  expect(slack.messages.at(-1)).toMatchObject({ threadTs: shared?.ts ?? '', isBroadcast: false })
  for (const issueId of idsOf(5)) setStatusByUser('acknowledged', issueId)
  slack.calls.length = 0
  await sync()
  expect(slack.asked()).toEqual(['chat.update', 'chat.update'])
  expect(JSON.stringify(shared?.blocks)).toContain('🟠 Acknowledged 4')
  setStatusByUser('resolved', 'iss_2')
  await sync()
  expect(JSON.stringify(shared?.blocks)).toContain('🟠 Acknowledged 3 · 🟢 Resolved 1')
  expect(shared?.edits).toBe(2)
})

test.each([3, 250])('a lost response does not duplicate a message about %i issues', async (count) => {
  await using fixture = slackFixture()
  const id = await fixture.connected()
  const channels = [{ type: 'team_chat' as const, target: id }]
  for (const issueId of idsOf(count)) fixture.tell('opened', fixture.issue(issueId), { channels })
  await fixture.deliver()
  let lost = 0
  fixture.network.losesResponse = ({ url }) => url.endsWith('chat.postMessage') && lost++ === 0
  fixture.clock.advance(30 * SECOND_MS)
  await fixture.deliver()
  expect(fixture.summary().filter((line) => line.endsWith('pending'))).toHaveLength(count - 1)
  fixture.clock.advance(6 * SECOND_MS)
  await fixture.deliver()
  await settle(fixture)
  expect(new Set(fixture.summary())).toEqual(new Set(['opened delivered']))
  expect(fixture.slack.messages).toHaveLength(2)
  await fixture.deliverTransition(id, 'resolved', `iss_${count}`)
  expect(fixture.slack.messages.at(-1)?.threadTs).toBe(fixture.slack.messages[1]?.ts ?? '')
})

describe('buttons', () => {
  test('of a group message require confirmation and apply to all of its issues', async () => {
    await using fixture = slackFixture()
    const id = await fixture.connected({ appToken: APP_TOKEN })
    await opened(fixture, id, 4)
    const actions = fixture.slack.messages[1]?.blocks.find(({ type }) => type === 'actions')
    const elements = actions?.elements as { text: { text: string }; value: string; confirm: object }[]
    expect(elements.map(({ text }) => text.text)).toEqual(['Acknowledge all', 'Resolve all', 'Mute all'])
    expect(elements.every(({ value, confirm }) => value === id && confirm !== undefined)).toBe(true)
    fixture.slack.users.set('U0BOB', { profile: { email: 'bob@example.com' } })
    fixture.listeners.start()
    while (fixture.slack.sockets.size === 0) await Bun.sleep(5)
    const message = fixture.slack.messages[1]
    fixture.slack.say({
      envelope_id: 'all',
      type: 'interactive',
      payload: {
        type: 'block_actions',
        user: { id: 'U0BOB' },
        container: { message_ts: message?.ts, channel_id: message?.channel },
        actions: [{ ...elements[0], action_id: 'tagwarden_acknowledged', action_ts: '1.0' }],
      },
    })
    while (fixture.issueRow('iss_4')?.status !== 'acknowledged') await Bun.sleep(5)
    expect(idsOf(4).map((issueId) => fixture.issueRow(issueId)?.status)).toEqual([
      'open',
      'acknowledged',
      'acknowledged',
      'acknowledged',
    ])
  })
})
