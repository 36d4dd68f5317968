import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { openDatabase } from '../../../store/database.ts'
import { recover } from '../../queues.ts'
import { jiraServer } from './issue-tracker-server.fixture.ts'
import { asked, type JiraWorld, jiraWorld } from './issue-tracker-world.fixture.ts'

const isCreate = ({ method, url }: { method: string; url: string }) =>
  method === 'POST' && /\/api\/\d\/issue$/.test(url)

test.each(['cloud', 'dataCenter'] as const)('an issue becomes a ticket in %s', async (edition) => {
  const world = jiraWorld()
  await using server = jiraServer(world.clock, edition)
  const { id } = await world.connected(server, { fields: { priority: { name: 'High' }, labels: ['tags'] } })
  await world.opened(id)
  expect(world.summary()).toEqual(['opened delivered'])
  expect(asked(server)).toEqual([
    edition === 'cloud' ? 'POST /search/jql' : 'POST /search',
    'POST /issue',
    'GET /issue/OPS-1',
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
    'One sample (personal data masked)',
    'shop.example',
    'Since',
    'https://watch.example/issues/iss_1',
  ]) {
    expect(description).toContain(part)
  }
  expect(world.issueRow()?.trackerKey).toBe('OPS-1')
  expect(world.history().map(({ kind }) => kind)).toEqual(['tracker_linked', 'notified'])
})

test('a target names another project', async () => {
  const world = jiraWorld()
  await using server = jiraServer(world.clock)
  const { id } = await world.connected(server)
  await world.opened(`${id}:WEB`)
  expect(server.tickets.map(({ key }) => key)).toEqual(['WEB-1'])
})

describe('what goes on about an issue', () => {
  test.each(['cloud', 'dataCenter'] as const)('becomes comments in %s, each once', async (edition) => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock, edition)
    const { id } = await world.connected(server)
    await world.opened(id)
    let lost = 0
    world.wayOut.loses = ({ url, method }) => url.endsWith('/comment') && method === 'POST' && lost++ === 0
    for (const transition of ['repeated', 'resolved', 'reopened'] as const) {
      world.clock.advance(MINUTE_MS)
      world.told(id, transition)
      await world.deliver()
      world.clock.advance(10 * SECOND_MS)
      await world.deliver()
    }
    expect(world.summary()).toEqual(['opened', 'repeated', 'resolved', 'reopened'].map((one) => `${one} delivered`))
    const comments = server.tickets[0]?.comments.map(({ body }) => JSON.stringify(body))
    expect(comments).toHaveLength(3)
    for (const [index, title] of ['Still happening', 'Resolved', 'Back again'].entries()) {
      expect(comments?.[index]).toContain(title)
    }
    expect(server.tickets).toHaveLength(1)
  })

  test('after its ticket was deleted says nothing, and a reopening makes a new one', async () => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    await world.opened(id)
    for (const ticket of server.tickets) ticket.isDeleted = true
    world.told(id, 'repeated')
    await world.deliver()
    expect(world.deliveries().at(-1)).toMatchObject({
      status: 'delivered',
      lastError: 'somebody deleted the ticket in Jira',
    })
    world.told(id, 'resolved')
    await world.deliver()
    world.told(id, 'reopened')
    await world.deliver()
    expect(server.tickets.filter(({ isDeleted }) => !isDeleted).map(({ key }) => key)).toEqual(['OPS-2'])
    expect(world.issueRow()?.trackerKey).toBe('OPS-2')
    expect(await world.statusOf(id)).toBe('connected')
  })

  test('is refused, and nothing made anew, where the project can be seen no more', async () => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    await world.opened(id)
    server.behaviour.instead = ({ path }) =>
      /\/(?:issue|project)\//.test(path) ? Response.json({ errorMessages: ['No.'], errors: {} }, { status: 404 }) : null
    world.told(id, 'repeated')
    await world.deliver()
    expect(world.deliveries().at(-1)).toMatchObject({ status: 'failed', lastError: 'HTTP 404: No.' })
  })
})

