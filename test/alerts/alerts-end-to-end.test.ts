import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import PostalMime from 'postal-mime'
import { DAY_MS, SECOND_MS } from '../../src/core/clock.ts'
import { mailbox, type Received, receiver } from '../../src/transport/receiver.fixture.ts'
import { type TestApp, testApp } from '../test-app.ts'

/** Returns the instant of a time such as `12:30` or `12:30:06` on the start day of every test, or on a later day. */
const time = (text: string, day = 0) => Date.parse(`2026-01-05T${text.padEnd(8, ':00')}Z`) + day * DAY_MS

/** Creates a domain and returns functions that send traffic to it. */
async function shop(world: TestApp) {
  const { body } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const { id, token } = body as { id: string; token: string }
  let batches = 0
  const collect = async (batch: object) => {
    const answer = await world.collect(token, {
      batchId: `a-batch-${++batches}`,
      page: { url: 'https://shop.example/checkout?x=1' },
      ...batch,
    })
    expect(answer).toMatchObject({ status: 202, body: { rejected: 0 } })
  }
  return {
    id,
    /** Sends a vendor's requests as its tag in a browser would. */
    hits: (...events: string[]) =>
      collect({
        hits: events.map((event) => ({
          url: `https://www.google-analytics.com/g/collect?v=2&tid=G-SHOP1&cid=1.2&en=${event}&dl=https%3A%2F%2Fshop.example%2F`,
          status: 204,
        })),
      }),
    /** Sends purchases as a server would. Purchases without a value violate `valueMissing`. */
    purchases: (...values: string[]) =>
      collect({
        events: values.map((value) => ({
          vendor: 'Shop',
          event: 'purchase',
          params: { value, to: 'ann@example.com' },
        })),
      }),
  }
}

const valueMissing = {
  name: 'Purchase has a value',
  alertType: 'data_validation',
  severity: 'high',
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
  period: '1h',
}

async function makeAlert(world: TestApp, input: object): Promise<string> {
  const { status, body } = await world.call('POST', '/v1/alerts', { body: input })
  expect({ status, body }).toMatchObject({ status: 201 })
  return body.id
}

const issuesOf = async (world: TestApp) => (await world.call('GET', '/v1/issues')).body.issues
const detailOf = async (world: TestApp, id: string) => (await world.call('GET', `/v1/issues/${id}`)).body
const historyOf = async (world: TestApp, id: string): Promise<string[]> =>
  (await detailOf(world, id)).history.map(({ kind }: { kind: string }) => kind)
const patch = async (world: TestApp, id: string, status: string) =>
  expect((await world.call('PATCH', `/v1/issues/${id}`, { body: { status } })).status).toBe(200)

/** Returns the issue. Fails unless there is exactly one. */
async function onlyIssue(world: TestApp) {
  const issues = await issuesOf(world)
  expect(issues).toHaveLength(1)
  return issues[0]
}

/** Throws unless the request is signed with the secret according to Standard Webhooks. */
function checkSignature({ headers, body }: Received, secret: string): void {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
}

