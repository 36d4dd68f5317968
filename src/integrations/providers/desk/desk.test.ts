import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { setStatus } from '../../../issues/store.ts'
import { openDatabase } from '../../../store/database.ts'
import { recoverInterrupted } from '../../delivery/delivery-queues.ts'
import { BOOK, type DeskServer, deskFixture, deskServer, SIGNING_SECRET } from './desk-setup.fixture.ts'

/*
 * A fictitious tracker with its own server. It uses every feature of the provider interface and proves that a new
 * provider requires only its own folder and an entry in the list of providers.
 */

type Fixture = ReturnType<typeof deskFixture>

const channel = (id: string) => ({ type: 'issue_tracker' as const, target: id })

const asked = ({ requests }: DeskServer, from = 0) =>
  requests.slice(from).map(({ method, path }) => `${method} ${path.split('?')[0]}`)

/** Sends a signed webhook call. */
function callWebhook({ call }: Fixture, webhookUrl: string, body: string, headers: Record<string, string> = {}) {
  const signature = createHmac('sha256', SIGNING_SECRET).update(body).digest('hex')
  const { pathname, search } = new URL(webhookUrl)
  return call('POST', pathname + search, {
    body,
    headers: { 'x-desk-signature': signature, 'x-desk-id': 'call-1', ...headers },
  })
}

async function opened(fixture: Fixture, id: string, issueId = 'iss_1') {
  fixture.tell('opened', fixture.issue(issueId), { channels: [channel(id)] })
  await fixture.deliver()
}

const setStatusByUser = (
  { db, alice, clock, enqueue }: Fixture,
  status: 'open' | 'acknowledged' | 'resolved',
  issueId = 'iss_1',
) => setStatus(db, { orgId: alice.orgId, by: alice.userId, now: clock.now() }, issueId, status, enqueue)

describe('the provider sign-in', () => {
  test('exchanges the code for tokens, which are never returned', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { body } = await fixture.make(server)
    expect(body.status).toBe('reauth_required')
    const { status, url, cookie } = await fixture.startSignIn(body.id)
    expect(status).toBe(200)
    const { origin, searchParams } = new URL(url)
    expect([origin, searchParams.get('redirect_uri')]).toEqual([
      server.url,
      'https://watch.example/v1/integrations/issue_tracker/callback',
    ])
    const back = server.consent(url)
    expect(await fixture.returnFromSignIn(back, cookie)).toEqual({
      status: 303,
      location: `https://watch.example/integrations/${body.id}#connected`,
    })
    expect(await fixture.statusOf(body.id)).toBe('connected')
    expect(server.tokens).toEqual(['access-t0ken-0'])
  })

  const refused: [string, (back: string, cookie: string, fixture: Fixture) => [string, string], string][] = [
    ['another browser', (back) => [back, ''], 'started in another browser'],
    [
      "another user's state",
      (back, cookie) => [back.replace(/state=[^&]{9}/, 'state=AAAAAAAAA'), cookie],
      'the sign-in was started',
    ],
    [
      'a delay of more than ten minutes',
      (back, cookie, { clock }) => {
        clock.advance(11 * MINUTE_MS)
        return [back, cookie]
      },
      'the sign-in was started',
    ],
    ['a forged code', (back, cookie) => [back.replace('code=c0de-0', 'code=mine'), cookie], 'invalid_grant'],
    ['denied access', (back, cookie) => [back.replace('code=c0de-0', 'error=access_denied'), cookie], 'access_denied'],
    [
      'a user who is no longer an admin',
      (back, cookie, { db, ada }) => {
        db.prepare(`UPDATE member SET role = 'viewer' WHERE userId = ?`).run(ada.userId)
        return [back, cookie]
      },
      'no longer has permission to configure integrations',
    ],
  ]
  test.each(refused)('fails in case of %s', async (_name, change, message) => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { body } = await fixture.make(server)
    const { url, cookie } = await fixture.startSignIn(body.id)
    const { location } = await fixture.returnFromSignIn(...change(server.consent(url), cookie, fixture))
    expect(decodeURIComponent(location)).toContain(`/integrations#connect-error=`)
    expect(decodeURIComponent(location)).toContain(message)
    expect(await fixture.statusOf(body.id)).toBe('reauth_required')
  })

  test('is required before deliveries, and again after the provider rejects the tokens', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { body } = await fixture.make(server)
    await opened(fixture, body.id)
    expect(fixture.deliveries()).toMatchObject([{ status: 'failed', lastError: expect.stringContaining('sign in') }])
    expect(server.requests).toEqual([])

    const { url, cookie } = await fixture.startSignIn(body.id)
    await fixture.returnFromSignIn(server.consent(url), cookie)
    server.refreshTokens.push('another')
    fixture.clock.advance(2 * 60 * MINUTE_MS)
    await opened(fixture, body.id, 'iss_2')
    expect(fixture.deliveries()[1]).toMatchObject({
      status: 'failed',
      lastError: expect.stringContaining('invalid_grant'),
    })
    expect(await fixture.statusOf(body.id)).toBe('reauth_required')
  })
})

