import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { validationInput } from '../alerts/alert.fixture.ts'
import { createAlert } from '../alerts/alert-store.ts'
import { absences, addCollector, listCollectors, removeCollector } from '../collectors/store.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { rotateToken, setHostnameStatus } from '../domains/store.ts'
import { evaluate, WokenAlerts } from '../evaluation/evaluate-alerts.ts'
import { ClickhouseHistory } from '../warehouse/clickhouse/clickhouse-history.ts'
import { Cluster, type Link, type TestCollector, type Without } from './cluster.fixture.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open()
})
afterAll(() => cluster[Symbol.asyncDispose]())

const events = (...ids: string[]) => ids.map((id) => ({ id, vendor: 'GA4', event: 'purchase' }))
let number = 0
/** Creates a domain and two collectors with unique names. */
async function newPair(without: Without = {}) {
  const name = `t${++number}-`
  const { id, token } = cluster.newDomain(name)
  const a = await cluster.newCollector(`${name}a`, without)
  const b = await cluster.newCollector(`${name}b`, without)
  const stored = async () => (await cluster.storedIds(name)).map((one) => one.slice(name.length))
  const send = (to: TestCollector, batchId: string, ...ids: string[]) =>
    to.send(token, { batchId: `batch-${batchId}`, events: events(...ids.map((one) => `${name}${one}`)) })
  const usage = () => {
    const sql = 'SELECT sum(events) FROM usage WHERE domainId = ?'
    return cluster.app.db.prepare(sql).pluck().get(id)
  }
  return { domain: { orgId: cluster.orgId, id }, token, a, b, send, stored, usage }
}

describe('a batch that two collectors received', () => {
  test('is stored once, and its repeats get the same answer', async () => {
    const { a, b, send, stored, usage } = await newPair()
    const answers = [await send(a, '01', '1', '2'), await send(b, '01', '1', '2')]
    await send(b, '02', '3')
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    await cluster.settle(a, b)
    expect([a.log, b.log]).toEqual([[], []])
    expect(await stored()).toEqual(['1', '2', '3'])
    expect(await send(b, '01', '1', '2')).toEqual({ status: 202, body: answers[0]?.body })
    await cluster.settle(a, b)
    expect(await stored()).toEqual(['1', '2', '3'])
    expect(usage()).toBe(3)
  })

  test('is doubled without claims', async () => {
    const { a, b, send, stored } = await newPair({ claims: true })
    await send(a, '01', '1')
    await send(b, '01', '1')
    await cluster.settle(a, b)
    expect(await stored()).toEqual(['1', '1'])
  })
})

describe('nothing is lost or doubled', () => {
  test.each<[string, Link]>([
    ['while the control node is absent', 'cut'],
    ['when its answers are lost', 'answers lost'],
    ['when the answers to commits are lost', 'commits lost'],
  ])('%s, also when collectors are killed', async (_, link) => {
    const { a, b, send, stored, usage } = await newPair()
    await send(a, '01', '1')
    a.link = b.link = link
    await cluster.settle(a, b)
    await send(a, '02', '2')
    await send(b, '01', '1')
    await a.kill()
    await cluster.settle(a, b)
    await send(a, '03', '3')
    await b.kill()
    await cluster.settle(a, b)
    a.link = b.link = 'up'
    await cluster.settle(a, b)
    await cluster.settle(a, b)
    expect(await stored()).toEqual(['1', '2', '3'])
    expect(usage()).toBe(3)
  })

  test('while ClickHouse is absent', async () => {
    const { a, b, send, stored } = await newPair()
    await cluster.warehouse.kill()
    await send(a, '01', '1')
    await cluster.settle(a, b)
    await a.kill()
    expect((await send(a, '02', '2')).status).toBe(202)
    await cluster.settle(a, b)
    await cluster.warehouse.start()
    await cluster.settle(a, b)
    await cluster.settle(a, b)
    expect(await stored()).toEqual(['1', '2'])
  })

  test('but events are doubled without tokens for inserts', async () => {
    const { a, b, send, stored } = await newPair({ tokens: true })
    await send(a, '01', '1')
    a.link = 'commits lost'
    await cluster.settle(a, b)
    a.link = 'up'
    await cluster.settle(a, b)
    expect(await stored()).toEqual(['1', '1'])
  })
})

