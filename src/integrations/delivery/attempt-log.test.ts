import { describe, expect, test } from 'bun:test'
import { type Caller, client, credentialsOf } from '../../../test/fixtures.ts'
import { DAY_MS, SECOND_MS } from '../../core/clock.ts'
import { RECORD_RETENTION_MS } from '../../store/retention.ts'
import { mailbox, receiver } from '../../transport/receiver.fixture.ts'
import { roomServer } from '../providers/room/fictitious-chat.fixture.ts'
import { insertIntegration, saveState } from '../store.ts'
import { recoverInterrupted } from './delivery-queues.ts'
import { removeOldDeliveries, replay } from './delivery-store.ts'
import { type GroupFixtureOptions, groupFixture, roomAt } from './group.fixture.ts'
import { mail } from './outbox.fixture.ts'
import { deliveryRoutes } from './routes.ts'

const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`

function setUp(options: GroupFixtureOptions = {}) {
  const world = groupFixture(options)
  const { db, box, orgId, clock, people } = world
  const call = client(world, ...deliveryRoutes(world))
  const keys = credentialsOf(people)
  const read = async (id: string, caller: Caller = 'admin') =>
    (await call('GET', `/v1/notifications/deliveries/${id}`, { as: keys[caller] })).body
  const integrate = (url: string) =>
    insertIntegration(db, box, {
      orgId,
      provider: 'webhook',
      label: 'On call',
      config: { url },
      secrets: { secret },
      createdAt: clock.now(),
    }).id
  return { ...world, read, integrate }
}

describe('the log of a delivery', () => {
  test('contains every attempt with its time, duration, reason and response', async () => {
    await using server = receiver((_request, index) =>
      index === 0 ? new Response('starting\nup', { status: 503 }) : new Response('ok'),
    )
    const { clock, open, deliver, read } = setUp()
    const at = clock.now()
    const { deliveryIds } = open('iss_1', [{ type: 'webhook', target: server.url }])
    const [id = ''] = deliveryIds
    expect((await read(id)).log).toEqual([])
    await deliver()
    clock.advance(5 * SECOND_MS)
    await deliver()
    const durMs = expect.any(Number)
    const requests = [expect.objectContaining({ method: 'POST' })]
    expect(await read(id)).toEqual({
      id,
      issueId: 'iss_1',
      alertId: 'alr_1',
      alertName: 'Purchase has a value',
      transition: 'opened',
      status: 'delivered',
      attempts: 2,
      channel: { type: 'webhook', target: server.url },
      dueAt: null,
      lastError: null,
      createdAt: at,
      lastAttemptAt: clock.now(),
      deliveredAt: clock.now(),
      log: [
        { at, durMs, outcome: 'retry', reason: 'HTTP 503', answer: 'starting up', requests },
        { at: clock.now(), durMs, outcome: 'delivered', reason: null, answer: 'ok', requests },
      ],
    })
  })

  test('shows responses only to admins, and nothing to other organizations', async () => {
    await using server = receiver(() => new Response('who are you?', { status: 403 }))
    const { open, deliver, read } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: server.url }]).deliveryIds
    await deliver()
    for (const caller of ['admin', 'owner'] as const)
      expect((await read(id, caller)).log[0].answer).toBe('who are you?')
    for (const caller of ['member', 'viewer', 'readOnly'] as const) {
      const { log } = await read(id, caller)
      expect(log).toEqual([expect.objectContaining({ outcome: 'broken', reason: 'HTTP 403' })])
      // The read-only key belongs to an owner, so it can see the same data as an owner.
      expect(log[0].answer).toBe(caller === 'readOnly' ? 'who are you?' : null)
    }
    expect((await read(id, 'viewer')).channel.target).toBe('')
    expect((await read(id, 'otherOrg')).error).toContain('the delivery does not exist')
  })

  test('has an entry for each delivery of a group', async () => {
    await using server = roomServer()
    const { clock, open, deliver, deliveries, read } = setUp()
    for (const id of ['iss_1', 'iss_2', 'iss_3']) open(id, [roomAt(server.url)])
    await deliver()
    clock.advance(30 * SECOND_MS)
    await deliver()
    for (const { id } of deliveries()) expect((await read(id)).log).toMatchObject([{ outcome: 'delivered' }])
  })

  test('contains the most recent 100 attempts, and is deleted with the delivery', async () => {
    await using server = receiver(() => new Response('no', { status: 400 }))
    const { db, orgId, clock, open, deliver, deliveries, read } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: server.url }]).deliveryIds
    const begun = clock.now()
    for (let attempt = 0; attempt < 103; attempt++) {
      await deliver()
      clock.advance(SECOND_MS)
      replay(db, orgId, id, clock.now())
    }
    const { log } = await read(id)
    expect(log).toHaveLength(100)
    expect(log[0].at).toBe(begun + 3 * SECOND_MS)
    await deliver()
    clock.advance(RECORD_RETENTION_MS + DAY_MS)
    removeOldDeliveries(db, clock.now())
    expect(deliveries()).toEqual([])
    expect(db.prepare('SELECT count(*) AS count FROM deliveryAttempt').get()).toEqual({ count: 0 })
  })

  test('lists rejected recipients', async () => {
    await using box = await mailbox({
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('ben') ? Object.assign(new Error('gone'), { responseCode: 550 }) : null),
    })
    const { open, deliver, read } = setUp({ smtpPort: box.port })
    const both = open('iss_1', [{ type: 'email', target: 'ann@example.com,ben@example.com' }]).deliveryIds[0]
    const one = open('iss_2', [{ type: 'email', target: 'ben@example.com' }]).deliveryIds[0]
    await deliver()
    const noted = { outcome: 'delivered', reason: '1 of 2 addresses rejected', answer: '1 of 2 addresses rejected' }
    expect((await read(both ?? '')).log).toMatchObject([noted])
    expect((await read(one ?? '')).log).toMatchObject([{ outcome: 'broken', answer: null }])
  })
})

describe('the requests of an attempt', () => {
  test('have a masked target, the headers without secrets, both bodies and the status', async () => {
    await using server = receiver(() => new Response('{"error":\n"no such hook"}', { status: 404 }))
    const { open, deliver, read, integrate } = setUp()
    const url = `${server.url}/services/T0001/short?token=very-secret-token-1`
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: integrate(url) }]).deliveryIds
    await deliver()
    const { log } = await read(id)
    const [{ body = '', headers: sent = {} } = {}] = server.requests
    expect(log[0].requests).toEqual([
      {
        method: 'POST',
        target: `${server.url}/***`,
        headers: {
          'content-type': 'application/json',
          'user-agent': expect.stringContaining('Tagwarden'),
          'webhook-id': id,
          'webhook-timestamp': sent['webhook-timestamp'],
          'webhook-signature': sent['webhook-signature'],
        },
        body,
        bodyLength: body.length,
        durMs: expect.any(Number),
        status: 404,
        response: '{"error":\n"no such hook"}',
      },
    ])
    expect(JSON.stringify(log)).not.toContain('T0001')
  })

  test('show neither requests nor responses below the admin role', async () => {
    await using server = receiver()
    const { open, deliver, read } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: server.url }]).deliveryIds
    await deliver()
    for (const caller of ['admin', 'owner', 'readOnly'] as const)
      expect((await read(id, caller)).log[0].requests).toHaveLength(1)
    for (const caller of ['member', 'viewer'] as const) {
      const { log } = await read(id, caller)
      expect(log).toHaveLength(1)
      expect(log[0]).not.toHaveProperty('requests')
    }
  })

  test('mask the values of all headers that may be secret, and credentials in the body', async () => {
    const token = 'xoxb-123456789-abcdefgh'
    await using server = receiver(() => new Response(`Bearer ${token}`, { status: 500 }))
    const { db, clock, orgId, box, open, deliver, read } = setUp({
      channels: [],
      operator: { TEAM_CHAT_URL: server.url },
    })
    const { id: integration } = insertIntegration(db, box, {
      orgId,
      provider: 'team_chat',
      label: 'Chat',
      config: {},
      secrets: { botToken: token },
      createdAt: clock.now(),
    })
    saveState(db, integration, { channelId: 'C1' })
    const [id = ''] = open('iss_1', [{ type: 'team_chat', target: integration }]).deliveryIds
    await deliver()
    const stored = JSON.stringify([(await read(id)).log, db.prepare('SELECT * FROM deliveryAttempt').all()])
    expect(server.requests.length).toBeGreaterThan(0)
    expect((await read(id)).log[0].requests.at(-1)).toMatchObject({
      target: expect.stringContaining(server.url),
      headers: { authorization: '***' },
      status: 500,
    })
    expect(stored).not.toContain(token)
  })

  test('of an e-mail have masked addresses, the subject and the text', async () => {
    await using box = await mailbox()
    const { open, deliver, read } = setUp({ smtpPort: box.port })
    const [id = ''] = open('iss_1', [{ type: 'email', target: 'ann@example.com,ben@example.com' }]).deliveryIds
    await deliver()
    const [request] = (await read(id)).log[0].requests
    expect(request).toMatchObject({ method: 'SMTP', target: 'a***@e***.com, b***@e***.com', status: 250 })
    expect(request.headers.subject).toContain('Purchase has a value')
    expect(request.body).toContain('Purchase has a value')
  })

  test('without a response say why there was none', async () => {
    const { open, deliver, read } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: 'http://127.0.0.1:1/hook' }]).deliveryIds
    await deliver()
    const [entry] = (await read(id)).log
    expect(entry.requests).toMatchObject([{ status: null, response: entry.reason, target: 'http://127.0.0.1:1/***' }])
  })

  test('are cut off at 4,000 characters for the body and 2,000 for the response', async () => {
    await using server = receiver(() => new Response('r'.repeat(5000), { status: 400 }))
    const { db, open, deliver, read } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: server.url }]).deliveryIds
    db.prepare(`UPDATE delivery SET message = replace(message, 'events break the rule', ?)`).run('s'.repeat(9000))
    await deliver()
    const [request] = (await read(id)).log[0].requests
    expect([request.body.length, request.response.length]).toEqual([4000, 2000])
    expect(request.bodyLength).toBe(server.requests[0]?.body.length ?? 0)
  })

  test('are stored for the most recent 10 attempts', async () => {
    await using server = receiver(() => new Response('no', { status: 400 }))
    const { db, orgId, clock, open, deliver, read } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: server.url }]).deliveryIds
    for (let attempt = 0; attempt < 12; attempt++) {
      await deliver()
      clock.advance(SECOND_MS)
      if (attempt < 11) replay(db, orgId, id, clock.now())
    }
    const { log } = await read(id)
    expect(log.map(({ requests = [] }: { requests?: unknown[] }) => requests.length)).toEqual([
      0,
      0,
      ...Array(10).fill(1),
    ])
  })

  test('are stored once for the deliveries of a group, and shown in each', async () => {
    await using server = roomServer()
    const { db, clock, open, deliver, deliveries, read } = setUp()
    for (const id of ['iss_1', 'iss_2', 'iss_3']) open(id, [roomAt(server.url)])
    await deliver()
    clock.advance(30 * SECOND_MS)
    await deliver()
    for (const { id } of deliveries()) {
      const target = `${new URL(server.url).origin}/***`
      expect((await read(id)).log[0].requests).toMatchObject([{ method: 'POST', target, status: 200 }])
    }
    // The first opening was sent at once, the two others together.
    const stored = db.prepare('SELECT count(*) AS count FROM deliveryAttempt WHERE requests IS NOT NULL').get()
    expect(stored).toEqual({ count: 2 })
  })
})

describe('an unfinished attempt', () => {
  test('is logged and not counted if the server was stopped', async () => {
    await using server = receiver(() => {
      stopping.abort()
      return new Promise<Response>(() => undefined)
    })
    const { open, deliver, read, stopping } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: server.url }]).deliveryIds
    await deliver()
    expect(await read(id)).toMatchObject({
      status: 'pending',
      attempts: 0,
      log: [{ outcome: 'stopped', reason: 'the server was stopped', answer: null }],
    })
  })

  test('is logged after the restart if the server was killed', async () => {
    const { db, clock, open, take, read } = setUp()
    const [id = ''] = open('iss_1', [mail]).deliveryIds
    take()
    clock.advance(SECOND_MS)
    recoverInterrupted(db)
    expect(await read(id)).toMatchObject({
      status: 'pending',
      attempts: 0,
      log: [
        { at: clock.now() - SECOND_MS, durMs: 0, outcome: 'stopped', reason: 'the server was killed', answer: null },
      ],
    })
  })
})

describe('a secret echoed by the other service', () => {
  const bare = secret.slice('whsec_'.length)
  test.each<[string, string]>([
    ['verbatim', `unknown ${secret}`],
    ['in JSON', JSON.stringify({ error: { secret } })],
    ['in a URL', `see https://a.example/?s=${encodeURIComponent(secret)}`],
    ['at the end of the logged part', `${'x'.repeat(480)}${secret}`],
    ['in a header', 'you sent Authorization: Bearer abcdefgh12345678 and Basic YW5uOnMzY3JldA=='],
  ])('is not logged (%s)', async (_name, body) => {
    await using server = receiver(() => new Response(body, { status: 400 }))
    const { db, open, deliver, read, integrate } = setUp()
    const [id = ''] = open('iss_1', [{ type: 'webhook', target: integrate(server.url) }]).deliveryIds
    await deliver()
    const { answer } = (await read(id)).log[0]
    expect(answer).toContain('…')
    expect(answer.length).toBeLessThanOrEqual(500)
    const written = JSON.stringify([answer, db.prepare('SELECT * FROM deliveryAttempt').all()])
    for (const piece of [bare, bare.slice(0, 12), 'abcdefgh12345678', 'YW5uOnMzY3JldA'])
      expect(written).not.toContain(piece)
  })
})
