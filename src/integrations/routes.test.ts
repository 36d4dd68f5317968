import { describe, expect, test } from 'bun:test'
import { CALLERS, type Caller, client, credentialsOf } from '../../test/fixtures.ts'
import { addressGuard } from '../transport/address-guard.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { mailTransport } from '../transport/mail-transport.ts'
import { receiver } from '../transport/receiver.fixture.ts'
import { transport } from '../transport/transport.ts'
import { Dispatcher } from './delivery/dispatcher.ts'
import { hook, mail, outboxFixture } from './delivery/outbox.fixture.ts'
import { recordOutcome } from './delivery/record-attempt.ts'
import { deliveryRoutes } from './delivery/routes.ts'
import { CHANNEL_CONNECTORS } from './providers/index.ts'
import { integrationRoutes } from './routes.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const url = 'https://hooks.example.com/p4th'
const webhook = { provider: 'webhook', label: 'On call', config: { url } }

function setUp() {
  const world = outboxFixture()
  const { db, clock, box, people } = world
  const guard = addressGuard(['127.0.0.1'])
  const delivering = {
    db,
    clock,
    box,
    transport: transport({
      http: httpTransport({ guard }),
      mail: mailTransport({ smtpUrl: null, from: 'watch@tagwarden.example' }),
    }),
    jitter: () => 0,
    mailConfigured: false,
    report: (error: unknown) => {
      throw error
    },
  }
  const dispatcher = new Dispatcher(delivering, new AbortController().signal)
  const parts = {
    db,
    clock,
    box,
    guard,
    dispatcher,
    publicUrl: 'https://watch.example',
    enqueue: () => undefined,
    connectors: CHANNEL_CONNECTORS,
  }
  const call = client({ db, clock }, ...integrationRoutes(parts), ...deliveryRoutes(parts))
  const keys = credentialsOf(people)
  const as = (caller: Caller) => (method: string, path: string, body?: unknown) =>
    call(method, path, { as: keys[caller], ...(body === undefined ? {} : { body }) })
  return { ...world, as, admin: as('admin') }
}

describe('permissions', () => {
  const read = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 404 }
  const list = { ...read, otherOrg: 200 }
  const admins = { viewer: 403, readOnly: 403, member: 403, admin: 200, owner: 200, otherOrg: 404 }
  const routes: [string, string, unknown, Partial<Record<Caller, number>>][] = [
    ['GET', '/v1/integrations', undefined, list],
    ['POST', '/v1/integrations', webhook, { ...admins, admin: 201, owner: 201, otherOrg: 201 }],
    ['POST', '/v1/integrations', {}, { ...admins, admin: 400, owner: 400, otherOrg: 400 }],
    ['GET', '/v1/integrations/{int}', undefined, read],
    ['PUT', '/v1/integrations/{int}', { ...webhook, config: { url, secret } }, admins],
    ['DELETE', '/v1/integrations/{int}', undefined, admins],
    ['POST', '/v1/integrations/{int}/test', undefined, admins],
    ['GET', '/v1/notifications/deliveries', undefined, list],
    ['GET', '/v1/notifications/deliveries/{dlv}', undefined, read],
    ['POST', '/v1/notifications/deliveries/{dlv}/replay', undefined, { ...admins, member: 200 }],
  ]
  const cases = routes.flatMap(([method, path, body, expected]) =>
    CALLERS.map((caller) => [method, path, caller, expected[caller] ?? 401, body] as const),
  )

  test.each(cases)('%s %s as %s: %i', async (method, path, caller, status, body) => {
    await using server = receiver()
    const { as, admin, issue, tell } = setUp()
    const created = await admin('POST', '/v1/integrations', { ...webhook, config: { url: server.url } })
    const { deliveryIds } = tell('opened', issue())
    const real = path.replace('{int}', created.body.id).replace('{dlv}', deliveryIds[0] ?? '')
    expect((await as(caller)(method, real, body)).status).toBe(status)
  })
})

