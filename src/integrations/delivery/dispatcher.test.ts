import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AlertChannel } from '../../alerts/alert.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { openWebhookSecret } from '../../org/store.ts'
import { openDatabase } from '../../store/database.ts'
import { addressGuard } from '../../transport/address-guard.ts'
import { httpTransport } from '../../transport/http-transport.ts'
import { mailTransport } from '../../transport/mail-transport.ts'
import { mailbox, type Received, receiver } from '../../transport/receiver.fixture.ts'
import { transport } from '../../transport/transport.ts'
import { deleteIntegration, findIntegration, insertIntegration } from '../store.ts'
import type { DeliveryDeps } from './attempt.ts'
import { recoverInterrupted } from './delivery-queues.ts'
import { replay } from './delivery-store.ts'
import { Dispatcher } from './dispatcher.ts'
import { outboxFixture } from './outbox.fixture.ts'
import { sendTest } from './send-test.ts'

const guard = addressGuard(['127.0.0.0/8'])

interface Options {
  /** Port of the mail server. Absent: mail is not configured. */
  smtpPort?: number
  jitter?: number
  timeoutMs?: number
  world?: ReturnType<typeof outboxFixture>
}

function setUp({ smtpPort, jitter = 0, timeoutMs = 2000, world = outboxFixture() }: Options = {}) {
  const reported: unknown[] = []
  const smtpUrl = smtpPort === undefined ? null : `smtp://127.0.0.1:${smtpPort}`
  const delivering: DeliveryDeps = {
    db: world.db,
    clock: world.clock,
    box: world.box,
    transport: transport({
      http: httpTransport({ guard, timeoutMs }),
      mail: mailTransport({ smtpUrl, from: 'Tagwarden <watch@tagwarden.example>' }),
    }),
    jitter: () => jitter,
    mailConfigured: smtpUrl !== null,
    report: (error) => reported.push(error),
  }
  const hookAt = (url: string): AlertChannel => ({ type: 'webhook', target: `${url}/in?token=t0ken` })
  const integrate = (url: string, secret: string) =>
    insertIntegration(world.db, world.box, {
      orgId: world.orgId,
      provider: 'webhook',
      label: 'On call',
      config: { url },
      secrets: { secret },
      createdAt: world.clock.now(),
    })
  const stopping = new AbortController()
  const dispatcher = new Dispatcher(delivering, stopping.signal)
  let attempts = 0
  const send = dispatcher.send.bind(dispatcher)
  dispatcher.send = (...args) => {
    attempts++
    return send(...args)
  }
  /** Sends until no delivery is due or in flight. Returns the number of attempts. */
  const deliver = async () => {
    const before = attempts
    dispatcher.start()
    await dispatcher.idle()
    return attempts - before
  }
  return { ...world, delivering, dispatcher, stopping, reported, hookAt, integrate, deliver }
}

/** Implemented from the specification, independently of the tested code. */
function signatureOf(secret: string, { headers, body }: Received): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

const status = (code: number, headers: Record<string, string> = {}) =>
  new Response(`code ${code}`, { status: code, headers })

