import { expect, test } from 'bun:test'
import { plainQuery, WarehouseFixture } from '../warehouse.fixture.ts'
import { forSignals } from '../warehouse.ts'

test('a query for monitored series returns results while jobs are running', async () => {
  await using fixture = await WarehouseFixture.open()
  await fixture.add([{ vendor: 'GA' }])
  const endless = 'SELECT count(*) AS n FROM range(1000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3'
  const jobs = [endless, endless].map((sql) => fixture.warehouse.query(plainQuery({ sql })).catch(() => 'ended'))
  const count = plainQuery({ sql: 'SELECT count(*) AS n FROM events' })
  expect(await forSignals(fixture.warehouse).query(count)).toEqual([{ n: 1 }])
  expect(fixture.warehouse.runningQueries).toBe(2)
  fixture.warehouse.interrupt()
  expect(await Promise.all(jobs)).toEqual(['ended', 'ended'])
})