test('an alert for stopped traffic is delivered once despite a failing receiver, and so is its recovery', async () => {
  const answers = [503, 200, 200, 200]
  await using hook = receiver((_request, index) => new Response('busy', { status: answers[index] ?? 500 }))
  await using gone = receiver(() => new Response('gone', { status: 410 }))
  await using world = await testApp({ outboundAllow: '127.0.0.1' })
  const { id: domainId, hits } = await shop(world)
  const alertId = await makeAlert(world, {
    name: 'Too few purchases',
    alertType: 'volume_threshold',
    severity: 'critical',
    volume: { op: 'lte', count: 0, event: 'purchase' },
    vendors: ['Google Analytics 4'],
    period: '15m',
    channels: [hook, gone].map(({ url }) => ({ type: 'webhook', target: `${url}/hook` })),
  })
  const { webhookSecret } = (await world.call('GET', '/v1/org')).body

  await world.at(time('12:03'))
  await hits('page_view', 'purchase')
  await world.at(time('12:15:01'))
  await hits('page_view')
  await world.at(time('12:29:59'))
  expect(await issuesOf(world)).toEqual([])

  // The window from 12:15 contains other events, but no purchase.
  await world.at(time('12:30:01'))
  const issue = await onlyIssue(world)
  expect(issue).toMatchObject({ alertId, status: 'open', severity: 'critical', occurrences: 1, notificationsSent: 0 })
  expect(issue.title).toBe('Too few purchases (Google Analytics 4 purchase): 0 events, expected more than 0')
  expect([hook.requests.length, gone.requests.length]).toEqual([1, 1])
  const log = (await world.call('GET', '/v1/notifications/deliveries')).body.deliveries
  // `delivery_failed` notifies the working receiver that the other receiver failed.
  expect(log.map(({ transition }: { transition: string }) => transition)).toEqual([
    'delivery_failed',
    'opened',
    'opened',
  ])
  const retrying = log.find(
    ({ status, attempts }: { status: string; attempts: number }) => status === 'pending' && attempts,
  )
  expect(retrying).toMatchObject({ attempts: 1, dueAt: time('12:30:06'), lastError: 'HTTP 503', issueId: issue.id })
  expect(log.find(({ status }: { status: string }) => status === 'failed')).toMatchObject({ lastError: 'HTTP 410' })

  // The retry waits until it is due, even across a restart.
  await world.at(time('12:30:06') - 1)
  await world.restart()
  await world.at(time('12:30:06') - 1)
  expect(hook.requests).toHaveLength(1)
  await world.at(time('12:30:06'))
  const [first, second] = hook.requests as [Received, Received]
  expect(second.headers['webhook-id']).toBe(retrying.id)
  expect(first.headers['webhook-id']).toBe(retrying.id)
  expect(second.body).toBe(first.body)
  for (const request of [first, second]) checkSignature(request, webhookSecret)
  expect([first, second].map(({ headers }) => headers['webhook-timestamp'])).toEqual(
    [time('12:30:01'), time('12:30:06')].map((at) => String(at / 1000)),
  )
  expect(JSON.parse(second.body)).toMatchObject({
    type: 'issue.opened',
    data: {
      issue: { id: issue.id, severity: 'critical', observed: 0, expected: 0, vendor: 'Google Analytics 4', openNow: 1 },
      alert: { id: alertId },
      domain: { id: domainId, name: 'Shop' },
      url: expect.stringContaining(issue.id),
    },
  })
  for (const seconds of [7, 60, 600]) await world.at(time('12:30') + seconds * SECOND_MS)
  expect(hook.requests).toHaveLength(3)
  expect(await onlyIssue(world)).toMatchObject({ notificationsSent: 1 })

  // Two windows without a violation resolve the issue. Only the receiver that was notified of the issue is notified of
  // its resolution.
  await hits('purchase')
  await world.at(time('12:45:01'))
  await hits('purchase')
  await world.at(time('12:59:59'))
  expect(await onlyIssue(world)).toMatchObject({ status: 'open' })
  await world.at(time('13:00:01'))
  await world.at(time('13:00:30'))
  expect(await onlyIssue(world)).toMatchObject({ status: 'resolved', occurrences: 1, notificationsSent: 2 })
  expect(hook.requests.map(({ body }) => JSON.parse(body).type)).toEqual([
    'issue.opened',
    'issue.opened',
    'delivery.failed',
    'issue.resolved',
  ])
  expect(hook.requests[3]?.headers['webhook-id']).not.toBe(retrying.id)
  expect(gone.requests).toHaveLength(1)
  expect(await historyOf(world, issue.id)).toEqual(['opened', 'delivery_failed', 'notified', 'resolved', 'notified'])
})