describe('a refused ticket', () => {
  const problem = (status: number, messages: string[], errors: object = {}, headers: Record<string, string> = {}) =>
    Response.json({ errorMessages: messages, errors }, { status, headers })
  const rows: [string, () => Response, 'delivered' | 'pending' | 'failed', number | null, string | null][] = [
    ['nothing wrong', () => Response.json({ id: '1', key: 'OPS-77' }, { status: 201 }), 'delivered', null, null],
    [
      'a required field',
      () => problem(400, [], { customfield_10010: 'Team is required.' }),
      'failed',
      null,
      'HTTP 400: Team is required. (customfield_10010)',
    ],
    [
      'a strange type',
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
      'HTTP 401: Jira does not take the token: it has ended, was revoked, or belongs to another address',
    ],
    [
      'a captcha',
      () =>
        new Response('', {
          status: 403,
          headers: { 'x-authentication-denied-reason': 'CAPTCHA_CHALLENGE; login-url=x' },
        }),
      'failed',
      null,
      'HTTP 403: Jira wants a captcha: sign in once with this account in a browser, then test the integration',
    ],
    [
      'no right',
      () => problem(403, ['You do not have permission to create issues in this project.']),
      'failed',
      null,
      'HTTP 403: You do not have permission to create issues in this project.',
    ],
    [
      'no project',
      () => problem(404, ["No project could be found with key 'OPS'."]),
      'failed',
      null,
      "HTTP 404: No project could be found with key 'OPS'.",
    ],
    [
      'a removed route',
      () => problem(410, ['The requested API has been removed.']),
      'failed',
      null,
      'HTTP 410: The requested API has been removed.',
    ],
    ['too much', () => problem(413, []), 'failed', null, 'HTTP 413'],
    [
      'a redirect',
      () => new Response('', { status: 302, headers: { location: '/login.jsp' } }),
      'failed',
      null,
      'HTTP 302: redirects are not followed; config.url must be the address to which Jira redirects',
    ],
    [
      'a rate limit',
      () => problem(429, ['Rate limit exceeded.'], {}, { 'retry-after': '40' }),
      'pending',
      40,
      'HTTP 429: Rate limit exceeded.',
    ],
    [
      'a rate limit until',
      () => problem(429, [], {}, { 'x-ratelimit-reset': '2026-01-05T12:01Z' }),
      'pending',
      60,
      'HTTP 429',
    ],
    ['a rate limit without an end', () => problem(429, []), 'pending', 5, 'HTTP 429'],
    ['a slow request', () => problem(408, []), 'pending', 5, 'HTTP 408'],
    ['an error', () => problem(500, ['Internal server error']), 'pending', 5, 'HTTP 500: Internal server error'],
    ['a bad gateway', () => new Response('<html>', { status: 502 }), 'pending', 5, 'HTTP 502'],
    ['a pause', () => new Response('', { status: 503, headers: { 'retry-after': '120' } }), 'pending', 120, 'HTTP 503'],
    ['a slow gateway', () => new Response('', { status: 504 }), 'pending', 5, 'HTTP 504'],
    [
      'a page in between',
      () => new Response('<html>Sign in</html>'),
      'pending',
      5,
      'HTTP 200: this is not the answer of a Jira; is config.url its address?',
    ],
    [
      'an answer for a stranger',
      () => Response.json({}, { headers: { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' } }),
      'failed',
      null,
      'HTTP 401: Jira does not take the token: it has ended, was revoked, or belongs to another address',
    ],
  ]
  test.each(rows)('for %s', async (_name, answer, status, waitS, reason) => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    server.behaviour.instead = ({ method, path }) => (isCreate({ method, url: path }) ? answer() : null)
    await world.opened(id)
    const [delivery] = world.deliveries()
    expect(delivery).toMatchObject({ status, lastError: reason })
    if (delivery && waitS !== null) expect(delivery.dueAt - world.clock.now()).toBe(waitS * SECOND_MS)
  })

  const silent: [string, RegExp][] = [
    ['looked for', /POST .*\/search\/jql$/],
    ['made', /POST .*\/issue$/],
    ['commented on', /POST .*\/comment$/],
  ]
  test.each(silent)('for a connection that is half open while it is %s is tried again', async (_name, hangs) => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    server.behaviour.instead = ({ method, path }) =>
      hangs.test(`${method} ${path}`) ? new Promise(() => undefined) : null
    world.wayOut.timeoutMs = 200
    await world.opened(id)
    world.told(id, 'repeated')
    await world.deliver()
    const last = world.deliveries().findLast(({ attempts }) => attempts > 0)
    expect(last).toMatchObject({ status: 'pending', lastError: 'no answer within 0.2 s' })
    expect((last?.dueAt ?? 0) - world.clock.now()).toBe(5 * SECOND_MS)
    server.behaviour.instead = () => null
    world.wayOut.timeoutMs = 5000
    for (let seconds = 0; seconds <= 70; seconds += 5) {
      world.clock.advance(5 * SECOND_MS)
      await world.deliver()
    }
    expect(world.summary()).toEqual(['opened delivered', 'repeated delivered'])
    expect(server.tickets).toHaveLength(1)
    expect(server.tickets[0]?.comments).toHaveLength(1)
  })

  test('for a Jira that is down is tried again at once when it is back', async () => {
    const world = jiraWorld()
    const server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    await server[Symbol.asyncDispose]()
    await world.opened(id)
    expect(world.deliveries()).toMatchObject([{ status: 'pending', lastError: 'the connection failed: ECONNREFUSED' }])
    await using back = jiraServer(world.clock, 'cloud', server.port)
    world.clock.advance(5 * SECOND_MS)
    await world.deliver()
    expect(back.tickets).toHaveLength(1)
    expect(world.summary()).toEqual(['opened delivered'])
  })

  test('for a rate limit leaves Jira alone, also for other issues', async () => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    server.behaviour.instead = () => problem(429, [], {}, { 'retry-after': '40' })
    await world.opened(id)
    const from = server.requests.length
    server.behaviour.instead = () => null
    await world.opened(id, 'iss_2')
    world.clock.advance(39 * SECOND_MS)
    await world.deliver()
    expect(asked(server, from)).toEqual([])
    world.clock.advance(2 * SECOND_MS)
    await world.deliver()
    expect(server.tickets).toHaveLength(2)
    expect(world.deliveries()[1]?.attempts).toBe(1)
  })
})