test('a retry after a 503 has the same id and body, a valid signature and a new timestamp', async () => {
  await using server = receiver((_request, index) => status(index === 0 ? 503 : 200))
  const { db, box, orgId, clock, issue, tell, deliver, deliveries, history, issueRow, hookAt } = setUp()
  issue()
  const { deliveryIds } = tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
  expect(await deliver()).toBe(1)
  expect(deliveries()).toMatchObject([
    { status: 'pending', attempts: 1, lastError: 'HTTP 503', dueAt: clock.now() + 5 * SECOND_MS, deliveredAt: null },
  ])
  expect(await deliver()).toBe(0)
  clock.advance(5 * SECOND_MS)
  expect(await deliver()).toBe(1)
  expect(deliveries()).toMatchObject([{ status: 'delivered', attempts: 2, lastError: null, deliveredAt: clock.now() }])
  expect(issueRow()).toMatchObject({ notificationsSent: 1 })
  expect(history()).toEqual([
    { kind: 'notified', deliveryId: deliveryIds[0], transition: 'opened', channel: hookAt(server.url) },
  ])

  const [first, second] = server.requests
  if (!first || !second) throw new Error('expected two requests')
  expect(first.path).toBe('/in?token=t0ken')
  expect([first, second].map(({ headers }) => headers['webhook-id'])).toEqual([
    deliveryIds[0] ?? '',
    deliveryIds[0] ?? '',
  ])
  expect(Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp'])).toBe(5)
  expect(second.body).toBe(first.body)
  const secret = openWebhookSecret(db, box, orgId)
  for (const request of [first, second]) {
    expect(request.headers['webhook-signature']).toBe(signatureOf(secret, request))
  }
  expect(JSON.parse(first.body)).toMatchObject({
    type: 'issue.opened',
    data: {
      issue: { id: 'iss_1', severity: 'high', openNow: 1 },
      alert: { id: 'alr_1', name: 'Purchase has a value' },
      sample: { params: { value: '' } },
      url: 'https://watch.example/issues/iss_1',
    },
  })
})

test('a delivery fails after eight attempts, with a history entry and an e-mail to the owners', async () => {
  await using server = receiver(() => status(503))
  await using box = await mailbox()
  const { clock, issue, tell, deliver, deliveries, history, issueRow, hookAt } = setUp({ smtpPort: box.port })
  issue()
  const { deliveryIds } = tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
  const start = clock.now()
  const waits = [0, 5, 30, 120, 600, 1800, 7200, 21_600].map((seconds) => seconds * SECOND_MS)
  for (const [index, wait] of waits.entries()) {
    clock.advance(wait - (wait > 0 ? 1 : 0))
    if (wait > 0) {
      expect(await deliver()).toBe(0)
      clock.advance(1)
    }
    await deliver()
    expect(server.requests).toHaveLength(index + 1)
  }
  expect(server.requests.map(({ headers }) => Number(headers['webhook-timestamp']) * SECOND_MS - start)).toEqual(
    waits.map((_, index) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0)),
  )
  expect(new Set(server.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(deliveryIds))
  const channel = hookAt(server.url)
  expect(history()).toEqual([
    { kind: 'delivery_failed', deliveryId: deliveryIds[0], transition: 'opened', channel, reason: 'HTTP 503' },
  ])
  expect(issueRow()).toMatchObject({ notificationsSent: 0 })
  expect(deliveries()).toMatchObject([
    { status: 'failed', attempts: 8, lastError: 'HTTP 503' },
    { status: 'delivered', transition: 'delivery_failed', channelType: 'email', channelTarget: 'owners' },
  ])
  expect(box.mails.map(({ to }) => to)).toEqual([['alice@example.com']])
  expect(box.mails[0]?.source).toContain('Notification not delivered')
  expect(box.mails[0]?.source).not.toContain('t0ken')
  clock.advance(24 * HOUR_MS)
  expect(await deliver()).toBe(0)
})

describe('a permanent rejection', () => {
  test.each([
    [410, 'HTTP 410'],
    [404, 'HTTP 404'],
    [409, 'HTTP 409'],
    [400, 'HTTP 400'],
    [401, 'HTTP 401'],
    [302, 'HTTP 302: redirects are not followed'],
  ])('with status %i fails the delivery immediately', async (code, reason) => {
    await using server = receiver(() => status(code, { location: '/elsewhere' }))
    const { clock, issue, tell, deliver, deliveries, hookAt } = setUp()
    issue()
    tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
    await deliver()
    clock.advance(24 * HOUR_MS)
    await deliver()
    expect(server.requests).toHaveLength(1)
    expect(deliveries()).toMatchObject([{ status: 'failed', attempts: 1, lastError: reason }])
  })

  test('is caused by a URL that the address guard blocks', async () => {
    const { issue, tell, deliver, deliveries } = setUp()
    issue()
    tell('opened', 'iss_1', { channels: [{ type: 'webhook', target: 'https://10.0.0.1/' }] })
    await deliver()
    expect(deliveries()).toMatchObject([{ status: 'failed', lastError: expect.stringContaining('a private address') }])
  })
})

test.each([
  ['90', 90 * SECOND_MS],
  ['1', 5 * SECOND_MS],
  ['Mon, 05 Jan 2026 12:10:00 GMT', 10 * MINUTE_MS],
])('the delay in Retry-After %s is respected', async (retryAfter, waitMs) => {
  await using server = receiver(() => status(429, { 'retry-after': retryAfter }))
  const { clock, issue, tell, deliver, deliveries, hookAt } = setUp()
  issue()
  tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
  await deliver()
  expect(deliveries()[0]?.dueAt).toBe(clock.now() + waitMs)
})

test('retries are spread by jitter', async () => {
  await using server = receiver(() => status(500))
  const { clock, issue, tell, deliver, deliveries, hookAt } = setUp({ jitter: 0.5 })
  issue()
  tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
  await deliver()
  expect(deliveries()[0]?.dueAt).toBe(clock.now() + 5500)
})

test('a receiver that times out is retried', async () => {
  await using server = receiver(() => new Promise<Response>(() => undefined))
  const { issue, tell, deliver, deliveries, hookAt } = setUp({ timeoutMs: 50 })
  issue()
  tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
  await deliver()
  expect(deliveries()).toMatchObject([{ status: 'pending', lastError: 'no response within 0.05 s' }])
})

describe('an e-mail', () => {
  test('to several addresses is sent as one message with the delivery id', async () => {
    await using box = await mailbox()
    const { issue, tell, deliver, deliveries } = setUp({ smtpPort: box.port })
    issue()
    tell('opened', 'iss_1', { channels: [{ type: 'email', target: 'ann@example.com, ben@example.com' }] })
    await deliver()
    expect(box.mails.map(({ to }) => to)).toEqual([['ann@example.com', 'ben@example.com']])
    expect(box.mails[0]?.source).toContain(`Message-ID: <${deliveries()[0]?.id}@tagwarden.example>`)
    expect(box.mails[0]?.source).toContain('Subject: [high] New issue: Purchase has a value')
  })

  test('that failed is not reported by e-mail', async () => {
    await using box = await mailbox({
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error(), { responseCode: 550 })),
    })
    const { issue, tell, deliver, deliveries, history } = setUp({ smtpPort: box.port })
    issue()
    tell('opened', 'iss_1', { channels: [{ type: 'email', target: 'ann@example.com' }] })
    await deliver()
    expect(deliveries()).toMatchObject([{ status: 'failed', transition: 'opened' }])
    expect(history()).toMatchObject([{ kind: 'delivery_failed' }])
  })
})

