import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testBox } from '../../test/fixtures.ts'
import { addCollector } from '../collectors/store.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { setHostnameStatus } from '../domains/store.ts'
import { createOrg, updateOrg } from '../org/store.ts'
import { Cluster, type TestCollector } from './cluster.fixture.ts'

let cluster: Cluster
let collector: TestCollector
beforeAll(async () => {
  cluster = await Cluster.open({ publicUrl: 'http://tags.example' })
  collector = await cluster.newCollector('a')
})
afterAll(() => cluster[Symbol.asyncDispose]())

/** Creates an organization with settings for personal data, and a domain with a denied hostname. */
function newOrganization(name: string) {
  const { app, clock } = cluster
  const { id: orgId } = createOrg(app.db, testBox, clock, { name })
  updateOrg(app.db, orgId, { phoneRegions: ['DE'], piiPatterns: [{ name: 'customer number', pattern: 'KD-\\d{6}' }] })
  const { id, token } = cluster.newDomain('Shop', orgId)
  setHostnameStatus(app.db, { orgId, id }, 'evil.example', 'denied')
  return { orgId, id, token }
}

const params = {
  email: 'jane.doe@example.com',
  'ep.phone': '030 9018 20123',
  note: 'order of KD-123456',
  card: '4111 1111 1111 1111',
  total: '12.50',
}
const BATCHES = [
  {
    batchId: 'batch-01',
    page: {
      url: 'https://shop.example/order/1234/thanks?mail=jane.doe@example.com',
      title: 'Thanks, +49 30 901820123',
    },
    version: 7,
    events: [
      { vendor: 'GA4', event: 'purchase', params },
      { vendor: 'Meta Pixel', event: 'Purchase', params: { email: 'john@example.org' } },
    ],
  },
  {
    batchId: 'batch-02',
    page: { url: 'https://blog.example/' },
    version: 8,
    events: [{ vendor: 'GA4', event: 'page_view', params }, { vendor: '' }, 5],
  },
  { batchId: 'batch-03', page: { url: 'https://evil.example/' }, events: [{ vendor: 'GA4', event: 'purchase' }] },
  { batchId: 'batch-04', events: 'none' },
]

/** Everything that is recorded about a domain and its organization, without ids. */
function recordsOf({ orgId, id }: { orgId: string; id: string }): Record<string, unknown> {
  const all = (sql: string) => cluster.app.db.prepare(sql).all({ orgId, id })
  return {
    findings: all(
      `SELECT vendor, key, kind, count, formed, example, firstSeenAt, lastSeenAt,
         (SELECT json_group_array(page ORDER BY page) FROM findingPage WHERE findingId = finding.id) AS pages,
         (SELECT count(*) FROM findingDomain WHERE findingId = finding.id AND domainId = @id) AS domains
       FROM finding WHERE orgId = @orgId AND @id <> '' ORDER BY vendor, key, kind`,
    ),
    domain: all('SELECT lastEventAt, prodVersion FROM domain WHERE id = @id'),
    vendors: all('SELECT vendor, lastSeenAt FROM domainVendor WHERE domainId = @id ORDER BY vendor'),
    hostnames: all(
      'SELECT hostname, status, firstSeenAt, lastSeenAt FROM hostname WHERE domainId = @id ORDER BY hostname',
    ),
    hostnameUsage: all('SELECT hostname, hour, events FROM hostnameUsage WHERE domainId = @id ORDER BY hostname'),
    usage: all('SELECT hour, events FROM usage WHERE domainId = @id'),
    rejections: all(
      'SELECT reason, count, sample, firstSeenAt, lastSeenAt FROM rejection WHERE domainId = @id ORDER BY reason',
    ),
    names: all('SELECT vendor, event, events, lastDay FROM countedName WHERE domainId = @id ORDER BY vendor, event'),
  }
}

test('a collector leads to the same records as a single server, once', async () => {
  const [own, remote] = [newOrganization('Own'), newOrganization('Remote')]
  await collector.run('sync')
  const answers: [number, number][] = []
  for (const batch of BATCHES) {
    answers.push([await cluster.sendToControl(own.token, batch), (await collector.send(remote.token, batch)).status])
  }
  expect(answers).toEqual([
    [202, 202],
    [202, 202],
    [202, 202],
    [400, 400],
  ])
  cluster.clock.advance(5 * SECOND_MS)
  await cluster.runJob('flush', 'scan for personal data')
  collector.link = 'commits lost'
  await collector.run('forward')
  collector.link = 'up'
  await collector.kill()
  await cluster.settle(collector)
  const records = recordsOf(own)
  expect(recordsOf(remote)).toEqual(records)
  expect(records.findings).toHaveLength(7)
  expect(records.rejections).toHaveLength(4)
  expect(records.domain).toMatchObject([{ prodVersion: 8 }])
})

