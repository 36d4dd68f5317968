import { describe, expect, test } from 'bun:test'
import type { AlertChannel } from '../../alerts/alert.ts'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { setStatus } from '../../issues/store.ts'
import { mailbox, receiver } from '../../transport/receiver.fixture.ts'
import { roomServer } from '../providers/room/fictitious-chat.fixture.ts'
import { replay } from './delivery-store.ts'
import { groupFixture, roomAt } from './group.fixture.ts'
import { groupFor } from './group-openings.ts'
import { hook, mail } from './outbox.fixture.ts'
import { releaseThrottled, shiftAfterClockStep } from './outbox.ts'

const numbered = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `iss_${from + index}`)

const byHand = (
  { db, people, clock }: ReturnType<typeof groupFixture>,
  issueId: string,
  to: 'acknowledged' | 'resolved',
) => setStatus(db, { orgId: people.orgId, by: people.bob.userId, now: clock.now() }, issueId, to, () => undefined)

describe('notifications of new issues for one channel', () => {
  test('are sent immediately for the first issue, and as one message for the issues of the next 30 s', async () => {
    await using server = roomServer()
    await using box = await mailbox()
    const { clock, open, deliver, deliveries, history, issueRow } = groupFixture({ smtpPort: box.port })
    const channels = [roomAt(server.url), mail]
    const first = clock.now()
    for (const id of numbered(4)) {
      open(id, channels)
      await deliver()
      clock.advance(9 * SECOND_MS)
    }
    expect(server.messages).toHaveLength(1)
    expect(box.mails).toHaveLength(1)
    clock.set(first + 30 * SECOND_MS - 1)
    await deliver()
    expect(server.messages).toHaveLength(1)
    clock.advance(1)
    await deliver()
    expect(server.messages).toHaveLength(2)
    expect(box.mails).toHaveLength(2)

    const [, group] = server.messages
    const rows = deliveries().filter(({ channelType }) => channelType === 'team_chat')
    expect(group?.ids).toEqual(rows.slice(1).map(({ id }) => id))
    for (const id of numbered(3, 2)) expect(group?.text).toContain(`/issues/${id}`)
    expect(deliveries().every(({ status, attempts }) => status === 'delivered' && attempts === 1)).toBe(true)
    for (const id of numbered(4)) {
      expect(history(id).map(({ kind }) => kind)).toEqual(['notified', 'notified'])
      expect(issueRow(id)).toMatchObject({ notificationsSent: 2 })
    }
    const [, mailed] = deliveries().filter(({ channelType }) => channelType === 'email')
    expect(box.mails[1]?.source).toContain(`Message-ID: <${mailed?.id}@tagwarden.example>`)
    expect(box.mails[1]?.source).toContain('Subject: [high] 3 new issues: Purchase has a value')
  })

  test('start a new group after 30 s', async () => {
    await using server = roomServer()
    const { clock, open, deliver } = groupFixture()
    const channels = [roomAt(server.url)]
    open('iss_1', channels)
    clock.advance(30 * SECOND_MS - 1)
    open('iss_2', channels)
    clock.advance(1)
    open('iss_3', channels)
    open('iss_4', channels)
    await deliver()
    expect(server.messages.map(({ ids }) => ids.length)).toEqual([1, 1, 1])
    clock.advance(30 * SECOND_MS)
    await deliver()
    expect(server.messages).toHaveLength(4)
  })

  test('do not delay other channels and organizations', async () => {
    await using server = roomServer()
    const { db, people, open, deliver } = groupFixture()
    const [here, there]: AlertChannel[] = [roomAt(server.url), roomAt(`${server.url}/other`)] as const
    open('iss_1', [here as AlertChannel])
    db.prepare('UPDATE delivery SET orgId = ?').run(people.mallory.orgId)
    open('iss_2', [here as AlertChannel])
    open('iss_3', [there as AlertChannel])
    await deliver()
    expect(server.messages).toHaveLength(3)
  })

  test('are sent separately and immediately to webhooks and issue trackers', async () => {
    await using server = receiver()
    const { open, deliver, deliveries } = groupFixture()
    const tracker: AlertChannel = { type: 'issue_tracker', target: 'int_gone' }
    for (const id of numbered(5)) open(id, [{ type: 'webhook', target: `${server.url}/in` }, tracker])
    expect(deliveries().every(({ groupId }) => groupId === null)).toBe(true)
    await deliver()
    expect(server.requests).toHaveLength(5)
    expect(deliveries().every(({ attempts }) => attempts === 1)).toBe(true)
  })

  test('are grouped, unlike repeats, resolutions and reopenings', async () => {
    await using server = roomServer()
    const { open, tell, deliver } = groupFixture()
    const channels = [roomAt(server.url)]
    for (const id of numbered(3)) open(id, channels)
    await deliver()
    tell('repeated', 'iss_1', { channels })
    tell('resolved', 'iss_1')
    await deliver()
    tell('reopened', 'iss_1', { channels })
    await deliver()
    expect(server.messages.map(({ text }) => text.split(' ')[0])).toEqual([
      'opened',
      'repeated',
      'resolved',
      'reopened',
    ])
  })
})