describe('a renewed token', () => {
  test('is fetched once for all callers, stored encrypted, and used by the next call', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    fixture.clock.advance(60 * MINUTE_MS)
    for (const issueId of ['iss_1', 'iss_2']) {
      fixture.tell('opened', fixture.issue(issueId), { channels: [channel(id)] })
    }
    await fixture.deliver()
    expect(fixture.summary()).toEqual(['opened delivered', 'opened delivered'])
    expect(server.tokens).toEqual(['access-t0ken-0', 'access-t0ken-1'])
    await opened(fixture, id, 'iss_3')
    expect(server.tokens).toHaveLength(2)
  })

  test('is discarded if the integration was reconfigured in the meantime', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    fixture.clock.advance(60 * MINUTE_MS)
    server.behaviour.instead = ({ path }) => {
      if (path !== '/token') return null
      const { config } = fixture.input(server)
      const body = { provider: 'issue_tracker', config: { ...config, signingSecret: 'another-secret' } }
      return fixture
        .call('PUT', `/v1/integrations/${id}`, { as: fixture.ada.key, body })
        .then(() => Response.json({ access_token: 'of-the-old-settings', expires_in: 3600 }))
    }
    await opened(fixture, id)
    expect(fixture.deliveries()).toMatchObject([
      { status: 'pending', lastError: expect.stringContaining('in the meantime') },
    ])
    expect(await fixture.statusOf(id)).toBe('reauth_required')
  })
})

test('a ticket is created in several steps that use every HTTP method', async () => {
  await using server = deskServer()
  const fixture = deskFixture()
  const { id } = await fixture.connected(server)
  const from = server.requests.length
  await opened(fixture, id)
  expect(asked(server, from)).toEqual([
    'GET /tickets',
    'POST /tickets',
    'PUT /tickets/DESK-1/watchers',
    'DELETE /tickets/DESK-1/draft',
    'PATCH /tickets/DESK-1',
  ])
  expect(server.requests.at(-1)?.headers['x-region']).toBe('south')
  expect(server.tickets).toEqual([{ key: 'DESK-1', label: 'tagwarden-iss_1', status: 'open' }])
  expect(fixture.issueRow()?.trackerKey).toBe('DESK-1')
  expect(fixture.history().map(({ kind }) => kind)).toEqual(['tracker_linked', 'notified'])
})

test.each([
  ['search', 'GET'],
  ['creation', 'POST'],
  ['watcher', 'PUT'],
  ['draft deletion', 'DELETE'],
  ['update', 'PATCH'],
])('a ticket is created only once if a response is lost (step: %s)', async (_name, method) => {
  await using server = deskServer()
  const fixture = deskFixture()
  const { id } = await fixture.connected(server)
  let lost = 0
  fixture.network.losesResponse = (outbound) =>
    outbound.url.includes('/tickets') && outbound.method === method && lost++ === 0
  await opened(fixture, id)
  expect(fixture.deliveries()).toMatchObject([{ status: 'pending', lastError: 'the connection failed: ECONNRESET' }])
  fixture.clock.advance(6 * SECOND_MS)
  await fixture.deliver()
  expect(fixture.summary()).toEqual(['opened delivered'])
  expect(server.tickets).toHaveLength(1)
})

