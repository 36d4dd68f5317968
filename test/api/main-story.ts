import { expect } from 'bun:test'
import type { Received } from '../../src/transport/receiver.fixture.ts'
import type { Answer } from '../fixtures.ts'
import { until } from '../run-program.ts'

/** A server of the organization Acme, whose public URL is `https://watch.example`. */
export interface StoryServer {
  /** Calls the API with the owner's key. `path` is without `/v1`. */
  v1(method: string, path: string, body?: unknown): Promise<Answer['body']>
  /** Sends a batch to the collector. */
  collect(token: string, batch: object): Promise<Answer['body']>
  /** URL that the server may call, and the requests that it received. */
  hookUrl: string
  requests: readonly Received[]
}

/** The main use case: a request of a tag is collected, opens an issue, and sends a notification. */
export async function tellMainStory({ v1, collect, requests, hookUrl }: StoryServer): Promise<void> {
  expect(await v1('GET', '/whoami')).toMatchObject({ email: 'alice@example.com', orgName: 'Acme', role: 'owner' })
  const { id: domainId, token } = await v1('POST', '/domains', { name: 'Shop' })
  const { id: integrationId } = await v1('POST', '/integrations', {
    provider: 'webhook',
    config: { url: hookUrl },
  })
  const { id: alertId } = await v1('POST', '/alerts', {
    name: 'No addresses in purchases',
    alertType: 'data_validation',
    severity: 'critical',
    domainId,
    vendors: ['Google Analytics 4'],
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
    period: '1h',
    impactValue: 900,
    channels: [{ type: 'webhook', target: integrationId }],
  })
  const taken = await collect(token, {
    batchId: 'first-batch',
    sessionId: 'session-1',
    page: { url: 'https://shop.example/thanks?order=7', title: 'Thanks' },
    events: [{ id: 'fine', vendor: 'Shop', event: 'purchase', params: { to: 'ann@example.com' } }, { id: 'no vendor' }],
    hits: [
      { id: 'bad', url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=purchase&ep.to=ann%40example.com' },
      { id: 'good', url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=purchase&ep.to=nobody' },
    ],
  })
  expect(taken).toEqual({
    accepted: 3,
    rejected: 1,
    errors: [{ list: 'events', index: 1, error: expect.stringContaining('vendor: ') }],
  })

  // The issue is opened with its evidence and a notification is sent long before the hour ends.
  const issue = await until('the issue', async () => (await v1('GET', `/issues?alertId=${alertId}`)).issues[0] ?? null)
  expect(issue).toMatchObject({ status: 'open', severity: 'critical', occurrences: 1, impactValue: 900 })
  expect(issue.hosts).toEqual(['shop.example'])
  await until('the webhook message', () => requests.length > 0)
  const { type, data } = JSON.parse(requests[0]?.body ?? '')
  expect(type).toBe('issue.opened')
  expect(data.issue.id).toBe(issue.id)
  expect(data.url).toBe(`https://watch.example/issues/${issue.id}`)
  expect(data.sample).toMatchObject({ id: 'bad', event: 'purchase', sessionId: 'session-1', path: '/thanks' })
  expect(requests[0]?.body).not.toContain('ann@example.com')
  const violating = (await v1('GET', `/events?domainId=${domainId}`)).events.filter((event: object) =>
    JSON.stringify(event).includes(alertId),
  )
  expect(violating.map(({ id }: { id: string }) => id)).toEqual(['bad'])

  // A user acknowledges the issue.
  const noted = await v1('PATCH', `/issues/${issue.id}`, { status: 'acknowledged', notes: 'checkout team knows' })
  expect(noted).toMatchObject({ status: 'acknowledged', notes: 'checkout team knows', domain: 'Shop', domainId })
  const kinds = noted.history.map(({ kind }: { kind: string }) => kind)
  expect(kinds).toEqual(expect.arrayContaining(['opened', 'notified', 'note', 'acknowledged']))
  const bulk = await v1('POST', '/issues/bulk', { ids: [issue.id, 'iss_none'], status: 'open' })
  expect(bulk).toMatchObject({ updated: 1, failed: 1, errors: [{ index: 1 }] })
  expect(await v1('GET', '/issues?status=open')).toMatchObject({
    issues: [{ id: issue.id, notificationsSent: 1 }],
    openCounts: { critical: 1, high: 0, medium: 0, low: 0 },
  })

  // Deliveries are listed and can be sent again.
  const { deliveries } = await v1('GET', `/notifications/deliveries?issueId=${issue.id}`)
  expect(deliveries).toHaveLength(1)
  const [{ id: deliveryId, ...delivery }] = deliveries
  expect(delivery).toMatchObject({ status: 'delivered', transition: 'opened', attempts: 1, alertId })
  expect(await v1('POST', `/notifications/deliveries/${deliveryId}/replay`)).toMatchObject({ status: 'pending' })
  await until('the replayed message', () => requests.length > 1)
  expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([deliveryId, deliveryId])
  const { ok, deliveryId: testId } = await v1('POST', `/integrations/${integrationId}/test`)
  expect({ ok, sent: requests.at(-1)?.headers['webhook-id'] }).toEqual({ ok: true, sent: testId })
}