test('200 simultaneous issues cause two messages per chat and mailbox, which list or count all issues', async () => {
  await using server = roomServer()
  await using box = await mailbox()
  const { clock, open, deliver, deliveries, reported } = groupFixture({ smtpPort: box.port })
  const channels = [roomAt(server.url), mail]
  for (const id of numbered(200)) open(id, channels)
  await deliver()
  clock.advance(30 * SECOND_MS)
  await deliver()
  expect(reported).toEqual([])
  expect(deliveries().filter(({ status }) => status === 'delivered')).toHaveLength(400)
  for (const texts of [server.messages.map(({ text }) => text), box.mails.map(({ source }) => source)]) {
    expect(texts).toHaveLength(2)
    expect(texts[1]).toContain('199 issues opened within 30 seconds.')
    expect(texts[1]).toContain('and 179 more')
    for (const id of numbered(20, 2)) expect(texts[1]).toContain(`/issues/${id}`)
    expect(texts[1]).not.toContain('/issues/iss_22')
  }
})

test('an issue resolved before its group is sent is reported as opened, then resolved', async () => {
  await using server = roomServer()
  const { clock, open, tell, deliver, summary } = groupFixture()
  for (const id of numbered(3)) open(id, [roomAt(server.url)])
  await deliver()
  tell('resolved', 'iss_2')
  await deliver()
  expect(server.messages).toHaveLength(1)
  clock.advance(30 * SECOND_MS)
  await deliver()
  expect(server.messages.map(({ ids }) => ids.length)).toEqual([1, 2, 1])
  expect(server.messages[2]).toMatchObject({ text: expect.stringContaining('resolved iss_2'), thread: 'ts-1' })
  expect(summary()).toEqual([...Array(3).fill('opened delivered'), 'resolved delivered'])
})

test('notifications held back are sent together as soon as the throttle allows', async () => {
  await using server = roomServer()
  const { db, clock, open, tell, deliver, summary } = groupFixture()
  const throttle = { count: 2, per: 1, unit: 'minutes' } as const
  const channels = [roomAt(server.url)]
  for (const id of numbered(5)) open(id, channels, { throttle })
  const release = () =>
    releaseThrottled(db, clock.now(), (issueId) => void tell('opened', issueId, { channels, throttle }))
  release()
  await deliver()
  clock.advance(30 * SECOND_MS)
  await deliver()
  expect(server.messages).toHaveLength(2)
  // The alert was deleted, so no throttle applies.
  clock.advance(30 * SECOND_MS)
  expect(release()).toBe(3)
  await deliver()
  expect(server.messages).toHaveLength(3)
  clock.advance(30 * SECOND_MS)
  await deliver()
  expect(summary()).toHaveLength(4)
})

