import { describe, expect, test } from 'bun:test'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { isCreate, jiraFixture, requestsSince } from './jira.fixture.ts'
import { jiraServer } from './jira-server.fixture.ts'

test.each(['cloud', 'dataCenter'] as const)('a ticket is created for an issue in %s', async (edition) => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock, edition)
  const { id } = await fixture.connected(server, { fields: { priority: { name: 'High' }, labels: ['tags'] } })
  await fixture.opened(id)
  expect(fixture.summary()).toEqual(['opened delivered'])
  expect(requestsSince(server)).toEqual([
    edition === 'cloud' ? 'POST /search/jql' : 'POST /search',
    'POST /issue',
    'GET /issue/OPS-1',
    'GET /myself',
  ])
  const [ticket] = server.tickets
  expect(ticket?.fields).toMatchObject({
    project: { key: 'OPS' },
    issuetype: { name: 'Task' },
    summary: 'Purchase has a value: events break the rule',
    labels: ['tags', 'tagwarden-iss_1'],
    priority: { name: 'High' },
  })
  const description = JSON.stringify(ticket?.fields.description)
  for (const part of [
    '3 events broke the rule',
    'Sample event (personal data masked)',
    'shop.example',
    'Since',
    'https://watch.example/issues/iss_1',
  ]) {
    expect(description).toContain(part)
  }
  expect(fixture.issueRow()?.trackerKey).toBe('OPS-1')
  expect(fixture.history().map(({ kind }) => kind)).toEqual(['tracker_linked', 'notified'])
})

test('a channel target can specify another project', async () => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock)
  const { id } = await fixture.connected(server)
  await fixture.opened(`${id}:WEB`)
  expect(server.tickets.map(({ key }) => key)).toEqual(['WEB-1'])
})

describe('later messages about an issue', () => {
  test.each(['cloud', 'dataCenter'] as const)('are added as comments in %s, once each', async (edition) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock, edition)
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    let lost = 0
    fixture.network.losesResponse = ({ url, method }) => url.endsWith('/comment') && method === 'POST' && lost++ === 0
    for (const transition of ['repeated', 'resolved', 'reopened'] as const) {
      fixture.clock.advance(MINUTE_MS)
      fixture.enqueueTransition(id, transition)
      await fixture.deliver()
      fixture.clock.advance(10 * SECOND_MS)
      await fixture.deliver()
    }
    expect(fixture.summary()).toEqual(['opened', 'repeated', 'resolved', 'reopened'].map((one) => `${one} delivered`))
    const comments = server.tickets[0]?.comments.map(({ body }) => JSON.stringify(body))
    expect(comments).toHaveLength(3)
    for (const [index, title] of ['Still happening', 'Resolved', 'Reopened'].entries()) {
      expect(comments?.[index]).toContain(title)
    }
    expect(server.tickets).toHaveLength(1)
  })

  test('are dropped after the ticket is deleted, and a reopening creates a new ticket', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    for (const ticket of server.tickets) ticket.isDeleted = true
    fixture.enqueueTransition(id, 'repeated')
    await fixture.deliver()
    expect(fixture.deliveries().at(-1)).toMatchObject({
      status: 'delivered',
      lastError: 'the ticket was deleted in Jira',
    })
    fixture.enqueueTransition(id, 'resolved')
    await fixture.deliver()
    fixture.enqueueTransition(id, 'reopened')
    await fixture.deliver()
    expect(server.tickets.filter(({ isDeleted }) => !isDeleted).map(({ key }) => key)).toEqual(['OPS-2'])
    expect(fixture.issueRow()?.trackerKey).toBe('OPS-2')
    expect(await fixture.statusOf(id)).toBe('connected')
  })

  test('fail without creating a new ticket if the project is no longer visible', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    await fixture.opened(id)
    server.behaviour.instead = ({ path }) =>
      /\/(?:issue|project)\//.test(path) ? Response.json({ errorMessages: ['No.'], errors: {} }, { status: 404 }) : null
    fixture.enqueueTransition(id, 'repeated')
    await fixture.deliver()
    expect(fixture.deliveries().at(-1)).toMatchObject({ status: 'failed', lastError: 'HTTP 404: No.' })
  })
})