test('a delivery interrupted between two steps resumes at the next step', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-desk-'))
  await using server = deskServer()
  const file = join(folder, 'tagwarden.db')
  const before = deskFixture(openDatabase(file))
  const { id } = await before.connected(server)
  const reached = Promise.withResolvers<void>()
  const never = Promise.withResolvers<Response>()
  server.behaviour.instead = ({ method }) => {
    if (method !== 'PUT') return null
    reached.resolve()
    return never.promise
  }
  before.tell('opened', before.issue(), { channels: [channel(id)] })
  before.dispatcher.start()
  await reached.promise
  // Copies the database in the state that a crash leaves, without later writes.
  const copy = join(folder, 'copy.db')
  before.db.prepare('VACUUM INTO ?').run(copy)
  server.behaviour.instead = () => null
  const db = openDatabase(copy)
  recoverInterrupted(db)
  const from = server.requests.length
  const after = deskFixture(db, before.people)
  await after.deliver()
  expect(asked(server, from)).toEqual([
    'PUT /tickets/DESK-1/watchers',
    'DELETE /tickets/DESK-1/draft',
    'PATCH /tickets/DESK-1',
  ])
  expect(after.summary()).toEqual(['opened delivered'])
  expect(server.tickets).toHaveLength(1)
  never.resolve(new Response(null, { status: 204 }))
  before.stopping.abort()
  await before.dispatcher.idle()
  rmSync(folder, { recursive: true })
})

describe('a large response', () => {
  const read = async (fixture: Fixture, id: string, maxBytes: number) =>
    fixture.call('GET', `/v1/integrations/issue_tracker/${id}/book?maxBytes=${maxBytes}`, { as: fixture.vera.key })

  test('is complete up to the requested size', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    expect((await read(fixture, id, BOOK.length)).body).toEqual({ characters: BOOK.length })
  })

  test.each([1, 64 * 1024, BOOK.length - 1])('causes an error above %i bytes and is never truncated', async (most) => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    const { status, body } = await read(fixture, id, most)
    expect([status, body.error]).toEqual([502, `the response is larger than ${most} bytes`])
  })

  test("is returned only for an integration of the caller's organization", async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    const path = `/v1/integrations/issue_tracker/${id}/book?maxBytes=1`
    expect((await fixture.call('GET', path, { as: fixture.mallory.key })).status).toBe(404)
  })
})

describe('a webhook call', () => {
  async function linked(server: DeskServer) {
    const fixture = deskFixture()
    const { id, webhookUrl } = await fixture.connected(server)
    await opened(fixture, id)
    return { ...fixture, id, webhookUrl, fixture }
  }
  const resolved = '{"ticket": "DESK-1",   "status": "resolved"}'

  test('changes the status of its issue once, and the change is not sent back', async () => {
    await using server = deskServer()
    const { fixture, webhookUrl, issueRow, history, follow } = await linked(server)
    const from = server.requests.length
    expect((await callWebhook(fixture, webhookUrl, resolved)).body).toEqual({ processed: true })
    expect(issueRow()).toMatchObject({ status: 'resolved', statusBy: 'Desk' })
    expect(history()).toContainEqual({ kind: 'resolved', by: 'Desk', from: 'open' })
    await follow()
    expect(asked(server, from)).toEqual([])
    setStatusByUser(fixture, 'open')
    expect((await callWebhook(fixture, webhookUrl, resolved)).body).toEqual({ processed: false })
    expect(issueRow()?.status).toBe('open')
    expect((await callWebhook(fixture, webhookUrl, resolved, { 'x-desk-id': 'call-2' })).body).toEqual({
      processed: true,
    })
  })

  test.each<[string, (fixture: Fixture, url: string) => ReturnType<typeof callWebhook>, number]>([
    [
      'a body that does not match the signature',
      (fixture, url) => callWebhook(fixture, url, resolved, { 'x-desk-signature': '00' }),
      401,
    ],
    ['an unknown token', (fixture, url) => callWebhook(fixture, url.replace(/t=.*/, 't=guessed'), resolved), 401],
    ['no token', (fixture, url) => callWebhook(fixture, url.replace(/\?.*/, ''), resolved), 400],
    ['invalid JSON', (fixture, url) => callWebhook(fixture, url, '{'), 400],
    ['a list', (fixture, url) => callWebhook(fixture, url, '[]'), 400],
    ['an oversized body', (fixture, url) => callWebhook(fixture, url, `{"a": "${BOOK}"}`), 413],
  ])('with %s is rejected and changes nothing', async (_name, send, status) => {
    await using server = deskServer()
    const { fixture, webhookUrl, issueRow } = await linked(server)
    expect((await send(fixture, webhookUrl)).status).toBe(status)
    expect(issueRow()?.status).toBe('open')
  })

  test('about an unknown ticket is ignored', async () => {
    await using server = deskServer()
    const { fixture, webhookUrl } = await linked(server)
    const body = '{"ticket": "DESK-9", "status": "resolved"}'
    expect((await callWebhook(fixture, webhookUrl, body)).body).toEqual({ processed: false })
  })

  test('is sent to a URL that is shown only once and stops working when the URL is replaced', async () => {
    await using server = deskServer()
    const { fixture, id, webhookUrl, ada, vera, call, db } = await linked(server)
    const [, token = ''] = webhookUrl.split('?t=')
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(JSON.stringify((await call('GET', `/v1/integrations/${id}`, { as: ada.key })).body)).not.toContain(token)
    expect(db.serialize().includes(token)).toBe(false)
    expect((await call('POST', `/v1/integrations/${id}/rotate`, { as: vera.key })).status).toBe(403)
    const { body } = await call('POST', `/v1/integrations/${id}/rotate`, { as: ada.key })
    expect((await callWebhook(fixture, webhookUrl, resolved)).status).toBe(401)
    expect((await callWebhook(fixture, body.webhookUrl, resolved)).body).toEqual({ processed: true })
  })
})

