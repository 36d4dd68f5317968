import { describe, expect, test } from 'bun:test'
import { startEscalation } from '../../issues/escalation-store.ts'
import { PURCHASE_FACTS, purchaseMessage } from '../message/message.fixture.ts'
import { failureMessage } from '../message/message.ts'
import { htmlOf } from '../message/message-mail.ts'
import { subjectOf, textOf, titleOf } from '../message/message-text.ts'
import { bodyOf } from './jira/ticket-text.ts'
import { renderOne } from './slack/render-message.ts'
import { slackFixture } from './slack/slack.fixture.ts'
import { cardOf, fitCard } from './teams/adaptive-card.ts'
import { textOfMessage } from './webhook/chat-text.ts'
import { PRODUCTS, settingsFor } from './webhook/formats/products.fixture.ts'
import { webhookBody } from './webhook/standard-webhooks.ts'
import { destinationOf } from './webhook/webhook-config.ts'

const STEP = { step: 2, steps: 3, afterMinutes: 60, waitedMinutes: 90 }
const message = purchaseMessage({ transition: 'repeated', escalation: STEP })

describe('an escalation says how long nobody has acknowledged the issue, and which step it is', () => {
  const rendered: [string, string][] = [
    ['plain text', textOf(message)],
    ['an e-mail', htmlOf(message)],
    ['Slack', JSON.stringify(renderOne(message, null))],
    ['Microsoft Teams', fitCard((cut) => cardOf(message, cut))],
    ['Jira Cloud', JSON.stringify(bodyOf(message, true))],
    ['Jira Data Center', String(bodyOf(message, false)).replaceAll('\\', '')],
    ...PRODUCTS.map((product): [string, string] => {
      const { format } = product
      const { config, secrets } = settingsFor(product, 'https://product.example')
      const to = destinationOf({ ...config, ...secrets } as never)
      const outbound =
        format.shows === 'messages'
          ? format.post(textOfMessage(message, format.markup, format.maxLength), to)
          : format.request({ action: 'trigger', key: 'iss_1', message }, to)
      return [format.title, JSON.stringify(outbound).replaceAll('\\', '')]
    }),
  ]
  test.each(rendered)('in %s', (_, text) => {
    expect(text).toContain('Not acknowledged within 1 hour 30 minutes (step 2 of 3)')
  })
})

test('an escalation has its own heading', () => {
  expect(subjectOf(message)).toStartWith('[critical] Escalated: ')
  const lost = failureMessage(message, { at: 0, channel: 'Slack', reason: 'HTTP 404' })
  expect(titleOf(lost)).toBe('Notification not delivered')
})

test.each([
  [1, '1 minute'],
  [59, '59 minutes'],
  [60, '1 hour'],
  [90, '1 hour 30 minutes'],
  [1440, '1 day'],
  [1501, '1 day 1 hour'],
  [10_080, '7 days'],
])('%d minutes are written as %s', (waitedMinutes, text) => {
  const one = purchaseMessage({ transition: 'repeated', escalation: { ...STEP, waitedMinutes } })
  expect(textOf(one)).toContain(`Not acknowledged within ${text} (`)
})

test('a webhook receives a repeat with the escalation, and no other message has the field', () => {
  const { type, data } = JSON.parse(webhookBody(message))
  expect([type, data.escalation]).toEqual(['issue.repeated', STEP])
  const { data: plain } = JSON.parse(webhookBody(purchaseMessage({ transition: 'repeated' })))
  expect(data).toEqual({ ...plain, escalation: STEP })
})

test('a message never contains the channels of the step', () => {
  const withChannels = { ...STEP, channels: [{ type: 'email', target: 'boss@example.com' }], openingSeq: 1 }
  const made = purchaseMessage({ ...PURCHASE_FACTS, transition: 'repeated', escalation: withChannels })
  expect(made.escalation).toEqual(STEP)
})

/** Escalates `iss_1` to a Slack channel that has or has not received the opening. */
async function escalateToSlack(isOpenedThere: boolean) {
  const world = slackFixture()
  const id = await world.connected()
  if (isOpenedThere) await world.deliverTransition(id, 'opened')
  else world.issue('iss_1')
  world.clock.advance(2000)
  startEscalation(world.db, { id: 'iss_1', orgId: world.orgId }, 7, world.clock.now())
  const channels = [{ type: 'team_chat' as const, target: id }]
  world.tell('repeated', 'iss_1', { channels, escalationStep: 1, instance: '7.60', message })
  await world.deliver()
  return world
}

test('in the Slack channel of the opening, it is a reply that the channel shows as well', async () => {
  await using world = await escalateToSlack(true)
  const posts = world.slack.calls.filter(({ method }) => method === 'chat.postMessage')
  expect(posts).toHaveLength(2)
  expect(posts[1]?.args).toMatchObject({ thread_ts: expect.any(String), reply_broadcast: true })
})

test('in another Slack channel, it is a message that shows the status of the issue', async () => {
  await using world = await escalateToSlack(false)
  expect(JSON.stringify(world.slack.messages)).toContain('🔴 Open')
  world.setStatusByUser('acknowledged')
  world.clock.advance(2000)
  await world.sync()
  const [shown] = world.slack.messages
  expect(JSON.stringify(shown)).toContain('🟠 Acknowledged by Alice')
  expect(JSON.stringify(shown)).toContain('Escalated')
})
