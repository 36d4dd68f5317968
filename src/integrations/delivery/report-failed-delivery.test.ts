import { describe, expect, test } from 'bun:test'
import type { AlertChannel } from '../../alerts/alert.ts'
import { createAlert } from '../../alerts/alert-store.ts'
import { HOUR_MS, SECOND_MS } from '../../core/clock.ts'
import { mailbox, receiver } from '../../transport/receiver.fixture.ts'
import { roomServer } from '../providers/room/fictitious-chat.fixture.ts'
import { insertIntegration, setIntegrationStatus } from '../store.ts'
import { groupFixture, roomAt } from './group.fixture.ts'

function setUp(smtpPort?: number) {
  const world = groupFixture(smtpPort === undefined ? {} : { smtpPort })
  const { db, clock, orgId, tell, issue, deliveries } = world
  const alertTelling = (channels: AlertChannel[]) =>
    createAlert(db, clock, orgId, { name: 'Purchase', alertType: 'data_validation', period: '1h', channels }).id
  /** Opens an issue of an alert and attempts to notify one of the alert's channels. */
  const lose = async (issueId: string, alertId: string, channel: AlertChannel) => {
    issue(issueId, alertId)
    tell('opened', issueId, { channels: [channel] })
    await world.deliver()
    await world.deliver()
  }
  const losses = () =>
    deliveries()
      .filter(({ transition }) => transition === 'delivery_failed')
      .map(({ channelType, channelTarget, status }) => `${channelType} ${channelTarget} ${status}`)
  return { ...world, alertTelling, lose, losses }
}

const hookAt = (url: string): AlertChannel => ({ type: 'webhook', target: url })
const gone = () => receiver(() => new Response('gone', { status: 410 }))

describe('a failed delivery', () => {
  test('is reported to another channel of the alert and to the owners by e-mail', async () => {
    await using server = gone()
    await using chat = roomServer()
    await using box = await mailbox()
    const { alertTelling, lose, losses } = setUp(box.port)
    const channel = hookAt(`${server.url}/p4th?token=t0ken`)
    await lose('iss_1', alertTelling([channel, roomAt(chat.url)]), channel)
    expect(losses()).toEqual(['email owners delivered', `team_chat ${chat.url}/c delivered`])
    expect(chat.messages).toMatchObject([{ text: expect.stringContaining('could not be delivered') }])
    expect(JSON.stringify([chat.messages, box.mails])).not.toContain('p4th')
  })

  test('by e-mail is reported to another type of channel', async () => {
    await using chat = roomServer()
    await using box = await mailbox({
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode: 550 })),
    })
    const { alertTelling, lose, losses } = setUp(box.port)
    const [ann, ben]: AlertChannel[] = ['ann@example.com', 'ben@example.com'].map((target) => ({
      type: 'email',
      target,
    }))
    if (!ann || !ben) throw new Error('expected two channels')
    await lose('iss_1', alertTelling([ann, ben, roomAt(chat.url)]), ann)
    expect(losses()).toEqual([`team_chat ${chat.url}/c delivered`])
  })

  test('is reported to a working channel, preferably of another product and read by people', async () => {
    await using server = gone()
    await using works = receiver()
    await using chat = roomServer()
    const { db, box, orgId, clock, alertTelling, lose, losses } = setUp()
    const { id } = insertIntegration(db, box, {
      orgId,
      provider: 'webhook',
      label: 'Failing',
      createdAt: clock.now(),
      config: { url: works.url },
      secrets: { secret: `whsec_${Buffer.alloc(24, 9).toString('base64')}` },
    })
    const failing = { type: 'webhook', target: id } as const
    setIntegrationStatus(db, id, 'failing')
    const [lost, other] = [hookAt(server.url), hookAt(works.url)]
    await lose('iss_1', alertTelling([lost, failing, other, roomAt(chat.url)]), lost)
    await lose('iss_2', alertTelling([hookAt(`${server.url}/2`), failing, other]), hookAt(`${server.url}/2`))
    await lose('iss_3', alertTelling([hookAt(`${server.url}/3`), failing]), hookAt(`${server.url}/3`))
    await lose('iss_4', alertTelling([hookAt(`${server.url}/4`)]), hookAt(`${server.url}/4`))
    expect(losses()).toEqual([
      `team_chat ${chat.url}/c delivered`,
      `webhook ${works.url} delivered`,
      `webhook ${id} delivered`,
    ])
  })

  test('is reported at most once an hour, regardless of the number of failures', async () => {
    await using server = gone()
    await using chat = roomServer()
    const { clock, alertTelling, lose, losses } = setUp()
    const channel = hookAt(server.url)
    const alertId = alertTelling([channel, roomAt(chat.url)])
    for (const id of ['iss_1', 'iss_2', 'iss_3']) await lose(id, alertId, channel)
    expect(losses()).toHaveLength(1)
    clock.advance(HOUR_MS)
    await lose('iss_4', alertId, channel)
    expect(losses()).toHaveLength(2)
  })

  test('in a group is reported once', async () => {
    await using server = receiver((_request, index) => new Response('{"ts": "1"}', { status: index === 0 ? 200 : 410 }))
    await using works = receiver()
    const { clock, alertTelling, issue, tell, deliver, losses } = setUp()
    const channels = [roomAt(server.url)]
    const alertId = alertTelling([...channels, hookAt(works.url)])
    for (const id of ['iss_1', 'iss_2', 'iss_3']) {
      issue(id, alertId)
      tell('opened', id, { channels })
    }
    await deliver()
    clock.advance(30 * SECOND_MS)
    await deliver()
    expect(losses()).toEqual([`webhook ${works.url} delivered`])
  })

  test('is not reported again if the report itself fails', async () => {
    await using one = gone()
    await using other = gone()
    const { alertTelling, lose, losses, deliveries } = setUp()
    const channels = [hookAt(one.url), hookAt(other.url)]
    const alertId = alertTelling(channels)
    for (const [index, channel] of channels.entries()) await lose(`iss_${index}`, alertId, channel)
    expect(losses()).toEqual([`webhook ${other.url} failed`, `webhook ${one.url} failed`])
    expect(deliveries()).toHaveLength(4)
  })

  test('for a deleted alert is reported only to the owners', async () => {
    await using server = gone()
    await using box = await mailbox()
    const { lose, losses } = setUp(box.port)
    await lose('iss_1', 'alr_gone', hookAt(server.url))
    expect(losses()).toEqual(['email owners delivered'])
  })
})