describe('a status change', () => {
  test('is synchronized to the provider (only the most recent change) and not counted as a notification', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    await opened(fixture, id)
    const sent = fixture.issueRow()?.notificationsSent
    setStatusByUser(fixture, 'acknowledged')
    await fixture.follow()
    expect(server.tickets[0]?.status).toBe('acknowledged')
    const from = server.requests.length
    await fixture.follow()
    setStatusByUser(fixture, 'open')
    setStatusByUser(fixture, 'resolved')
    await fixture.follow()
    expect(asked(server, from)).toEqual(['PATCH /tickets/DESK-1'])
    expect(server.tickets[0]?.status).toBe('resolved')
    expect(fixture.issueRow()?.notificationsSent).toBe(sent)
  })

  test('is retried until it succeeds', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    await opened(fixture, id)
    let refusals = 2
    server.behaviour.instead = ({ method }) =>
      method === 'PATCH' && refusals-- > 0 ? new Response('', { status: 503 }) : null
    setStatusByUser(fixture, 'acknowledged')
    for (const wait of [0, 5, 30]) {
      expect(server.tickets[0]?.status).toBe('open')
      fixture.clock.advance(wait * SECOND_MS)
      await fixture.follow()
    }
    expect(server.tickets[0]?.status).toBe('acknowledged')
  })

  test('made before the ticket exists is synchronized when the ticket is created', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    fixture.tell('opened', fixture.issue(), { channels: [channel(id)] })
    setStatusByUser(fixture, 'acknowledged')
    await fixture.deliver()
    expect(server.tickets[0]?.status).toBe('open')
    await fixture.follow()
    expect(server.tickets[0]?.status).toBe('acknowledged')
  })
})

describe('the status poll', () => {
  test('runs periodically and continues from its saved state', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server, { pollSeconds: 60 })
    await opened(fixture, id)
    const from = server.requests.length
    const polled = () => server.requests.slice(from).map(({ path }) => path)
    await fixture.poll()
    await fixture.poll()
    server.changes.push({ ticket: 'DESK-1', status: 'acknowledged' }, { ticket: 'DESK-9', status: 'resolved' })
    fixture.clock.advance(59 * SECOND_MS)
    await fixture.poll()
    expect(polled()).toEqual(['/changes?since=0'])
    fixture.clock.advance(SECOND_MS)
    await fixture.poll()
    expect(fixture.issueRow()).toMatchObject({ status: 'acknowledged', statusBy: 'Desk' })
    fixture.clock.advance(MINUTE_MS)
    await fixture.poll()
    expect(polled()).toEqual(['/changes?since=0', '/changes?since=0', '/changes?since=2'])
    await fixture.follow()
    expect(polled()).toHaveLength(3)
  })

  test('does not run when it is disabled', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    await fixture.connected(server)
    await fixture.poll()
    expect(asked(server)).toEqual(['POST /token'])
  })
})

describe('a connection test', () => {
  test('leaves no data at the provider', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    const { status, body } = await fixture.call('POST', `/v1/integrations/${id}/test`, { as: fixture.ada.key })
    expect([status, body.ok]).toEqual([200, true])
    expect(asked(server)).toEqual(['POST /token', 'GET /me'])
  })

  test('returns the reason when it fails', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    server.behaviour.instead = () => new Response('the desk is closed', { status: 503 })
    const { status, body } = await fixture.call('POST', `/v1/integrations/${id}/test`, { as: fixture.ada.key })
    expect([status, body.error]).toEqual([502, 'the test failed: HTTP 503 (the desk is closed)'])
    expect(await fixture.statusOf(id)).toBe('failing')
  })
})