describe('an integration', () => {
  test('returns a generated secret once, and never returns an entered secret', async () => {
    const { as, admin, clock, db } = setUp()
    const made = await admin('POST', '/v1/integrations', { provider: 'webhook', config: { url } })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(/^int_/),
      provider: 'webhook',
      label: 'default',
      status: 'connected',
      createdAt: clock.now(),
      config: { url },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const given = await admin('POST', '/v1/integrations', { ...webhook, config: { url, secret } })
    expect(given.body.secret).toBeUndefined()
    const path = `/v1/integrations/${given.body.id}`
    const answers = [given, await admin('GET', path), await admin('PUT', path, { ...webhook, config: { url, secret } })]
    answers.push(await admin('GET', '/v1/integrations'), await as('viewer')('GET', path))
    answers.push(await admin('POST', '/v1/integrations', { ...webhook, config: { url: 'x', secret } }))
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain('whsec_')
    const stored = JSON.stringify(db.prepare('SELECT id, label, config, CAST(secrets AS TEXT) FROM integration').all())
    expect(stored).not.toContain('whsec_')
  })

  test('shows its URL to admins only', async () => {
    const { as, admin } = setUp()
    const { body } = await admin('POST', '/v1/integrations', webhook)
    const path = `/v1/integrations/${body.id}`
    expect((await admin('GET', path)).body.config).toEqual({ url })
    expect((await as('member')('GET', path)).body.config).toBeNull()
    const { integrations } = (await as('viewer')('GET', '/v1/integrations')).body
    expect(integrations.map(Object.keys)).toEqual([['id', 'provider', 'label', 'status', 'createdAt']])
  })

  test('shows the names of secrets to admins only', async () => {
    const { as, admin, db } = setUp()
    const settings = { webhookUrl: url }
    const { body: chat } = await admin('POST', '/v1/integrations', { provider: 'team_chat', config: settings })
    const { body: made } = await admin('POST', '/v1/integrations', webhook)
    const secretsOf = async (id: string, role = admin) => (await role('GET', `/v1/integrations/${id}`)).body.secrets
    expect([await secretsOf(chat.id), await secretsOf(made.id)]).toEqual([['webhookUrl'], ['secret']])
    expect(await secretsOf(made.id, as('member'))).toBeNull()
    const changed = await admin('PUT', `/v1/integrations/${made.id}`, webhook)
    expect(changed.body.secrets).toEqual(['secret'])
    // The secrets were lost, or are sealed with another key.
    for (const secrets of ['', 'x'.repeat(40)]) {
      db.prepare('UPDATE integration SET secrets = CAST(? AS BLOB)').run(secrets)
      expect(await secretsOf(made.id)).toEqual([])
    }
  })

  test('retains its secret when a PUT omits the secret', async () => {
    await using server = receiver()
    const { admin } = setUp()
    const { body } = await admin('POST', '/v1/integrations', {
      ...webhook,
      config: { url: `${server.url}/old`, secret },
    })
    const path = `/v1/integrations/${body.id}`
    const changed = await admin('PUT', path, { provider: 'webhook', config: { url: server.url } })
    expect(changed.body).toMatchObject({ id: body.id, label: 'default', config: { url: server.url } })
    expect((await admin('POST', `${path}/test`)).body).toEqual({ ok: true, deliveryId: expect.stringMatching(/^dlv_/) })
    const hmac = new Bun.CryptoHasher('sha256', Buffer.alloc(32, 3))
    const [request] = server.requests
    hmac.update(`${request?.headers['webhook-id']}.${request?.headers['webhook-timestamp']}.${request?.body}`)
    expect(request?.headers['webhook-signature']).toBe(`v1,${hmac.digest('base64')}`)
  })

  test.each([
    ['that was provided', { url, secret }],
    ['that was generated', { url }],
  ])('requires the secret %s to be entered again when the host changes', async (_name, config) => {
    const { db, admin } = setUp()
    const { body } = await admin('POST', '/v1/integrations', { ...webhook, config })
    const path = `/v1/integrations/${body.id}`
    const before = db.prepare('SELECT * FROM integration').get()
    for (const to of ['https://elsewhere.example.com/p4th', 'https://hooks.example.com:8443/p4th']) {
      const answer = await admin('PUT', path, { ...webhook, config: { url: to } })
      expect([answer.status, answer.body.error]).toEqual([
        400,
        'config.secret: must be entered again because the URL now points to another server',
      ])
      expect(db.prepare('SELECT * FROM integration').get()).toEqual(before)
      expect((await admin('PUT', path, { ...webhook, config: { url: to, secret } })).status).toBe(200)
      expect((await admin('PUT', path, { ...webhook, config: { url, secret } })).status).toBe(200)
      db.prepare('UPDATE integration SET secrets = ?').run((before as { secrets: Buffer }).secrets)
    }
  })

  const refused: [string, unknown, string][] = [
    ['no provider', { config: { url } }, 'provider: '],
    ['an unknown provider', { provider: 'pigeon', config: {} }, 'provider: must be one of tag_manager, '],
    ['a channel type without integrations', { provider: 'email', config: {} }, 'provider: must be one of '],
    ['an issue_tracker without a URL', { provider: 'issue_tracker', config: {} }, 'config.url: is missing'],
    [
      'a team_chat without credentials',
      { provider: 'team_chat', config: {} },
      'config: an incoming webhook (webhookUrl) or a bot token (botToken) is required',
    ],
    ['no config', { provider: 'webhook' }, 'config: '],
    ['no URL', { provider: 'webhook', config: {} }, 'config.url: '],
    ['a private address', { provider: 'webhook', config: { url: 'https://10.0.0.1' } }, 'config.url: host 10.0.0.1'],
    [
      'an http URL',
      { provider: 'webhook', config: { url: 'http://hooks.example.com' } },
      'config.url: must be an https URL',
    ],
    ['a bad secret', { provider: 'webhook', config: { url, secret: 's3cret' } }, 'config.secret: must be whsec_'],
    ['an unknown setting', { provider: 'webhook', config: { url, colour: 'red' } }, 'config.colour: '],
    ['an unknown field', { ...webhook, colour: 'red' }, 'colour: '],
    ['an empty label', { ...webhook, label: '' }, 'label: '],
    ['a long label', { ...webhook, label: 'x'.repeat(101) }, 'label: '],
    ['invalid JSON', '{', 'body: is not valid JSON'],
  ]
  test.each(refused)('is rejected with %s', async (_name, body, message) => {
    const { admin } = setUp()
    const answer = await admin('POST', '/v1/integrations', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(message)
    expect(answer.body.error).not.toContain('s3cret')
    expect((await admin('GET', '/v1/integrations')).body).toEqual({ integrations: [], nextCursor: null })
  })

  test("can't change its provider", async () => {
    const { admin } = setUp()
    const { body } = await admin('POST', '/v1/integrations', webhook)
    const answer = await admin('PUT', `/v1/integrations/${body.id}`, { ...webhook, provider: 'team_chat' })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      'provider: cannot be changed from webhook; create another integration',
    ])
  })

  test('can be deleted', async () => {
    const { admin } = setUp()
    const { body } = await admin('POST', '/v1/integrations', webhook)
    const path = `/v1/integrations/${body.id}`
    expect((await admin('DELETE', path)).body).toEqual({ ok: true })
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/test`],
    ] as const) {
      expect((await admin(method, at)).status).toBe(404)
    }
    expect((await admin('PUT', path, webhook)).status).toBe(404)
  })

  test('returns 502 with the reason if a test message fails', async () => {
    await using server = receiver(() => new Response('no such\r\nroom', { status: 404 }))
    const { admin } = setUp()
    const { body } = await admin('POST', '/v1/integrations', { ...webhook, config: { url: `${server.url}/p4th` } })
    const answer = await admin('POST', `/v1/integrations/${body.id}/test`)
    expect([answer.status, answer.body.error]).toEqual([502, 'the test failed: HTTP 404 (no such room)'])
    expect((await admin('GET', `/v1/integrations/${body.id}`)).body.status).toBe('failing')
    const { deliveries } = (await admin('GET', '/v1/notifications/deliveries')).body
    expect(deliveries).toMatchObject([{ transition: 'test', status: 'failed', lastError: 'HTTP 404' }])
  })
})

test('integrations are paged, oldest first', async () => {
  const { admin } = setUp()
  const ids: string[] = []
  for (let index = 0; index < 5; index++) {
    ids.push((await admin('POST', '/v1/integrations', { ...webhook, label: `label ${index}` })).body.id)
  }
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await admin('GET', `/v1/integrations?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    seen.push(...page.body.integrations.map(({ id }: { id: string }) => id))
    cursor = page.body.nextCursor
  } while (cursor)
  expect(seen).toEqual(ids.toSorted())
  expect((await admin('GET', '/v1/integrations?cursor=x')).status).toBe(400)
})