describe('a failing group', () => {
  test('is retried as a whole with the same ids', async () => {
    await using server = roomServer()
    const { clock, open, deliver, deliveries } = groupFixture()
    for (const id of numbered(5)) open(id, [roomAt(server.url)])
    await deliver()
    clock.advance(30 * SECOND_MS)
    server.behaviour.instead = () => new Response(null, { status: 503, headers: { 'retry-after': '20' } })
    await deliver()
    const later = { status: 'pending', attempts: 1, dueAt: clock.now() + 20 * SECOND_MS, lastError: 'HTTP 503' }
    expect(deliveries().slice(1)).toMatchObject(Array(4).fill(later))
    server.behaviour.instead = () => null
    clock.advance(20 * SECOND_MS)
    await deliver()
    expect(server.requests.map(({ body }) => JSON.parse(body).ids.length)).toEqual([1, 4, 4])
    expect(server.requests[2]?.body).toBe(server.requests[1]?.body)
  })

  test('fails only for its corrupt members, and omits deleted issues', async () => {
    await using server = roomServer()
    const { db, clock, open, deliver, deliveries } = groupFixture()
    for (const id of numbered(6)) open(id, [roomAt(server.url)])
    await deliver()
    db.prepare(`UPDATE delivery SET message = '{"secret' WHERE issueId IN ('iss_2', 'iss_4')`).run()
    db.prepare(`DELETE FROM issue WHERE id = 'iss_3'`).run()
    clock.advance(30 * SECOND_MS)
    await deliver()
    const lost = { status: 'failed', lastError: 'the stored message is corrupt' }
    const went = { status: 'delivered' }
    expect(deliveries()).toMatchObject([went, lost, lost, went, went])
    expect(server.messages.map(({ ids }) => ids.length)).toEqual([1, 2])
  })

  test('can be replayed one delivery at a time', async () => {
    await using server = roomServer()
    const { db, orgId, clock, open, deliver, deliveries } = groupFixture()
    for (const id of numbered(3)) open(id, [roomAt(server.url)])
    await deliver()
    clock.advance(30 * SECOND_MS)
    server.behaviour.instead = () => new Response('gone', { status: 410 })
    await deliver()
    expect(deliveries().map(({ status }) => status)).toEqual(['delivered', 'failed', 'failed'])
    server.behaviour.instead = () => null
    for (const { id } of deliveries().slice(1)) replay(db, orgId, id, clock.now())
    await deliver()
    expect(deliveries().map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered'])
    expect(server.messages.map(({ ids }) => ids.length)).toEqual([1, 1, 1])
  })
})

test('a status change updates the grouped message with all its issues', async () => {
  await using server = roomServer()
  const world = groupFixture()
  const { clock, open, deliver, follow } = world
  for (const id of numbered(4)) open(id, [roomAt(server.url)])
  await deliver()
  byHand(world, 'iss_3', 'acknowledged')
  clock.advance(30 * SECOND_MS)
  await deliver()
  await follow()
  const patches = () => server.requests.filter(({ method }) => method === 'PATCH').map(({ path }) => path)
  expect(server.messages[1]?.shows).toEqual(['iss_2 open', 'iss_3 acknowledged', 'iss_4 open'])
  expect(patches()).toEqual(['/c/messages/ts-1'])
  for (const id of numbered(4)) byHand(world, id, 'resolved')
  await follow()
  await follow()
  expect(server.messages[0]?.shows).toEqual(['iss_1 resolved'])
  expect(server.messages[1]?.shows).toEqual(['iss_2 resolved', 'iss_3 resolved', 'iss_4 resolved'])
  // Each message is updated once, regardless of how many of its issues changed.
  expect(patches()).toHaveLength(3)
})

test('a rejected status update is retried once for the whole message', async () => {
  await using server = roomServer()
  const world = groupFixture()
  const { clock, open, deliver, follow } = world
  for (const id of numbered(6)) open(id, [roomAt(server.url)])
  await deliver()
  clock.advance(30 * SECOND_MS)
  await deliver()
  server.behaviour.instead = () => new Response(null, { status: 503 })
  for (const id of numbered(4, 2)) byHand(world, id, 'acknowledged')
  const before = server.requests.length
  for (const _ of numbered(4)) await follow()
  expect(server.requests.length - before).toBe(1)
  server.behaviour.instead = () => null
  clock.advance(5 * SECOND_MS)
  for (const _ of numbered(4)) await follow()
  expect(server.requests.length - before).toBe(2)
  expect(server.messages[1]?.shows?.filter((one) => one.endsWith('acknowledged'))).toHaveLength(4)
})

test('a delivered member of a group is replayed on its own', async () => {
  await using server = roomServer()
  const { db, orgId, clock, open, deliver, deliveries } = groupFixture()
  for (const id of numbered(3)) open(id, [roomAt(server.url)])
  await deliver()
  clock.advance(30 * SECOND_MS)
  await deliver()
  for (const { id } of deliveries().slice(1)) replay(db, orgId, id, clock.now())
  await deliver()
  expect(server.messages.map(({ ids }) => ids.length)).toEqual([1, 2, 1, 1])
  expect(deliveries().every(({ status }) => status === 'delivered')).toBe(true)
})

test('the query for the first notification of a channel uses an index', () => {
  const { db, orgId } = groupFixture()
  const plans: string[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`)
    const values = { orgId, type: mail.type, target: mail.target, at: 0, since: 0 }
    plans.push(...(plan.all(values) as { detail: string }[]).map(({ detail }) => detail))
    return prepare(sql)
  }) as typeof db.prepare
  groupFor(db, { orgId, channel: mail, at: 0 })
  expect(plans).toEqual([
    expect.stringContaining('USING INDEX deliveryFirst (orgId=? AND channelType=? AND channelTarget=?'),
  ])
})

test('a group waits as long as intended after the clock is set back', async () => {
  await using server = roomServer()
  const { db, clock, open, deliver } = groupFixture()
  for (const id of numbered(2)) open(id, [roomAt(server.url)])
  await deliver()
  clock.advance(10 * SECOND_MS)
  const latestAt = clock.now()
  clock.set(latestAt - 60 * MINUTE_MS)
  shiftAfterClockStep(db, { at: clock.now(), latestAt })
  clock.advance(20 * SECOND_MS - 1)
  await deliver()
  expect(server.messages).toHaveLength(1)
  clock.advance(1)
  await deliver()
  expect(server.messages).toHaveLength(2)
})

test('a webhook is sent immediately while a chat message of the same alert waits', async () => {
  const { open, deliveries, clock } = groupFixture()
  for (const id of numbered(2)) open(id, [hook, mail])
  expect(deliveries().map(({ channelType, dueAt }) => [channelType, dueAt - clock.now()])).toEqual([
    ['webhook', 0],
    ['email', 0],
    ['webhook', 0],
    ['email', 30 * SECOND_MS],
  ])
})
