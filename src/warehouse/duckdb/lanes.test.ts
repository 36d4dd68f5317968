import { expect, test } from 'bun:test'
import { plainQuery, WarehouseFixture } from '../warehouse.fixture.ts'
import { forSignals } from '../warehouse.ts'

test('a query for monitored series returns results while jobs are running', async () => {
  await using stand = await WarehouseFixture.open()
  await stand.add([{ vendor: 'GA' }])
  const endless = 'SELECT count(*) AS n FROM range(1000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3'
  const jobs = [endless, endless].map((sql) => stand.warehouse.query(plainQuery({ sql })).catch(() => 'ended'))
  const count = plainQuery({ sql: 'SELECT count(*) AS n FROM events' })
  expect(await forSignals(stand.warehouse).query(count)).toEqual([{ n: 1 }])
  expect(stand.warehouse.runningQueries).toBe(2)
  stand.warehouse.interrupt()
  expect(await Promise.all(jobs)).toEqual(['ended', 'ended'])
})