test("a ticket that an anonymous user can't see is not treated as deleted", async () => {
  const fixture = jiraFixture()
  await using server = jiraServer(fixture.clock)
  const { id } = await fixture.connected(server)
  await fixture.opened(id)
  const headers = { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' }
  server.behaviour.instead = () => Response.json({ errorMessages: ['No.'], errors: {} }, { status: 404, headers })
  fixture.enqueueTransition(id, 'repeated')
  await fixture.deliver()
  expect(fixture.deliveries().at(-1)?.lastError).toStartWith('HTTP 401: Jira rejected the token')
  fixture.setStatusByUser('acknowledged')
  await fixture.follow()
  server.behaviour.instead = () => null
  fixture.setStatusByUser('resolved')
  await fixture.follow()
  expect(server.tickets[0]?.statusId).toBe('5')
})

describe('the creation of a ticket', () => {
  const problem = (status: number, messages: string[], errors: object = {}, headers: Record<string, string> = {}) =>
    Response.json({ errorMessages: messages, errors }, { status, headers })
  const rows: [string, () => Response, 'delivered' | 'pending' | 'failed', number | null, string | null][] = [
    ['no error', () => Response.json({ id: '1', key: 'OPS-77' }, { status: 201 }), 'delivered', null, null],
    [
      'a required field',
      () => problem(400, [], { customfield_10010: 'Team is required.' }),
      'failed',
      null,
      'HTTP 400: Team is required. (customfield_10010)',
    ],
    [
      'an invalid type',
      () => problem(400, [], { issuetype: 'Specify a valid issue type' }),
      'failed',
      null,
      'HTTP 400: Specify a valid issue type (issuetype)',
    ],
    [
      'a bad token',
      () => new Response('Client must be authenticated to access this resource.', { status: 401 }),
      'failed',
      null,
      'HTTP 401: Jira rejected the token: it has expired, was revoked, or belongs to another account',
    ],
    [
      'a CAPTCHA',
      () =>
        new Response('', {
          status: 403,
          headers: { 'x-authentication-denied-reason': 'CAPTCHA_CHALLENGE; login-url=x' },
        }),
      'failed',
      null,
      'HTTP 403: Jira requires a CAPTCHA: sign in to Jira with this account in a browser, then test the integration',
    ],
    [
      'a missing permission',
      () => problem(403, ['You do not have permission to create issues in this project.']),
      'failed',
      null,
      'HTTP 403: You do not have permission to create issues in this project.',
    ],
    [
      'an unknown project',
      () => problem(404, ["No project could be found with key 'OPS'."]),
      'failed',
      null,
      "HTTP 404: No project could be found with key 'OPS'.",
    ],
    [
      'a removed endpoint',
      () => problem(410, ['The requested API has been removed.']),
      'failed',
      null,
      'HTTP 410: The requested API has been removed.',
    ],
    ['an oversized request', () => problem(413, []), 'failed', null, 'HTTP 413'],
    [
      'a redirect',
      () => new Response('', { status: 302, headers: { location: '/login.jsp' } }),
      'failed',
      null,
      'HTTP 302: redirects are not followed; set config.url to the URL that Jira redirects to',
    ],
    [
      'a rate limit',
      () => problem(429, ['Rate limit exceeded.'], {}, { 'retry-after': '40' }),
      'pending',
      40,
      'HTTP 429: Rate limit exceeded.',
    ],
    [
      'a rate limit with a reset time',
      () => problem(429, [], {}, { 'x-ratelimit-reset': '2026-01-05T12:01Z' }),
      'pending',
      60,
      'HTTP 429',
    ],
    ['a rate limit without a duration', () => problem(429, []), 'pending', 5, 'HTTP 429'],
    ['a request timeout', () => problem(408, []), 'pending', 5, 'HTTP 408'],
    ['a server error', () => problem(500, ['Internal server error']), 'pending', 5, 'HTTP 500: Internal server error'],
    ['a bad gateway', () => new Response('<html>', { status: 502 }), 'pending', 5, 'HTTP 502'],
    ['a pause', () => new Response('', { status: 503, headers: { 'retry-after': '120' } }), 'pending', 120, 'HTTP 503'],
    ['a gateway timeout', () => new Response('', { status: 504 }), 'pending', 5, 'HTTP 504'],
    [
      'an intermediate page',
      () => new Response('<html>Sign in</html>'),
      'pending',
      5,
      'HTTP 200: this is not a response from Jira; check config.url',
    ],
    [
      'a response to an anonymous user',
      () => Response.json({}, { headers: { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' } }),
      'failed',
      null,
      'HTTP 401: Jira rejected the token: it has expired, was revoked, or belongs to another account',
    ],
  ]
  test.each(rows)('has the expected delivery status (%s)', async (_name, answer, status, waitS, reason) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    server.behaviour.instead = ({ method, path }) => (isCreate({ method, url: path }) ? answer() : null)
    await fixture.opened(id)
    const [delivery] = fixture.deliveries()
    expect(delivery).toMatchObject({ status, lastError: reason })
    if (delivery && waitS !== null) expect(delivery.dueAt - fixture.clock.now()).toBe(waitS * SECOND_MS)
  })

  test('is retried only on a temporary status', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
    const statuses = [...range(300, 308), ...range(400, 431), 451, ...range(500, 511), ...range(520, 530), 599]
    const ends: [number, string][] = []
    for (const status of statuses) {
      server.behaviour.instead = ({ method, path }) =>
        isCreate({ method, url: path }) ? new Response(null, { status }) : null
      await fixture.opened(id, `iss_${status}`)
      ends.push([status, fixture.deliveries().at(-1)?.status ?? ''])
    }
    const isNotNow = (status: number) => [408, 425, 429].includes(status) || status >= 500
    expect(ends).toEqual(statuses.map((status) => [status, isNotNow(status) ? 'pending' : 'failed']))
  })

  const silent: [string, RegExp][] = [
    ['searched for', /POST .*\/search\/jql$/],
    ['created', /POST .*\/issue$/],
    ['commented on', /POST .*\/comment$/],
  ]
  test.each(silent)('is retried if the connection hangs while the ticket is being %s', async (_name, hangs) => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    server.behaviour.instead = ({ method, path }) =>
      hangs.test(`${method} ${path}`) ? new Promise(() => undefined) : null
    fixture.network.timeoutMs = 200
    await fixture.opened(id)
    fixture.enqueueTransition(id, 'repeated')
    await fixture.deliver()
    const last = fixture.deliveries().findLast(({ attempts }) => attempts > 0)
    expect(last).toMatchObject({ status: 'pending', lastError: 'no response within 0.2 s' })
    expect((last?.dueAt ?? 0) - fixture.clock.now()).toBe(5 * SECOND_MS)
    server.behaviour.instead = () => null
    fixture.network.timeoutMs = 5000
    for (let seconds = 0; seconds <= 70; seconds += 5) {
      fixture.clock.advance(5 * SECOND_MS)
      await fixture.deliver()
    }
    expect(fixture.summary()).toEqual(['opened delivered', 'repeated delivered'])
    expect(server.tickets).toHaveLength(1)
    expect(server.tickets[0]?.comments).toHaveLength(1)
  })

  test('is retried as soon as Jira is available after an outage', async () => {
    const fixture = jiraFixture()
    const server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    await server[Symbol.asyncDispose]()
    await fixture.opened(id)
    expect(fixture.deliveries()).toMatchObject([
      { status: 'pending', lastError: 'the connection failed: ECONNREFUSED' },
    ])
    await using back = jiraServer(fixture.clock, 'cloud', server.port)
    fixture.clock.advance(5 * SECOND_MS)
    await fixture.deliver()
    expect(back.tickets).toHaveLength(1)
    expect(fixture.summary()).toEqual(['opened delivered'])
  })

  test('pauses all calls to Jira when it is rate-limited', async () => {
    const fixture = jiraFixture()
    await using server = jiraServer(fixture.clock)
    const { id } = await fixture.connected(server)
    server.behaviour.instead = () => problem(429, [], {}, { 'retry-after': '40' })
    await fixture.opened(id)
    const from = server.requests.length
    server.behaviour.instead = () => null
    await fixture.opened(id, 'iss_2')
    fixture.clock.advance(39 * SECOND_MS)
    await fixture.deliver()
    expect(requestsSince(server, from)).toEqual([])
    fixture.clock.advance(2 * SECOND_MS)
    await fixture.deliver()
    expect(server.tickets).toHaveLength(2)
    expect(fixture.deliveries()[1]?.attempts).toBe(1)
  })
})