describe('organization owners', () => {
  test('are notified of a failing channel at most once an hour', async () => {
    await using server = receiver(() => status(410))
    await using other = receiver(() => status(410))
    await using box = await mailbox()
    const { clock, issue, tell, deliver, hookAt } = setUp({ smtpPort: box.port })
    const lose = async (id: string, url: string) => {
      clock.advance(MINUTE_MS)
      tell('opened', issue(id), { channels: [hookAt(url)] })
      await deliver()
      return box.mails.length
    }
    expect([await lose('iss_1', server.url), await lose('iss_2', server.url), await lose('iss_3', other.url)]).toEqual([
      1, 1, 2,
    ])
    clock.advance(HOUR_MS)
    expect(await lose('iss_4', server.url)).toBe(3)
  })

  test('are not notified when a notification to them fails', async () => {
    await using server = receiver(() => status(410))
    await using box = await mailbox({
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error(), { responseCode: 550 })),
    })
    const { issue, tell, deliver, deliveries, history, hookAt } = setUp({ smtpPort: box.port })
    issue()
    tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
    await deliver()
    expect(deliveries()).toMatchObject([{ status: 'failed' }, { status: 'failed', transition: 'delivery_failed' }])
    expect(history()).toHaveLength(1)
  })

  test('are not e-mailed when e-mail is not configured', async () => {
    await using server = receiver(() => status(410))
    const { issue, tell, deliver, deliveries, hookAt } = setUp()
    issue()
    tell('opened', 'iss_1', { channels: [hookAt(server.url)] })
    await deliver()
    expect(deliveries()).toHaveLength(1)
  })
})

