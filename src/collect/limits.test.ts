import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { smallFileSystem } from '../../test/disk-full/small-disk.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { gapsBetween } from '../signals/gap-store.ts'
import { Cluster, type TestCollector } from './cluster.fixture.ts'

let cluster: Cluster
let domains: { id: string; token: string }[]
beforeAll(async () => {
  cluster = await Cluster.open({ rateCollectPerSecond: '6', diskBudget: '20000' })
  domains = ['Rates', 'Budget', 'Disk'].map((name) => cluster.newDomain(name))
})
afterAll(() => cluster[Symbol.asyncDispose]())

const disk = smallFileSystem()
afterAll(() => disk?.[Symbol.dispose]())

/** Returns the domain of a test. They are created first, because the control node itself caches tokens. */
const domainOf = (index: number) => {
  const domain = domains[index]
  if (!domain) throw new Error('no domain')
  return domain
}
const event = (id: string) => ({ id, vendor: 'GA4', event: 'purchase' })

test('rate limits are divided among the processes that receive events', async () => {
  const { token } = domainOf(0)
  const [a, b] = [await cluster.newCollector('rate-a'), await cluster.newCollector('rate-b')]
  /** Returns the numbers of requests that each process accepts within a second. */
  const accepted = async (from: readonly ('control' | TestCollector)[]) => {
    cluster.clock.advance(5 * SECOND_MS)
    await cluster.runJob('collectors')
    for (const one of [a, b]) await one.run('sync')
    const counts: number[] = []
    for (const one of from) {
      const statuses: number[] = []
      for (let n = 0; n < 10; n++) {
        const batch = { events: [event('x')] }
        statuses.push(
          one === 'control' ? await cluster.sendToControl(token, batch) : (await one.send(token, batch)).status,
        )
      }
      expect(new Set(statuses)).toEqual(new Set([202, 429]))
      counts.push(statuses.filter((status) => status === 202).length)
    }
    return counts
  }
  expect(await accepted([a, b])).toEqual([3, 3])
  expect(await accepted(['control'])).toEqual([2])
  // From now on, the control node is one of three.
  expect(await accepted([a, b, 'control'])).toEqual([2, 2, 2])
  b.link = 'cut'
  cluster.clock.advance(2 * MINUTE_MS)
  await a.run('sync')
  expect(await accepted([a])).toEqual([6])
  b.link = 'up'
  expect((await accepted([a, b])).map((count) => count >= 3)).toEqual([true, true])
  await cluster.settle(a, b)
  const rejected = cluster.app.db.prepare("SELECT sum(count) FROM rejection WHERE reason LIKE 'batch: exceeds%'")
  expect(rejected.pluck().get()).toBeGreaterThan(0)
})

test('an organization that exceeds its share of the disk is rejected while it does', async () => {
  const { id, token } = domainOf(1)
  const a = await cluster.newCollector('budget')
  expect((await a.send(token, { events: [event('x')] })).status).toBe(202)
  const large = Array.from({ length: 20 }, () => ({
    ...event('x'),
    params: { blob: randomBytes(2000).toString('hex') },
  }))
  expect(await cluster.sendToControl(token, { events: large })).toBe(202)
  await cluster.runJob('disk budget')
  await a.run('sync')
  const refused = await a.post(token, { events: [event('x')] })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  await a.kill()
  expect((await a.send(token, { events: [event('x')] })).status).toBe(429)
  await cluster.settle(a)
  await cluster.settle(a)
  const reasons = cluster.app.db.prepare('SELECT reason, count FROM rejection WHERE domainId = ?').all(id)
  expect(reasons).toEqual([{ reason: 'batch: its organization exceeds its share of the disk', count: 1 }])
  await cluster.runJob('flush')
  cluster.clock.advance(2 * HOUR_MS)
  await cluster.runJob('disk budget')
  await a.run('sync')
  expect((await a.send(token, { events: [event('x')] })).status).toBe(202)
})

describe('a full disk', () => {
  test.skipIf(disk === null)(
    'refuses events until there is space, forwards what waits, and is a gap that is reported once',
    async () => {
      if (!disk) return
      const { token } = domainOf(2)
      const a = await cluster.newCollector('disk', {}, disk.data)
      const post = (id: string) => a.post(token, { batchId: `batch-0${id}`, events: [event(`disk-${id}`)] })
      const gaps = () => gapsBetween(cluster.app.db, from, cluster.clock.now())
      a.link = 'cut'
      expect((await post('1')).status).toBe(202)
      cluster.clock.advance(5 * SECOND_MS)
      await a.run('forward')
      disk.fill(process.pid)
      await a.run('forward')
      const from = cluster.clock.now()
      const refused = await post('2')
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(await refused.text()).toContain('the disk is full')
      a.link = 'answers lost'
      cluster.clock.advance(30 * SECOND_MS)
      await a.run('sync')
      expect(gaps()).toEqual([{ fromAt: from, toAt: cluster.clock.now(), cause: 'refused' }])
      a.link = 'up'
      await a.run('forward')
      expect(await cluster.storedIds('disk-')).toEqual(['disk-1'])
      cluster.clock.advance(30 * SECOND_MS)
      expect((await post('2')).status).toBe(503)
      await a.run('sync')
      disk.makeRoom(process.pid)
      cluster.clock.advance(5 * SECOND_MS)
      await a.run('forward')
      expect((await post('2')).status).toBe(202)
      const until = cluster.clock.now()
      await cluster.settle(a)
      expect(await cluster.storedIds('disk-')).toEqual(['disk-1', 'disk-2'])
      cluster.clock.advance(MINUTE_MS)
      await a.run('sync')
      expect(gaps()).toEqual([{ fromAt: from, toAt: until, cause: 'refused' }])
      const told = cluster.warnings.filter((warning) =>
        warning.includes('the collector disk has been rejecting events'),
      )
      expect(told).toHaveLength(1)
    },
  )
})