test('an issue about violating events goes through its whole life cycle, with e-mail notifications', async () => {
  await using post = await mailbox()
  await using world = await testApp({ smtpUrl: `smtp://127.0.0.1:${post.port}`, publicUrl: 'https://watch.example' })
  const { purchases } = await shop(world)
  await makeAlert(world, {
    ...valueMissing,
    throttle: { count: 1, per: 180, unit: 'minutes' },
    channels: [{ type: 'email', target: 'ops@example.com, boss@example.com' }],
  })
  const subjects = async () => {
    const mails = await Promise.all(post.mails.map(({ source }) => PostalMime.parse(source)))
    return mails.map(({ subject }) => subject?.replace(/^\[high\] (.*): Purchase has a value: .*/, '$1'))
  }

  // The first violation opens the issue immediately, long before its window ends.
  await world.at(time('12:10'))
  await purchases('49', '')
  await world.at(time('12:10:01'))
  const { id } = await onlyIssue(world)
  expect(await onlyIssue(world)).toMatchObject({ status: 'open', occurrences: 1, hosts: ['shop.example'] })
  expect(await subjects()).toEqual(['New issue'])
  const mail = await PostalMime.parse(post.mails[0]?.source ?? '')
  expect(post.mails[0]?.to).toEqual(['ops@example.com', 'boss@example.com'])
  for (const text of [mail.text, mail.html]) {
    for (const part of [
      '1 of 2 purchase events had no `value`; expected none',
      'Shop',
      `https://watch.example/issues/${id}`,
      'a***@e***.com',
    ]) {
      expect(text).toContain(part)
    }
    expect(text).not.toContain('ann@example.com')
  }

  // Further violations in the window are counted within a minute, even across a restart.
  await purchases('', '')
  await world.at(time('12:20'))
  expect(await onlyIssue(world)).toMatchObject({ occurrences: 3, capReached: false })
  await world.restart()
  await world.at(time('13:00:01'))
  expect(await onlyIssue(world)).toMatchObject({ occurrences: 3, capReached: false })

  // Each later window is evaluated when it ends. The next message includes the notifications that the throttle held
  // back.
  for (const [hour, occurrences] of [
    ['13', 4],
    ['14', 5],
  ] as const) {
    await world.at(time(`${hour}:30`))
    await purchases('')
    await world.at(time(`${Number(hour) + 1}:00:01`))
    expect(await onlyIssue(world)).toMatchObject({ occurrences, capReached: true, notificationsSent: 1 })
  }
  await purchases('')
  await world.at(time('16:00:01'))
  expect(await onlyIssue(world)).toMatchObject({ occurrences: 6, capReached: false, notificationsSent: 2 })
  expect(await subjects()).toEqual(['New issue', 'Still happening'])
  expect((await PostalMime.parse(post.mails[1]?.source ?? '')).text).toContain('2 earlier notifications')

  // An acknowledged issue counts violations but sends no messages until it is clear and fires again.
  await patch(world, id, 'acknowledged')
  await purchases('')
  await world.at(time('17:00:01'))
  expect(await onlyIssue(world)).toMatchObject({ status: 'acknowledged', occurrences: 7, notificationsSent: 2 })
  await world.at(time('19:10'))
  await purchases('')
  await world.at(time('19:10:01'))
  expect(await onlyIssue(world)).toMatchObject({ status: 'open', occurrences: 8, notificationsSent: 3 })

  // A muted issue counts violations but sends no messages. Nothing is lost in a crash.
  await patch(world, id, 'muted')
  await purchases('', '')
  await world.crash()
  await world.at(time('20:00:01'))
  expect(await onlyIssue(world)).toMatchObject({ status: 'muted', occurrences: 10, notificationsSent: 3 })
  await world.at(time('20:05'))
  await patch(world, id, 'open')

  // A day without a violation resolves the issue. Reopening it manually restarts that day.
  await world.at(time('20:00:01', 1))
  expect(await onlyIssue(world)).toMatchObject({ status: 'open' })
  await world.at(time('21:00:01', 1))
  expect(await onlyIssue(world)).toMatchObject({ status: 'resolved', occurrences: 10, notificationsSent: 4 })

  // A violation within a week reopens the issue. The message about a manual resolution is withdrawn if the resolution
  // is undone within 10 s.
  await world.at(time('10:00', 5))
  await purchases('')
  await world.at(time('10:00:01', 5))
  expect(await onlyIssue(world)).toMatchObject({ id, status: 'open', occurrences: 11, notificationsSent: 5 })
  await world.at(time('14:00', 5))
  await patch(world, id, 'resolved')
  await world.at(time('14:00:09', 5))
  await patch(world, id, 'open')
  await world.at(time('14:01', 5))
  await patch(world, id, 'resolved')
  await world.at(time('14:01:09', 5))
  expect(await onlyIssue(world)).toMatchObject({ notificationsSent: 5 })
  await world.at(time('14:01:10', 5))
  expect(await onlyIssue(world)).toMatchObject({ notificationsSent: 6 })

  // After more than a week, a violation opens a new issue.
  await world.at(time('14:02', 12))
  await purchases('')
  await world.at(time('14:02:01', 12))
  const issues = await issuesOf(world)
  expect(
    issues.map(({ status, occurrences }: { status: string; occurrences: number }) => [status, occurrences]),
  ).toEqual([
    ['open', 1],
    ['resolved', 11],
  ])
  expect(await subjects()).toEqual([
    'New issue',
    'Still happening',
    'Reopened',
    'Resolved',
    'Reopened',
    'Resolved',
    'New issue',
  ])
  const headers = await Promise.all(post.mails.map(({ source }) => PostalMime.parse(source)))
  expect(new Set(headers.map(({ messageId }) => messageId)).size).toBe(7)
  expect(new Set(headers.map(({ references }) => references)).size).toBe(2)
  expect(await historyOf(world, id)).toEqual([
    'opened',
    'notified',
    'fired',
    'held_back',
    'fired',
    'held_back',
    'fired',
    'notified',
    'acknowledged',
    'assigned',
    'fired',
    'reopened',
    'notified',
    'muted',
    'unmuted',
    'resolved',
    'notified',
    'reopened',
    'notified',
    'resolved',
    'reopened',
    'resolved',
    'notified',
  ])
})