describe('an integration', () => {
  const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`

  test('is called at its URL with its own secret, and its status reflects the attempt', async () => {
    let code = 200
    await using server = receiver(() => status(code))
    const { db, orgId, issue, tell, deliver, integrate } = setUp()
    const { id } = integrate(`${server.url}/own`, secret)
    const statusNow = () => findIntegration(db, { orgId, id }).status
    tell('opened', issue('iss_1'), { channels: [{ type: 'webhook', target: id }] })
    await deliver()
    const [request] = server.requests
    expect(request?.path).toBe('/own')
    expect(request?.headers['webhook-signature']).toBe(request && signatureOf(secret, request))
    expect(statusNow()).toBe('connected')
    code = 404
    tell('opened', issue('iss_2'), { channels: [{ type: 'webhook', target: id }] })
    await deliver()
    expect(statusNow()).toBe('failing')
    code = 200
    tell('opened', issue('iss_3'), { channels: [{ type: 'webhook', target: id }] })
    await deliver()
    expect(statusNow()).toBe('connected')
  })

  test('is not called if it was deleted or belongs to another organization', async () => {
    await using server = receiver()
    const { db, orgId, people, issue, tell, deliver, deliveries, integrate } = setUp()
    const { id } = integrate(server.url, secret)
    const theirs = integrate(server.url, secret)
    db.prepare('UPDATE integration SET orgId = ? WHERE id = ?').run(people.mallory.orgId, theirs.id)
    const channels: AlertChannel[] = [id, theirs.id].map((target) => ({ type: 'webhook', target }))
    tell('opened', issue(), { channels })
    deleteIntegration(db, { orgId, id })
    await deliver()
    const gone = { status: 'failed', lastError: 'the integration was deleted' }
    expect(deliveries()).toMatchObject([gone, gone])
    expect(server.requests).toEqual([])
  })

  test('is tested once immediately, and the response is returned', async () => {
    let code = 200
    await using server = receiver(() => status(code))
    await using box = await mailbox()
    const { clock, dispatcher, deliver, deliveries, integrate } = setUp({ smtpPort: box.port })
    const integration = integrate(server.url, secret)
    const test = () => sendTest(dispatcher, integration, 'https://watch.example')
    const { deliveryId } = await test()
    expect(deliveries()).toMatchObject([{ id: deliveryId, transition: 'test', status: 'delivered', issueId: null }])
    expect(server.requests[0]?.headers['webhook-id']).toBe(deliveryId)
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ type: 'test' })
    for (code of [503, 410]) {
      const refusal = await test().catch((error) => error)
      expect([refusal.code, refusal.message]).toEqual(['upstream', `the test failed: HTTP ${code} (code ${code})`])
    }
    clock.advance(24 * HOUR_MS)
    expect(await deliver()).toBe(0)
    expect(box.mails).toEqual([])
    expect(deliveries().map((one) => one.status)).toEqual(['delivered', 'failed', 'failed'])
  })
})

test("a delivery that can't be sent fails with its reason without affecting other deliveries", async () => {
  await using server = receiver()
  const { db, orgId, issue, tell, deliver, deliveries, reported, hookAt, integrate, history } = setUp()
  const { id } = integrate(server.url, 'whsec_')
  const sealedElsewhere = integrate(server.url, 'whsec_')
  db.prepare('UPDATE integration SET secrets = ? WHERE id = ?').run(Buffer.alloc(60, 1), sealedElsewhere.id)
  const channels: AlertChannel[] = [
    hookAt(`${server.url}/damaged`),
    hookAt(`${server.url}/unknown`),
    { type: 'webhook', target: id },
    { type: 'webhook', target: sealedElsewhere.id },
    hookAt(server.url),
  ]
  tell('opened', issue(), { channels })
  const [damaged, unknown] = deliveries()
  db.prepare(`UPDATE delivery SET message = '{"secret' WHERE id = ?`).run(damaged?.id)
  db.prepare(`UPDATE delivery SET channelType = 'pigeon' WHERE id = ?`).run(unknown?.id)
  expect(await deliver()).toBe(5)
  expect(deliveries().map(({ status, lastError }) => [status, lastError])).toEqual([
    ['failed', 'the stored message is corrupt'],
    ['failed', 'pigeon is not available in this version'],
    ['failed', 'the signing secret must be whsec_ followed by 24 to 64 bytes in base64'],
    ['failed', 'the message could not be rendered; see the server log'],
    ['delivered', null],
  ])
  expect(reported).toHaveLength(1)
  expect(
    history()
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual([...Array(4).fill('delivery_failed'), 'notified'])
  expect(replay(db, orgId, damaged?.id ?? '', 0)).toMatchObject({ status: 'pending' })
})

describe('deliveries to one origin', () => {
  /**
   * A receiver that delays its responses to `/held` until `enough` requests are in progress. It records the maximum
   * number of concurrent requests.
   */
  function counting(enough: number) {
    const full = Promise.withResolvers<void>()
    let underWay = 0
    let most = 0
    const server = receiver(async ({ path }) => {
      if (!path.startsWith('/held')) return status(200)
      most = Math.max(most, ++underWay)
      if (underWay === enough) full.resolve()
      await full.promise
      underWay--
      return status(200)
    })
    return { server, most: () => most }
  }
  const to = (url: string, path: string): AlertChannel => ({ type: 'webhook', target: `${url}/${path}` })

  test('are limited to two concurrent requests per organization after the first response', async () => {
    const { server, most } = counting(2)
    await using _ = server
    const { issue, tell, deliver, deliveries } = setUp({ timeoutMs: 30_000 })
    tell('opened', issue(), { channels: [to(server.url, 'first')] })
    expect(await deliver()).toBe(1)
    for (let index = 0; index < 6; index++)
      tell('opened', issue(`iss_${index + 2}`), { channels: [to(server.url, `held/${index}`)] })
    expect(await deliver()).toBe(6)
    expect(most()).toBe(2)
    expect(deliveries().every((one) => one.status === 'delivered')).toBe(true)
  })

  test('are sent one at a time before the first response, regardless of other ports and organizations', async () => {
    const release = Promise.withResolvers<void>()
    // The requests to the two receivers arrive in any order.
    const releaseOnceAllArrived = () => {
      if (slow.requests.length === 2 && other.requests.length === 1) release.resolve()
    }
    await using slow = receiver(async () => {
      releaseOnceAllArrived()
      await release.promise
      return status(200)
    })
    await using other = receiver(() => {
      releaseOnceAllArrived()
      return status(200)
    })
    const { issue, tell, deliver, people } = setUp({ timeoutMs: 30_000 })
    for (let index = 0; index < 3; index++)
      tell('opened', issue(`iss_${index}`), { channels: [to(slow.url, `${index}`)] })
    tell('opened', issue('iss_3'), { channels: [to(slow.url, 'theirs')], orgId: people.mallory.orgId })
    tell('opened', issue('iss_4'), { channels: [to(other.url, 'a')] })
    expect(await deliver()).toBe(5)
    expect(
      slow.requests
        .slice(0, 2)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(['/0', '/theirs'])
  })
})

describe('a killed server', () => {
  /** Runs `work` with a database file that a second process can open after the first one was killed. */
  async function inFile(work: (path: string) => Promise<void>) {
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-outbox-'))
    try {
      await work(join(folder, 'tagwarden.db'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test.each([
    ['killed before sending', false, 1],
    ['killed after sending, before the outcome was recorded', true, 2],
  ])('sends the delivery after a restart with the same id (%s)', async (_name, sentBefore, times) => {
    await using server = receiver()
    await inFile(async (path) => {
      const before = setUp({ world: outboxFixture(openDatabase(path)) })
      before.tell('opened', before.issue(), { channels: [before.hookAt(server.url)] })
      if (sentBefore) {
        // The database is closed when the response arrives, so the outcome is not recorded.
        const send = before.delivering.transport.send
        before.delivering.transport.send = async (outbound, signal) => {
          const reply = await send(outbound, signal)
          before.db.close()
          before.stopping.abort()
          return reply
        }
        await before.deliver()
        expect(before.reported).toEqual([expect.objectContaining({ message: 'The database connection is not open' })])
      } else {
        expect(before.take()).toHaveLength(1)
        before.db.close()
      }

      const db = openDatabase(path)
      const { deliver } = setUp({ world: { ...outboxFixture(), db } })
      expect(await deliver()).toBe(0)
      expect(recoverInterrupted(db)).toBe(1)
      expect(await deliver()).toBe(1)
      expect(server.requests).toHaveLength(times)
      expect(new Set(server.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      const row = db.prepare('SELECT status, attempts FROM delivery').get()
      expect(row).toEqual({ status: 'delivered', attempts: 1 })
      db.close()
    })
  })

  test('sends no notification about a change that was not stored', async () => {
    await inFile(async (path) => {
      const before = setUp({ world: outboxFixture(openDatabase(path)) })
      before.issue()
      before.db.exec('BEGIN IMMEDIATE')
      before.tell('opened')
      before.db.close()
      const db = openDatabase(path)
      expect(db.prepare('SELECT count(*) AS count FROM delivery').get()).toEqual({ count: 0 })
      db.close()
    })
  })
})

test('a hanging receiver does not delay other receivers or later deliveries', async () => {
  const hanging = Promise.withResolvers<Response>()
  let answered = 0
  const { deliver, issue, tell, deliveries, hookAt } = setUp({ timeoutMs: 30_000 })
  await using slow = receiver(() => hanging.promise)
  await using quick = receiver(() => {
    answered++
    if (answered === 1) tell('opened', issue('iss_3'), { channels: [hookAt(quick.url)] })
    else hanging.resolve(new Response())
    return new Response()
  })
  tell('opened', issue(), { channels: [hookAt(slow.url)] })
  tell('opened', issue('iss_2'), { channels: [hookAt(quick.url)] })
  expect(await deliver()).toBe(3)
  expect(answered).toBe(2)
  expect(deliveries().map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered'])
})

test('the first message to a new receiver is sent immediately while other receivers hang', async () => {
  const released = Promise.withResolvers<void>()
  const hanging = Array.from({ length: 4 }, () =>
    receiver(async ({ path }) => {
      if (path !== '/up') await released.promise
      return status(200)
    }),
  )
  try {
    await using fresh = receiver(() => {
      released.resolve()
      return status(200)
    })
    const { deliver, dispatcher, issue, tell, deliveries } = setUp({ timeoutMs: 30_000 })
    const tellAt = (id: string, url: string) =>
      tell('opened', issue(id), { channels: [{ type: 'webhook', target: url }] })
    // Two of the receivers respond first, so that they get two concurrent attempts each.
    for (const [index, { url }] of hanging.slice(0, 2).entries()) tellAt(`iss_up_${index}`, `${url}/up`)
    await deliver()
    for (const [index, { url }] of hanging.entries())
      for (let nth = 0; nth < 5; nth++) tellAt(`iss_${index}_${nth}`, `${url}/${nth}`)
    expect(dispatcher.start()).toBeGreaterThanOrEqual(4)
    const isHung = () => hanging.every(({ requests }) => requests.some(({ path }) => path !== '/up'))
    while (!isHung()) await Bun.sleep(5)
    tellAt('iss_fresh', `${fresh.url}/in`)
    expect(dispatcher.start()).toBe(1)
    await dispatcher.idle()
    expect(fresh.requests).toHaveLength(1)
    expect(deliveries().every((one) => one.status === 'delivered' && one.attempts === 1)).toBe(true)
  } finally {
    for (const server of hanging) await server[Symbol.asyncDispose]()
  }
})

test('stopping the dispatcher returns attempts in progress to the queue without counting them', async () => {
  await using server = receiver(() => {
    stopping.abort()
    return new Promise<Response>(() => undefined)
  })
  const { deliver, stopping, issue, tell, deliveries, hookAt } = setUp()
  for (const id of ['iss_1', 'iss_2', 'iss_3']) tell('opened', issue(id), { channels: [hookAt(server.url)] })
  expect(await deliver()).toBe(1)
  const waits = { status: 'pending', attempts: 0 }
  expect(deliveries()).toMatchObject([waits, waits, waits])
  expect(await deliver()).toBe(0)
})

test('recording an outcome is retried after a failed write', async () => {
  await using server = receiver()
  const { db, deliver, issue, tell, deliveries, hookAt, reported } = setUp()
  tell('opened', issue(), { channels: [hookAt(server.url)] })
  db.exec(`CREATE TRIGGER fullDisk BEFORE UPDATE OF deliveredAt ON delivery BEGIN SELECT RAISE(ABORT, 'no room'); END`)
  const delivering = deliver()
  while (reported.length === 0) await Bun.sleep(5)
  expect(deliveries()).toMatchObject([{ status: 'sending' }])
  db.exec('DROP TRIGGER fullDisk')
  await delivering
  expect(deliveries()).toMatchObject([{ status: 'delivered', attempts: 1 }])
  expect(server.requests).toHaveLength(1)
})

test('secrets are never logged, even when errors occur', async () => {
  await using server = receiver(({ path }) => (path === '/own/p4th' ? status(410) : status(503)))
  await using box = await mailbox()
  const { db, issue, tell, deliver, integrate } = setUp({ smtpPort: box.port })
  const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
  const { id } = integrate(`${server.url}/own/p4th`, secret)
  const broken = integrate('https://10.1.2.3/p4th', secret)
  tell('opened', issue(), { channels: [id, broken.id].map((target) => ({ type: 'webhook', target })) })
  await deliver()
  const tables = ['delivery', 'issueHistory', 'issue'].map((table) => db.prepare(`SELECT * FROM ${table}`).all())
  const written = JSON.stringify([tables, box.mails])
  expect(written).toContain('HTTP 410')
  expect(written).not.toContain('p4th')
  expect(written).not.toContain('whsec_')
})