describe('a ticket is made once', () => {
  test('when the answer is lost and the search is behind', async () => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    server.behaviour.searchLagMs = 20 * SECOND_MS
    const { id } = await world.connected(server)
    let lost = 0
    world.wayOut.loses = (outbound) => isCreate(outbound) && lost++ === 0
    await world.opened(id)
    for (let seconds = 0; seconds < 25; seconds++) {
      world.clock.advance(SECOND_MS)
      await world.deliver()
    }
    expect(world.summary()).toEqual(['opened delivered'])
    expect(server.tickets).toHaveLength(1)
    expect(world.issueRow()?.trackerKey).toBe('OPS-1')
  })

  test('and anew only when it was not found for a minute', async () => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    let refused = 0
    server.behaviour.instead = ({ method, path }) =>
      isCreate({ method, url: path }) && refused++ === 0 ? new Response('', { status: 502 }) : null
    await world.opened(id)
    const looksUntil = async (untilS: number) => {
      for (; world.clock.now() < startedAt + untilS * SECOND_MS; world.clock.advance(SECOND_MS)) await world.deliver()
      return asked(server).filter((one) => one === 'POST /search/jql').length
    }
    const startedAt = world.clock.now()
    expect(await looksUntil(29)).toBe(6)
    expect(server.tickets).toEqual([])
    await looksUntil(32)
    expect(server.tickets).toHaveLength(1)
    expect(world.summary()).toEqual(['opened delivered'])
  })

  test('although a copy of it has its label', async () => {
    const world = jiraWorld()
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    for (const summary of ['the first', 'its copy']) server.make('OPS', { summary, labels: ['tagwarden-iss_1'] })
    await world.opened(id)
    expect(world.issueRow()?.trackerKey).toBe('OPS-1')
    expect(server.tickets).toHaveLength(2)
  })

  test.each([1, 2, 3, 4, 5])('and its comments too, when the program is killed after request %i', async (kill) => {
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-tickets-'))
    let world = jiraWorld(openDatabase(join(folder, 'start.db')))
    await using server = jiraServer(world.clock)
    const { id } = await world.connected(server)
    const reached = Promise.withResolvers<void>()
    let requests = 0
    server.behaviour.after = (_request, response) => {
      if (++requests !== kill) return response
      reached.resolve()
      return new Promise(() => undefined)
    }
    world.issue()
    for (const transition of ['opened', 'repeated', 'resolved'] as const) world.told(id, transition)
    world = (await killed(world, reached.promise, join(folder, 'after.db'))) ?? world
    for (let seconds = 0; seconds <= 70; seconds += 5) {
      await world.deliver()
      world.clock.advance(5 * SECOND_MS)
    }
    expect(requests).toBeGreaterThanOrEqual(kill)
    expect(world.summary()).toEqual(['opened delivered', 'repeated delivered', 'resolved delivered'])
    expect(server.tickets.map(({ comments }) => comments.length)).toEqual([2])
    world.db.close()
    rmSync(folder, { recursive: true })
  })

  /** Kills the program when `reached`, and begins it anew; null when all was done before. */
  async function killed(world: JiraWorld, reached: Promise<void>, file: string): Promise<JiraWorld | null> {
    const isReached = await Promise.race([reached.then(() => true), world.deliver().then(() => false)])
    if (!isReached) return null
    // The database as a kill would leave it; nobody tells it anything any more.
    world.db.prepare('VACUUM INTO ?').run(file)
    world.stopping.abort()
    await world.dispatcher.idle()
    world.db.close()
    const db = openDatabase(file)
    recover(db)
    const after = jiraWorld(db, world.people)
    after.clock.set(world.clock.now())
    return after
  }

  test('a hundred times, with lost answers, 502 after success, kills, and a search that is 5 s behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-tickets-'))
    let world = jiraWorld(openDatabase(join(folder, 'start.db')))
    const clock = world.clock
    await using server = jiraServer(clock)
    server.behaviour.searchLagMs = 5 * SECOND_MS
    const { id } = await world.connected(server)
    for (let index = 0; index < 100; index++) world.told(id, 'opened', world.issue(`iss_${index}`))
    let reached = Promise.withResolvers<void>()
    let creates = 0
    let replies = 0
    const numbers = new WeakMap<object, number>()
    server.behaviour.instead = (request) => {
      if (!isCreate({ method: request.method, url: request.path })) return null
      numbers.set(request, ++creates)
      return creates % 9 === 4 ? new Response('', { status: 503 }) : null
    }
    server.behaviour.after = (request, response) => {
      const number = numbers.get(request)
      if (number === undefined) return response
      if (number % 4 === 0) return new Response('<html>Bad Gateway</html>', { status: 502 })
      if (number % 17 !== 0) return response
      reached.resolve()
      return new Promise(() => undefined)
    }
    const loses = (outbound: { method: string; url: string }) => isCreate(outbound) && replies++ % 3 === 0
    let kills = 0
    for (let rounds = 0; world.deliveries().some(({ status }) => status !== 'delivered'); rounds++) {
      if (rounds > 200) throw new Error(world.summary().join())
      world.wayOut.loses = loses
      const next = await killed(world, reached.promise, join(folder, `${rounds}.db`))
      if (next) {
        kills++
        world = next
        reached = Promise.withResolvers()
        continue
      }
      clock.advance(5 * SECOND_MS)
      world.clock.set(clock.now())
    }
    expect(kills).toBeGreaterThan(3)
    expect(creates).toBeGreaterThan(100)
    expect(server.tickets).toHaveLength(100)
    for (let index = 0; index < 100; index++) {
      const ticket = server.tickets.find(({ fields }) => fields.labels.includes(`tagwarden-iss_${index}`))
      expect(world.issueRow(`iss_${index}`)?.trackerKey).toBe(ticket?.key ?? '')
    }
    world.db.close()
    rmSync(folder, { recursive: true })
  })
})