test('secrets echoed by the provider never reach a caller, a log or the database', async () => {
  await using server = deskServer()
  const fixture = deskFixture()
  const { id } = await fixture.connected(server)
  server.behaviour.instead = ({ headers, path }) =>
    path === '/token' ? null : new Response(`no: ${headers.authorization} ${SIGNING_SECRET}`, { status: 400 })
  fixture.clock.advance(60 * MINUTE_MS)
  await opened(fixture, id)
  const { ada, call } = fixture
  const answers = await Promise.all([
    call('GET', `/v1/integrations/${id}`, { as: ada.key }),
    call('GET', '/v1/integrations', { as: ada.key }),
    call('GET', '/v1/notifications/deliveries', { as: ada.key }),
    call('POST', `/v1/integrations/${id}/test`, { as: ada.key }),
    call('GET', `/v1/integrations/issue_tracker/${id}/book?maxBytes=100000`, { as: ada.key }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 502, 502])
  const seen =
    JSON.stringify(answers.map(({ body }) => body)) + JSON.stringify(fixture.history()) + String(fixture.reported)
  expect(seen).toContain('no: Bearer … …')
  const bytes = fixture.db.serialize()
  for (const secret of [...server.tokens, ...server.refreshTokens, SIGNING_SECRET, 'cl1ent-secret']) {
    expect(seen).not.toContain(secret)
    expect(bytes.includes(secret)).toBe(false)
  }
})

describe('the provider configuration', () => {
  test('is limited to one per organization if the provider requires it', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    await fixture.make(server)
    expect((await fixture.make(server)).status).toBe(409)
    const { mallory, call, input } = fixture
    expect((await call('POST', '/v1/integrations', { as: mallory.key, body: input(server) })).status).toBe(201)
  })

  test('retains its secrets and sign-in unless the URL changes', async () => {
    await using server = deskServer()
    const fixture = deskFixture()
    const { id } = await fixture.connected(server)
    const put = (config: object) =>
      fixture.call('PUT', `/v1/integrations/${id}`, {
        as: fixture.ada.key,
        body: { provider: 'issue_tracker', label: 'Renamed', config },
      })
    const { url, clientId } = fixture.input(server).config
    expect((await put({ url: `${url}/`, clientId })).body).toMatchObject({ status: 'connected', label: 'Renamed' })
    const moved = await put({ url: 'https://elsewhere.example', clientId })
    expect([moved.status, moved.body.error]).toEqual([
      400,
      'config.clientSecret: must be entered again because the URL now points to another server',
    ])
    const given = { clientSecret: 'an0ther', signingSecret: 'an0ther-one' }
    const anew = await put({ url: 'https://elsewhere.example', clientId, ...given })
    expect(anew.body.status).toBe('reauth_required')
  })
})

test('routes exist only for registered providers', () => {
  const paths = (fixture: { routes: readonly { path: string }[] }) => fixture.routes.map(({ path }) => path)
  const fixture = deskFixture()
  expect(paths(fixture)).toEqual(
    expect.arrayContaining([
      '/v1/integrations/{id}/rotate',
      '/v1/integrations/{id}/connect',
      '/v1/integrations/issue_tracker/webhook',
      '/v1/integrations/issue_tracker/{id}/book',
    ]),
  )
  const { paths: shipped } = JSON.parse(readFileSync(join(import.meta.dir, '../../../../docs/openapi.json'), 'utf8'))
  const own = Object.keys(shipped).filter((path) => path.startsWith('/v1/integrations'))
  expect(own.sort()).toEqual([
    '/v1/integrations',
    '/v1/integrations/issue_tracker/webhook',
    '/v1/integrations/office_chat/messages',
    '/v1/integrations/office_chat/{id}/channel',
    '/v1/integrations/tag_manager/deploy',
    '/v1/integrations/tag_manager/tags',
    '/v1/integrations/team_chat/{id}/channel',
    '/v1/integrations/{id}',
    '/v1/integrations/{id}/rotate',
    '/v1/integrations/{id}/secrets/compare',
    '/v1/integrations/{id}/test',
  ])
})