describe('a segment that is always rejected', () => {
  const FAULT = new AppError('upstream', 'ClickHouse: error 53')

  test('does not delay later ones, and is stored once after the next start', async () => {
    const { a, b, send, stored, usage } = await newPair()
    await send(a, '01', '1')
    let first = ''
    a.beforeInsert = async (segment) => {
      first ||= segment
      if (segment === first) throw FAULT
    }
    await cluster.settle(a)
    expect(await stored()).toEqual([])
    for (const one of ['2', '3']) {
      await send(a, `0${one}`, one)
      await cluster.settle(a)
    }
    expect(await stored()).toEqual(['2', '3'])
    expect(a.log).toContainEqual(expect.stringMatching(/^segment \d+ can't be stored: ClickHouse: error 53\./))
    // Its sender tries again, also at another collector.
    expect((await send(a, '01', '1')).status).toBe(202)
    await send(b, '01', '1')
    await cluster.settle(a, b)
    await a.kill()
    await cluster.settle(a)
    expect(await stored()).toEqual(['2', '3'])
    a.beforeInsert = async () => {}
    await cluster.settle(a)
    expect(await stored()).toEqual(['2', '3'])
    await a.kill()
    await cluster.settle(a)
    await cluster.settle(a)
    expect(await stored()).toEqual(['1', '2', '3'])
    expect(usage()).toBe(3)
  })

  test('waits with all others while none is accepted', async () => {
    const { a, send, stored } = await newPair()
    a.beforeInsert = async () => {
      throw FAULT
    }
    const ids = Array.from({ length: 15 }, (_, n) => String(10 + n))
    for (const id of ids) {
      await send(a, id, id)
      await cluster.settle(a)
    }
    expect(a.log.filter((line) => line.includes("can't be stored"))).toEqual([])
    await a.kill()
    a.beforeInsert = async () => {}
    await cluster.settle(a)
    await cluster.settle(a)
    expect(await stored()).toEqual(ids)
  })
})

test('changes of the control node are in force after the next contact, and while it is absent', async () => {
  const { a, domain, token } = await newPair()
  const { db } = cluster.app
  const onHost = (host: string) => a.send(token, { page: { url: `https://${host}/` }, events: events('x') })
  expect(await onHost('evil.example')).toMatchObject({ status: 202, body: { accepted: 1 } })
  setHostnameStatus(db, domain, 'evil.example', 'denied')
  createAlert(db, cluster.clock, cluster.orgId, { ...validationInput, domainId: domain.id })
  rotateToken(db, cluster.clock, domain)
  const fresh = db.prepare('SELECT token FROM domain WHERE id = ?').pluck().get(domain.id) as string
  expect((await a.send(fresh, { events: events('x') })).status).toBe(401)
  await a.run('sync')
  a.link = 'cut'
  await a.kill()
  expect(await onHost('evil.example')).toMatchObject({ body: { accepted: 0, rejected: 1 } })
  expect(await a.send(fresh, { events: events('x') })).toMatchObject({ status: 202 })
  a.link = 'up'
  await cluster.settle(a)
  const row = db.prepare('SELECT reason FROM rejection WHERE domainId = ?').pluck().all(domain.id)
  expect(row).toEqual(['events: hostname denied'])
  const violated = await cluster.warehouse.client.select<{ n: number }>(
    `SELECT count() AS n FROM events WHERE domainId = '${domain.id}' AND violated`,
  )
  expect(violated).toEqual([{ n: 1 }])
})

test('numbers of collectors differ, also after a kill', async () => {
  const { a, b, send, domain } = await newPair()
  for (const round of ['1', '2', '3']) {
    for (const [to, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const)
      await send(to, `${name}${round}`, `${name}${round}1`, `${name}${round}2`)
    await a.kill()
  }
  await cluster.settle(a, b)
  const rows = await cluster.warehouse.client.select<{ id: string; seq: number }>(
    `SELECT id, seq FROM events WHERE domainId = '${domain.id}' ORDER BY seq`,
  )
  expect(rows).toHaveLength(12)
  expect(new Set(rows.map(({ seq }) => seq)).size).toBe(12)
  const slots = new Map(listCollectors(cluster.app.db).map(({ name, slot }) => [name, slot]))
  const collectorOf = (id: string) => (id.startsWith(a.name) ? a.name : b.name)
  expect(rows.map(({ seq }) => seq % 64)).toEqual(rows.map(({ id }) => slots.get(collectorOf(id)) ?? -1))
})

describe('the watermark', () => {
  const watermarkOf = () => cluster.watermark()
  test('waits for a collector, and after a minute without contact continues without it', async () => {
    const { a, b, send } = await newPair()
    await cluster.settle(...cluster.all())
    a.link = 'cut'
    await send(a, '01', '1')
    const receivedAt = cluster.clock.now()
    await cluster.settle(b)
    expect(watermarkOf()).toBeLessThanOrEqual(receivedAt)
    for (let second = 0; second < 70; second += 10) {
      cluster.clock.advance(10 * SECOND_MS)
      for (const one of cluster.all()) await one.run('sync')
    }
    await cluster.runJob('collectors')
    expect(watermarkOf()).toBe(cluster.clock.now())
    expect(cluster.warnings).toContainEqual(expect.stringContaining(`no contact with the collector ${a.name}`))
    expect(absences(cluster.app.db, cluster.clock.now())).toEqual([
      { fromAt: expect.any(Number), toAt: cluster.clock.now() },
    ])
    a.link = 'up'
    await cluster.settle(a)
    await cluster.settle(a)
    expect(absences(cluster.app.db, cluster.clock.now())).toEqual([])
    expect(listCollectors(cluster.app.db).some(({ isAway }) => isAway)).toBe(false)
  })
})

test('a violation at a collector opens an issue on the control node, and late ones once', async () => {
  const { a, domain, token } = await newPair()
  const { app, clock, orgId, warehouse } = cluster
  createAlert(app.db, clock, orgId, { ...validationInput, domainId: domain.id })
  await a.run('sync')
  const history = new ClickhouseHistory({ client: warehouse.client, clock })
  const occurrences = async () => {
    await evaluate({
      db: app.db,
      clock,
      warehouse: history,
      visible: { watermark: () => cluster.watermark(), isVisible: () => true },
      woken: new WokenAlerts(),
      enqueue() {},
      gapsOf: () => [],
      privacyOf: () => PLAIN_PRIVACY,
    })
    return app.db.prepare('SELECT sum(occurrences) FROM issue WHERE domainId = ?').pluck().get(domain.id)
  }
  await a.send(token, { events: events('violating') })
  await cluster.settle(...cluster.all())
  expect(await occurrences()).toBe(1)
  a.link = 'cut'
  await a.send(token, { events: events('late-1', 'late-2') })
  clock.advance(2 * MINUTE_MS)
  await cluster.runJob('collectors')
  expect(await occurrences()).toBe(1)
  a.link = 'up'
  await cluster.settle(a)
  expect([await occurrences(), await occurrences()]).toEqual([3, 3])
  await a.send(token, { events: events('stalled') })
  a.beforeInsert = async () => {
    clock.advance(2 * MINUTE_MS)
    await cluster.runJob('collectors')
    expect(await occurrences()).toBe(3)
  }
  await cluster.settle(a)
  a.beforeInsert = async () => {}
  await cluster.settle(...cluster.all())
  expect([await occurrences(), await occurrences()]).toEqual([4, 4])
})

test('a token works for one data folder, and not after it was removed', async () => {
  const { db } = cluster.app
  const { token, collector } = addCollector(db, cluster.clock, 'single')
  const post = async (instance: string) => {
    const status = { instance, version: '1', diskBytes: 0, freeBytes: null, storedThrough: cluster.clock.now() }
    const response = await fetch(`${cluster.url}/collectors/v1/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ status, epoch: 0, version: 0 }),
    })
    return response.status
  }
  const [first, second] = ['a'.repeat(32), 'b'.repeat(32)]
  expect([await post(first), await post(first), await post(second)]).toEqual([200, 200, 409])
  cluster.clock.advance(2 * MINUTE_MS)
  expect(await post(second)).toBe(200)
  removeCollector(db, collector.name)
  expect(await post(second)).toBe(401)
})