test('after three hours of downtime, each missed window is evaluated once, in order', async () => {
  await using hook = receiver()
  await using world = await testApp({ outboundAllow: '127.0.0.1' })
  const { hits, purchases } = await shop(world)
  const channels = [{ type: 'webhook', target: `${hook.url}/hook` }]
  const volume = {
    name: 'Traffic',
    alertType: 'volume_threshold',
    volume: { op: 'lte', count: 0 },
    period: '1h',
    channels,
  }
  const volumeId = await makeAlert(world, volume)
  const validationId = await makeAlert(world, { ...valueMissing, channels })

  await world.at(time('12:05'))
  await hits('page_view')
  await purchases('')
  await world.at(time('12:50'))
  // The event is received but not evaluated before the stop, so it is neither in the warehouse nor counted by the
  // issue.
  await purchases('', '')
  await world.restart()
  await world.at(time('16:05'))
  await world.run('evaluate', 'deliver', 'evaluate', 'deliver')

  const issues = await issuesOf(world)
  const byAlert = (alertId: string) => issues.filter((issue: { alertId: string }) => issue.alertId === alertId)
  expect(byAlert(volumeId)).toMatchObject([
    { occurrences: 3, firstSeenAt: time('13:00'), lastSeenAt: time('16:00') - 1, status: 'open' },
  ])
  expect(byAlert(validationId)).toMatchObject([
    { occurrences: 3, firstSeenAt: time('12:05'), lastSeenAt: time('12:50'), status: 'open' },
  ])
  expect(await historyOf(world, byAlert(volumeId)[0].id)).toEqual([
    'opened',
    'fired',
    'fired',
    'notified',
    'notified',
    'notified',
  ])
  const messages = hook.requests.map(({ body }) => JSON.parse(body))
  const types = (alertId: string) => messages.filter(({ data }) => data.alert.id === alertId).map(({ type }) => type)
  expect(types(volumeId)).toEqual(['issue.opened', 'issue.repeated', 'issue.repeated'])
  expect(types(validationId)).toEqual(['issue.opened'])
  expect(new Set(hook.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(hook.requests.length)
})
