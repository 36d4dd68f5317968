import { afterEach, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import type { AlertChannel } from '../../src/alerts/alert.ts'
import { createAlert } from '../../src/alerts/alert-store.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { Text } from '../../src/core/schema.ts'
import { deliver as deliverJob } from '../../src/integrations/delivery/deliver-messages.ts'
import { groupFixture, roomAt } from '../../src/integrations/delivery/group.fixture.ts'
import type { Outcome } from '../../src/integrations/delivery-outcome.ts'
import { channel, NO_SECRETS, noDetail, showsNoStatus } from '../../src/integrations/providers/channel.ts'
import type { DeliveryContext } from '../../src/integrations/providers/provider-context.ts'
import { roomServer } from '../../src/integrations/providers/room/fictitious-chat.fixture.ts'
import { addHistory } from '../../src/issues/store.ts'
import type { Db } from '../../src/store/database.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'

/*
 * Ten thousand notifications wait while three receivers hang and one is down. The number of concurrent attempts never
 * exceeds the number of slots, and memory does not grow with the queue. Other receivers are notified in the next run of
 * the job, and nothing is lost.
 */

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Starts a receiver that accepts requests but does not respond until released. */
async function hanging() {
  const sockets = new Set<Socket>()
  const behaviour = { answers: false }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', () => {
      if (behaviour.answers) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  stops.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { behaviour, open: () => sockets.size, port: typeof address === 'object' ? (address?.port ?? 0) : 0 }
}

/** Inserts waiting notifications into the tables, each for a different issue. */
function fill(db: Db, orgId: string, now: number, rows: readonly { target: string; count: number }[]) {
  const sample = db.prepare('SELECT * FROM issue LIMIT 1').get() as Record<string, unknown>
  // `table_info` omits the columns that SQLite generates.
  const names = (db.pragma('table_info(issue)') as { name: string }[]).map(({ name }) => name)
  const issue = db.prepare(`INSERT INTO issue (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`)
  const { message } = db.prepare('SELECT message FROM delivery LIMIT 1').get() as { message: string }
  const insert = db.prepare(
    `INSERT INTO delivery (id, orgId, issueId, alertId, transition, noticeKey, transitionKey, channelType, channelTarget,
       message, status, attempts, dueAt, throttleAt, createdAt)
     VALUES (@id, @orgId, @issueId, 'alr_1', 'opened', @id, @id, 'webhook', @target, @message, 'pending', 0, @now, @now, @now)`,
  )
  db.transaction(() => {
    for (const { target, count } of rows) {
      for (let index = 0; index < count; index++) {
        const id = `iss_flood_${target}_${index}`
        issue.run({ ...sample, id, subject: id })
        insert.run({ id: `dlv_${id}`, orgId, issueId: id, target, message, now })
      }
    }
  })()
}

const hookAt = (url: string): AlertChannel => ({ type: 'webhook', target: url })

/**
 * Timeout of an attempt. Working receivers respond sooner, even on a busy machine. Attempts that time out are repeated.
 */
const PATIENCE_MS = 3000

async function flood(count: number, timeoutMs = 200) {
  const hole = await hanging()
  const healthy = receiver()
  const chat = roomServer()
  stops.push(
    () => healthy[Symbol.asyncDispose](),
    () => chat[Symbol.asyncDispose](),
  )
  const world = groupFixture({ timeoutMs })
  const { db, clock, orgId, issue, tell, open, dispatcher, stopping } = world
  stops.push(async () => {
    stopping.abort()
    await dispatcher.idle()
  })
  open('iss_seed', [hookAt(healthy.url)])
  await world.deliver()
  const away = [1, 2, 3].map((host) => `http://127.1.0.${host}:${hole.port}/in`)
  const down = receiver(undefined, '127.1.0.4')
  await down[Symbol.asyncDispose]()
  const targets = [...away, `${down.url}/in`]
  fill(
    db,
    orgId,
    clock.now(),
    targets.map((target) => ({ target, count: count / 4 })),
  )
  const job = () => deliverJob({ db, clock, publicUrl: 'https://watch.example' }, dispatcher)
  /** Runs the job repeatedly without advancing the clock, as the scheduler does, until the condition is true. */
  const until = async (isSo: () => boolean) => {
    while (!isSo()) {
      job()
      await Bun.sleep(5)
    }
  }
  const counts = () =>
    Object.fromEntries(
      db
        .prepare<[], { status: string; count: number }>(
          `SELECT status, count(*) AS count FROM delivery WHERE id LIKE 'dlv_iss_flood%' GROUP BY status`,
        )
        .all()
        .map((row) => [row.status, row.count]),
    )
  return { ...world, hole, healthy, chat, down, job, until, counts, targets, issue, tell }
}

const throttle = { count: 1, per: 1, unit: 'minutes' } as const

test('ten thousand messages to unavailable receivers delay no other notifications, including throttled ones', async () => {
  const { db, clock, orgId, hole, healthy, chat, issue, tell, open, until, counts, job, deliveries } =
    await flood(10_000)
  const channels = [hookAt(healthy.url)]
  const alert = createAlert(db, clock, orgId, {
    name: 'Throttled',
    alertType: 'data_validation',
    period: '1h',
    channels,
    throttle,
  })
  const told = (id: string) => healthy.requests.some(({ body }) => JSON.parse(body).data.issue.id === id)
  job()
  open('iss_now', [hookAt(healthy.url), roomAt(chat.url)])
  for (const id of ['iss_first', 'iss_held']) {
    issue(id, alert.id)
    addHistory(db, id, 'opened', {}, clock.now())
    tell('opened', id, { channels, throttle })
  }
  const at = clock.now()
  await until(() => told('iss_now') && told('iss_first') && chat.messages.length === 1)
  expect(told('iss_held')).toBe(false)
  for (let second = 1; second < 60; second++) {
    clock.set(at + second * SECOND_MS)
    job()
    expect(hole.open()).toBeLessThanOrEqual(6)
    expect(told('iss_held')).toBe(false)
    await Bun.sleep(0)
  }
  clock.set(at + MINUTE_MS)
  await until(() => told('iss_held'))
  const { pending = 0, sending = 0, ...others } = counts()
  expect([pending + sending, others]).toEqual([10_000, {}])
  expect(deliveries().filter(({ status }) => status === 'failed')).toEqual([])
})

test('all waiting messages are sent once when their receivers are available again', async () => {
  const { db, clock, hole, down, job, counts, dispatcher } = await flood(200, PATIENCE_MS)
  for (let second = 0; second < 10; second++) {
    job()
    clock.advance(SECOND_MS)
    await Bun.sleep(5)
  }
  await dispatcher.idle()
  expect(counts()).toEqual({ pending: 200 })
  hole.behaviour.answers = true
  await using back = receiver(undefined, '127.1.0.4', down.port)
  while ((counts().delivered ?? 0) < 200) {
    clock.advance(MINUTE_MS)
    job()
    await dispatcher.idle()
  }
  expect(new Set(back.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(50)
  expect(back.requests).toHaveLength(50)
  const twice = db.prepare('SELECT issueId FROM delivery GROUP BY issueId HAVING count(*) > 1').all()
  expect(twice).toEqual([])
})

test('messages to a channel limited to one per second are sent at that rate, in order, without using up attempts', async () => {
  const posts: { id: string; at: number }[] = []
  let asked = 0
  let next = 0
  const post = async (context: DeliveryContext): Promise<Outcome> => {
    asked++
    const at = context.now()
    if (at < next) return { verdict: 'wait', waitMs: next - at }
    next = at + SECOND_MS
    posts.push({ id: context.deliveryId, at })
    return { verdict: 'delivered', note: null }
  }
  const paced = channel<{ url: string }>({
    type: 'team_chat',
    title: 'Paced',
    help: 'Takes one message a second.',
    secrets: NO_SECRETS,
    addresses: { target: Text(1, 2000), check: () => undefined, settingsOf: (url) => ({ url }) },
    hasIntegrations: false,
    checkDetail: noDetail,
    deliveryOf: () => ({
      openings: 'separate',
      usesHistory: true,
      deliver: post,
      test: post,
      syncStatus: showsNoStatus,
    }),
  })
  const { clock, open, deliver, deliveries } = groupFixture({ channels: [paced] })
  for (let index = 0; index < 60; index++) open(`iss_${index}`, [roomAt('https://chat.example')])
  for (let second = 0; second < 60; second++) {
    await deliver()
    clock.advance(SECOND_MS)
  }
  expect(posts.map(({ id }) => id)).toEqual(deliveries().map(({ id }) => id))
  for (const [index, { at }] of posts.entries())
    expect(at - (posts[index - 1]?.at ?? -Infinity)).toBeGreaterThanOrEqual(SECOND_MS)
  expect(deliveries().every(({ status, attempts }) => status === 'delivered' && attempts === 1)).toBe(true)
  expect(asked).toBeLessThanOrEqual(3 * 60)
})
