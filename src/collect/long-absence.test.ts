import { expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { Cluster } from './cluster.fixture.ts'

test('after an hour without the control node and ClickHouse, everything is stored once with its own time', async () => {
  await using cluster = await Cluster.open()
  const { clock, warehouse, app } = cluster
  const { id: domainId, token } = cluster.newDomain()
  const [a, b] = [await cluster.newCollector('a'), await cluster.newCollector('b')]
  await warehouse.kill()
  a.link = b.link = 'cut'
  const sentAt = new Map<string, number>()
  const send = async (to: typeof a, id: string) => {
    const batch = { batchId: `batch-${id}`, events: [{ id, vendor: 'Shop', event: 'purchase' }] }
    expect((await to.send(token, batch)).status).toBe(202)
    if (!sentAt.has(id)) sentAt.set(id, clock.now())
  }
  const endAt = clock.now() + HOUR_MS
  for (let minute = 0; clock.now() < endAt; minute += 5) {
    await send(a, `a${minute}`)
    await send(b, `b${minute}`)
    // The answer was lost, so the sender tries another collector.
    await send(b, `a${minute}`)
    clock.advance(5 * MINUTE_MS)
    for (const one of [a, b]) {
      await one.run('sync')
      await one.run('forward')
    }
    if (minute === 30) await a.kill()
  }
  a.link = b.link = 'up'
  await cluster.settle(a, b)
  expect(await cluster.app.db.prepare('SELECT count(*) FROM usage').pluck().get()).toBe(0)
  await warehouse.start()
  await cluster.settle(a, b)
  const rows = await warehouse.client.select<{ id: string; receivedAt: number }>(
    `SELECT id, receivedAt FROM events WHERE domainId = '${domainId}' ORDER BY id`,
  )
  const expected = [...sentAt].map(([id, receivedAt]) => ({ id, receivedAt }))
  expect(rows).toEqual(expected.sort((one, other) => (one.id < other.id ? -1 : 1)))
  expect(app.db.prepare('SELECT sum(events) FROM usage WHERE domainId = ?').pluck().get(domainId)).toBe(sentAt.size)
  // Each absence is logged once, not at each run.
  const begun = b.log.filter((line) => line.startsWith('forward: the control node'))
  expect(begun).toHaveLength(1)
  expect(b.log).toContainEqual(expect.stringContaining('forward: ClickHouse: no answer from 127.0.0.1'))
  expect(b.log.filter((line) => line === 'forward: works again')).toHaveLength(1)
})
