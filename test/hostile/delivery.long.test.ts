import { afterEach, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { createAlert } from '../../src/alerts/alert-store.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { deliver } from '../../src/integrations/delivery/deliver-messages.ts'
import { Dispatcher } from '../../src/integrations/delivery/dispatcher.ts'
import { notifier } from '../../src/integrations/delivery/notifier.ts'
import { outboxFixture } from '../../src/integrations/delivery/outbox.fixture.ts'
import { applyChanges } from '../../src/issues/store.ts'
import { addressGuard } from '../../src/transport/address-guard.ts'
import { httpTransport } from '../../src/transport/http-transport.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import type { HttpOutbound } from '../../src/transport/transport.ts'

/*
 * One organization's receivers hang. Another organization's notification is still sent in the next run of the job.
 *
 * Each organization can have eight concurrent attempts, of which at most seven go to origins that have not responded.
 * Such an origin gets one attempt at a time, any other origin two.
 */

const guard = addressGuard(['127.0.0.0/8'])
const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Accepts connections on every loopback address and never responds. Counts the open connections by address. */
async function blackHole() {
  const sockets = new Set<Socket>()
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  let accepted = 0
  const server = createServer((socket) => {
    const host = socket.localAddress ?? ''
    accepted++
    sockets.add(socket)
    open.set(host, (open.get(host) ?? 0) + 1)
    most.set(host, Math.max(most.get(host) ?? 0, open.get(host) ?? 0))
    socket.on('error', () => undefined)
    socket.on('data', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      open.set(host, (open.get(host) ?? 0) - 1)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  stops.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    /** Returns URLs of receivers on the hosts 127.1.0.1 to 127.1.0.n. */
    hooks: (count: number) => Array.from({ length: count }, (_, n) => `http://127.1.0.${n + 1}:${port}/hook`),
    open: () => sockets.size,
    accepted: () => accepted,
    mostAtOneHost: () => Math.max(...most.values()),
  }
}

function setUp(timeoutMs: number) {
  const world = outboxFixture()
  const { db, clock } = world
  const stopping = new AbortController()
  const http = httpTransport({ guard, timeoutMs })
  const underWay = new Map<string, number>()
  let mostAtOneHost = 0
  const counted = async (outbound: HttpOutbound, signal: AbortSignal) => {
    const { hostname } = new URL(outbound.url)
    const now = (underWay.get(hostname) ?? 0) + 1
    mostAtOneHost = Math.max(mostAtOneHost, now)
    underWay.set(hostname, now)
    const reply = await http(outbound, signal)
    underWay.set(hostname, (underWay.get(hostname) ?? 0) - 1)
    return reply
  }
  const dispatcher = new Dispatcher(
    {
      ...world,
      transport: {
        send: (outbound, signal) => (outbound.kind === 'http' ? counted(outbound, signal) : Promise.reject(outbound)),
      },
      jitter: () => 0,
      mailConfigured: false,
      report: (error) => {
        throw error
      },
    },
    stopping.signal,
  )
  const parts = { db, clock, publicUrl: 'https://watch.example' }
  stops.push(async () => {
    stopping.abort()
    await dispatcher.idle()
  })
  /** Adds a notification about a new issue to the outbox, optionally for another organization. */
  const tellOf = (id: string, target: string, orgId = world.orgId) => {
    world.tell('opened', world.issue(id), { channels: [{ type: 'webhook', target }] })
    db.prepare('UPDATE delivery SET orgId = ? WHERE issueId = ?').run(orgId, id)
  }
  return {
    ...world,
    parts,
    dispatcher,
    tellOf: tellOf,
    job: () => deliver(parts, dispatcher),
    mostAtOneHost: () => mostAtOneHost,
  }
}

/** Runs the job repeatedly, as the scheduler does, until the condition is true. */
async function runUntil(job: () => void, isSo: () => boolean) {
  while (!isSo()) {
    job()
    await Bun.sleep(5)
  }
}

test("a hundred hanging webhooks of one organization do not delay another organization's messages", async () => {
  const hole = await blackHole()
  await using good = receiver()
  const { people, tellOf, job } = setUp(60_000)
  for (const [index, url] of hole.hooks(100).entries()) tellOf(`iss_${index}`, url)
  await runUntil(job, () => hole.open() === 7)
  for (let n = 0; n < 20; n++) tellOf(`iss_good_${n}`, `${good.url}/${n}`, people.mallory.orgId)
  await runUntil(job, () => good.requests.length === 20)
  expect([hole.open(), hole.accepted()]).toEqual([7, 7])
})

test('ten organizations with hanging webhooks leave a delivery slot for an eleventh', async () => {
  const hole = await blackHole()
  await using good = receiver()
  const { db, people, tellOf, job } = setUp(60_000)
  const columns = (db.prepare('PRAGMA table_info(org)').all() as { name: string }[]).map(({ name }) => name)
  const copied = columns.map((name) => (name === 'id' ? '@id' : name)).join()
  const copy = db.prepare(`INSERT INTO org (${columns.join()}) SELECT ${copied} FROM org LIMIT 1`)
  for (let org = 0; org < 10; org++) {
    copy.run({ id: `org_${org}` })
    for (const [index, url] of hole.hooks(100).entries()) tellOf(`iss_${org}_${index}`, url, `org_${org}`)
  }
  await runUntil(job, () => hole.open() > 50)
  tellOf('iss_good', good.url, people.mallory.orgId)
  await runUntil(job, () => good.requests.length === 1)
  expect(hole.open()).toBe(hole.accepted())
  expect(hole.open()).toBeLessThan(64)
  // Each of the ten organizations has at most one connection to a host.
  expect(hole.mostAtOneHost()).toBeLessThanOrEqual(10)
})

test('a host has at most two concurrent attempts, regardless of the number of messages and URLs', async () => {
  const hole = await blackHole()
  const { people, tellOf, job, clock, deliveries, mostAtOneHost } = setUp(50)
  const [url = ''] = hole.hooks(1)
  for (let n = 0; n < 30; n++) tellOf(`iss_${n}`, `${url}/${n % 5}`, n % 3 === 0 ? people.mallory.orgId : undefined)
  await runUntil(job, () => {
    clock.advance(MINUTE_MS)
    return hole.accepted() > 10
  })
  expect(mostAtOneHost()).toBe(2)
  expect(deliveries().filter(({ attempts }) => attempts > 0).length).toBeGreaterThan(2)
})

test('a hanging host gets one attempt at a time, at increasing intervals, and all its deliveries remain pending', async () => {
  const hole = await blackHole()
  const { tellOf, job, clock, dispatcher, deliveries } = setUp(30)
  const [url = ''] = hole.hooks(1)
  const start = clock.now()
  for (let n = 0; n < 40; n++) tellOf(`iss_${n}`, `${url}/${n}`)
  const tries: number[] = []
  for (let second = 0; second <= 64; second++) {
    const before = hole.accepted()
    job()
    await dispatcher.idle()
    if (hole.accepted() > before) tries.push((clock.now() - start) / SECOND_MS)
    clock.advance(SECOND_MS)
  }
  // One attempt at a time, at intervals of 1 s, 2 s, 4 s and so on.
  expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63])
  expect(hole.accepted()).toBe(7)
  expect(deliveries().reduce((sum, { attempts }) => sum + attempts, 0)).toBe(7)
  expect(deliveries().filter(({ status }) => status === 'pending')).toHaveLength(40)
})

test('notifications held back by a throttle are sent while other webhooks of the organization hang', async () => {
  const hole = await blackHole()
  await using good = receiver()
  const { db, clock, orgId, parts, issue, issueRow, tellOf, job } = setUp(60_000)
  const alert = createAlert(db, clock, orgId, {
    name: 'Throttled',
    alertType: 'data_validation',
    conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
    period: '1h',
    channels: [{ type: 'webhook', target: good.url }],
    throttle: { count: 1, per: 1, unit: 'minutes' },
  })
  const enqueue = notifier(parts)
  for (const issueId of [issue('iss_told', alert.id), issue('iss_held', alert.id)]) {
    const notice = { transition: 'opened', finding: issueRow(issueId)?.evidence ?? null, delayMs: 0 } as const
    const change = { kind: 'history', issueId, entry: 'opened', payload: null, at: clock.now(), notice } as const
    applyChanges(db, [change], enqueue)
  }
  await runUntil(job, () => good.requests.length === 1)
  for (const [index, url] of hole.hooks(100).entries()) tellOf(`iss_${index}`, url)
  await runUntil(job, () => hole.open() === 7)
  expect(issueRow('iss_held')?.capReached).toBe(true)
  clock.advance(MINUTE_MS)
  await runUntil(job, () => good.requests.length === 2)
  expect(issueRow('iss_held')?.capReached).toBe(false)
  expect([hole.open(), hole.accepted()]).toEqual([7, 7])
})

test("a channel's notifications about an issue stay in order while its host hangs", async () => {
  let isHanging = true
  const heard: string[] = []
  await using server = receiver(({ body }) => {
    if (isHanging) return new Promise<Response>(() => undefined)
    heard.push(JSON.parse(body).type)
    return new Response()
  })
  const { job, clock, dispatcher, ...world } = setUp(500)
  const channels = [{ type: 'webhook' as const, target: server.url }]
  world.issue()
  for (const transition of ['opened', 'reopened', 'resolved', 'reopened'] as const) {
    world.tell(transition, 'iss_1', { channels })
    job()
    await dispatcher.idle()
    clock.advance(SECOND_MS)
  }
  isHanging = false
  clock.advance(MINUTE_MS)
  job()
  await dispatcher.idle()
  expect(heard).toEqual(['issue.opened', 'issue.reopened', 'issue.reopened'])
})