describe('the delivery log', () => {
  function withDeliveries() {
    const world = setUp()
    const { db, clock, issue, tell } = world
    tell('opened', issue('iss_1'), { channels: [hook, mail] })
    tell('opened', issue('iss_2'))
    const [first] = world.take(1)
    if (!first) throw new Error('expected a due delivery')
    recordOutcome(
      db,
      first,
      { verdict: 'broken', reason: 'HTTP 410' },
      { now: clock.now(), jitter: () => 0, mailConfigured: false },
    )
    return { ...world, first }
  }

  test('lists deliveries with target and status', async () => {
    const { as, clock, first } = withDeliveries()
    const list = async (caller: Caller) => (await as(caller)('GET', '/v1/notifications/deliveries?status=failed')).body
    const shown = await list('member')
    expect(shown).toEqual({
      deliveries: [
        {
          id: first.id,
          issueId: 'iss_1',
          alertId: 'alr_1',
          alertName: 'Purchase has a value',
          transition: 'opened',
          channel: hook,
          status: 'failed',
          attempts: 1,
          dueAt: null,
          lastAttemptAt: clock.now(),
          lastError: 'HTTP 410',
          deliveredAt: null,
          createdAt: clock.now(),
        },
      ],
      nextCursor: null,
    })
    const hidden = { ...shown.deliveries[0], channel: { ...hook, target: '' } }
    expect(await list('viewer')).toEqual({ ...shown, deliveries: [hidden] })
  })

  test.each([
    ['', ['iss_2 webhook', 'iss_1 email', 'iss_1 webhook']],
    ['?issueId=iss_1', ['iss_1 email', 'iss_1 webhook']],
    ['?status=pending', ['iss_2 webhook', 'iss_1 email']],
    ['?issueId=iss_1&status=pending', ['iss_1 email']],
    ['?issueId=iss_9', []],
    ['?limit=2', ['iss_2 webhook', 'iss_1 email']],
  ])('is sorted newest first: %j', async (query, expected) => {
    const { as } = withDeliveries()
    const { body } = await as('viewer')('GET', `/v1/notifications/deliveries${query}`)
    type Row = { issueId: string; channel: { type: string } }
    expect(body.deliveries.map(({ issueId, channel }: Row) => `${issueId} ${channel.type}`)).toEqual(expected)
  })

  test('is paged and limited to the organization', async () => {
    const { as } = withDeliveries()
    const first = await as('viewer')('GET', '/v1/notifications/deliveries?limit=2')
    const rest = await as('viewer')('GET', `/v1/notifications/deliveries?limit=2&cursor=${first.body.nextCursor}`)
    expect(rest.body).toMatchObject({ deliveries: [{ issueId: 'iss_1' }], nextCursor: null })
    expect((await as('otherOrg')('GET', '/v1/notifications/deliveries')).body.deliveries).toEqual([])
  })

  test.each(['?status=lost', '?colour=red', '?limit=0', '?limit=201', '?cursor=x'])('rejects %s', async (query) => {
    const { as } = withDeliveries()
    expect((await as('viewer')('GET', `/v1/notifications/deliveries${query}`)).status).toBe(400)
  })

  test('replays a failed delivery with the same id', async () => {
    const { as, clock, first, take } = withDeliveries()
    clock.advance(1000)
    const replay = () => as('member')('POST', `/v1/notifications/deliveries/${first.id}/replay`)
    const { status, body } = await replay()
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: first.id, status: 'pending', attempts: 0, dueAt: clock.now(), lastError: null })
    expect(take().map(({ id }) => id)).toContain(first.id)
    expect((await replay()).status).toBe(409)
    expect((await as('member')('POST', '/v1/notifications/deliveries/dlv_x/replay')).status).toBe(404)
  })
})