test('changed privacy settings are in force after the next contact', async () => {
  const { orgId, id, token } = newOrganization('Changed')
  await collector.run('sync')
  const kinds = () => cluster.app.db.prepare('SELECT DISTINCT kind FROM finding WHERE orgId = ?').pluck().all(orgId)
  const event = { vendor: 'GA4', event: 'purchase', params: { note: 'KD-123456 and AB-1' } }
  await collector.send(token, { batchId: 'first-batch', events: [event] })
  await cluster.settle(collector)
  updateOrg(cluster.app.db, orgId, { piiPatterns: [{ name: 'other', pattern: 'AB-\\d' }] })
  await collector.run('sync')
  await collector.send(token, { batchId: 'second-batch', events: [event] })
  await cluster.settle(collector)
  expect([id, kinds()]).toEqual([id, ['customer number', 'other']])
})

describe('with the next contact, the control node knows', () => {
  const column = (name: string, id: string) =>
    cluster.app.db.prepare(`SELECT ${name} FROM domain WHERE id = ?`).pluck().get(id)

  test('of the first event of a domain, although ClickHouse and the first answers are lost', async () => {
    const { id, token } = newOrganization('New')
    await collector.run('sync')
    await cluster.warehouse.kill()
    collector.link = 'cut'
    const at = cluster.clock.now()
    await collector.send(token, { events: [{ vendor: 'GA4', event: 'purchase' }] })
    await cluster.settle(collector)
    expect(column('lastEventAt', id)).toBeNull()
    collector.link = 'up'
    await collector.run('sync')
    expect(column('lastEventAt', id)).toBe(at)
    await cluster.warehouse.start()
    await cluster.settle(collector)
    expect(recordsOf({ orgId: '', id }).usage).toMatchObject([{ events: 1 }])
  })

  test('that a page loads the script from its earlier address', async () => {
    const { id, token } = newOrganization('Legacy')
    await collector.run('sync')
    const response = await collector.program.collector.fetch(new Request(`http://tags.example/t/${token}.js`))
    expect(response.status).toBe(200)
    await collector.run('sync')
    expect(column('legacyScriptAt', id)).toBe(cluster.clock.now())
  })
})

describe('the live view', () => {
  interface LiveAnswer {
    events: { event: { id: string } }[]
    latestSeq: number
    skipped?: number
  }
  const watch = (id: string, since = '') =>
    cluster.get<LiveAnswer>(`/v1/domains/${id}/live${since === '' ? '' : `?since=${since}`}`)

  test('shows the events of all collectors once and in order, a few seconds later', async () => {
    const { id, token } = cluster.newDomain('Watched')
    const other = await cluster.newCollector('live')
    for (const one of [collector, other]) await one.run('sync')
    await cluster.runJob('collectors')
    const send = (to: TestCollector, ...ids: string[]) =>
      to.send(token, { events: ids.map((own) => ({ id: own, vendor: 'GA4', event: 'purchase' })) })
    await send(collector, 'unwatched')
    expect((await watch(id)).events).toEqual([])
    for (const one of [collector, other]) await one.run('sync')
    await send(collector, 'a1', 'a2')
    cluster.clock.advance(1)
    await send(other, 'b1')
    cluster.clock.advance(1)
    await send(collector, 'a3')
    await collector.run('sync')
    expect((await watch(id)).events).toEqual([])
    cluster.clock.advance(SECOND_MS)
    await other.run('sync')
    cluster.clock.advance(SECOND_MS)
    const { events, latestSeq } = await watch(id, '0')
    expect(events.map(({ event }) => event.id)).toEqual(['a1', 'a2', 'b1', 'a3'])
    expect(await watch(id, `${latestSeq}`)).toMatchObject({ events: [] })
    // Watching ends a minute after the last call.
    cluster.clock.advance(2 * MINUTE_MS)
    for (const one of [collector, other]) await one.run('sync')
    await send(collector, 'a4')
    await collector.run('sync')
    cluster.clock.advance(5 * SECOND_MS)
    expect((await watch(id, '0')).events).toEqual([])
  })

  test('counts events that do not fit', async () => {
    const { id, token } = cluster.newDomain('Busy')
    await cluster.runJob('collectors')
    const { latestSeq } = await watch(id)
    await collector.run('sync')
    const many = Array.from({ length: 130 }, (_, index) => ({ id: `e${index}`, vendor: 'GA4', event: 'purchase' }))
    await collector.send(token, { events: many })
    await collector.run('sync')
    cluster.clock.advance(5 * SECOND_MS)
    const { events, skipped } = await watch(id, `${latestSeq}`)
    expect([events.length, events[0]?.event.id, skipped]).toEqual([100, 'e30', 30])
  })
})

test('a contact without a report has no effect on records', async () => {
  const { token } = addCollector(cluster.app.db, cluster.clock, 'plain')
  const now = cluster.clock.now()
  const status = { instance: 'a'.repeat(32), version: '1', diskBytes: 0, freeBytes: null, storedThrough: now }
  const response = await fetch(`${cluster.url}/collectors/v1/sync`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ status, epoch: 0, version: 0 }),
  })
  expect(response.status).toBe(200)
})