test.each<[string, object, string]>([
  ['no address', { url: 'ops' }, 'config.url'],
  ['a query', { url: 'http://127.0.0.1:9999/?a=b' }, 'config.url'],
  ['a cloud’s metadata', { url: 'http://169.254.169.254/' }, 'config.url'],
  ['an address inside', { url: 'https://10.0.0.1/jira' }, 'config.url'],
  ['an address inside in other clothes', { url: 'https://[::ffff:a00:1]/' }, 'config.url'],
  ['an address as a number', { url: 'https://167772161/' }, 'config.url'],
  ['this machine', { url: 'https://LOCALHOST.:8443/' }, 'config.url'],
  ['no TLS', { url: 'http://jira.example.com/' }, 'config.url'],
  ['somebody in the address', { url: 'https://me:secret@jira.example.com/' }, 'config.url'],
  ['a file', { url: 'file:///etc/passwd' }, 'config.url'],
  ['no project', { project: 'OPS-1' }, 'config.project'],
  ['an e-mail without a place', { email: 'tags' }, 'config.email'],
  ['a token of two words', { apiToken: 'to ken' }, 'config.apiToken'],
  ['a field of ours', { fields: { summary: 'mine' } }, 'config.fields.summary'],
  ['labels with spaces', { fields: { labels: ['a b'] } }, 'config.fields.labels'],
  ['too many polls', { pollSeconds: 29 }, 'config.pollSeconds'],
  ['too few polls', { pollSeconds: 3601 }, 'config.pollSeconds'],
  ['something else', { site: 'x' }, 'config.site'],
])('a configuration with %s is refused', async (_name, more, field) => {
  const world = jiraWorld()
  await using server = jiraServer(world.clock)
  const { status, body } = await world.create(server, more)
  expect([status, String(body.error).split(': ')[0]]).toEqual([400, field])
})

test('the token is never answered, and is asked for again when the address changes', async () => {
  const world = jiraWorld()
  await using server = jiraServer(world.clock)
  const { id } = await world.connected(server)
  const path = `/v1/integrations/${id}`
  const { body } = await world.call('GET', path, { as: world.ada.key })
  expect(body.config).toEqual({
    url: server.url,
    email: 'tags@example.com',
    project: 'OPS',
    issueType: 'Task',
    pollSeconds: 300,
  })
  const put = (config: object) =>
    world.call('PUT', path, { as: world.ada.key, body: { provider: 'issue_tracker', label: 'Jira', config } })
  const { apiToken: _, ...rest } = world.config(server) as { apiToken: string }
  expect((await put({ ...rest, project: 'WEB', pollSeconds: null })).body.config).toMatchObject({
    project: 'WEB',
    pollSeconds: null,
  })
  await world.opened(id)
  expect(server.tickets.map(({ key }) => key)).toEqual(['WEB-1'])
  const moved = await put({ ...rest, url: 'https://elsewhere.example' })
  expect([moved.status, moved.body.error]).toEqual([
    400,
    'config.apiToken: must be given again, because it would go to another address',
  ])
})
