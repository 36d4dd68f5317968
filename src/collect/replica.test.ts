import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SECOND_MS } from '../core/clock.ts'
import { createDomain, setHostnameStatus } from '../domains/store.ts'
import { tx } from '../store/database.ts'
import { Cluster, type TestCollector } from './cluster.fixture.ts'

let cluster: Cluster
let collector: TestCollector
beforeAll(async () => {
  cluster = await Cluster.open()
  collector = await cluster.newCollector('east')
})
afterAll(() => cluster[Symbol.asyncDispose]())

const statusOf = async (token: string) => (await collector.send(token, { events: [{ vendor: 'Shop' }] })).status

test('a copy has rows that refer to each other from different pages of the feed', async () => {
  const { app, clock, orgId } = cluster
  const { id, token } = cluster.newDomain('First')
  setHostnameStatus(app.db, { orgId, id }, 'evil.example', 'denied')
  tx(app.db, () => {
    for (let index = 0; index < 1000; index++) createDomain(app.db, clock, orgId, { name: `Shop ${index}` })
  })
  // The domain is now after its hostname in the feed, on the second page.
  app.db.prepare("UPDATE domain SET name = 'Renamed' WHERE id = ?").run(id)
  await collector.run('sync')
  expect(collector.log).toEqual([])
  expect(await statusOf(token)).toBe(202)
})

test("a copy leaves out the control node's own domain, and still follows other changes", async () => {
  const { app, clock } = cluster
  await cluster.runJob('send canary event')
  clock.advance(5 * SECOND_MS)
  await cluster.runJob('flush')
  expect(app.db.prepare('SELECT count(*) FROM countedName').pluck().get()).toBe(1)
  const { token } = cluster.newDomain('Second')
  await collector.run('sync')
  expect(collector.log).toEqual([])
  expect(await statusOf(token)).toBe(202)
})
