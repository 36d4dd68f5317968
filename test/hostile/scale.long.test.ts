import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { startServer } from '../../src/commands/start-server.ts'
import { readConfig } from '../../src/config.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from '../../src/core/clock.ts'
import { createDomain } from '../../src/domains/store.ts'
import { insightDeps } from '../../src/insights/insight-deps.fixture.ts'
import { insightRoutes } from '../../src/insights/routes.ts'
import { signalList } from '../../src/insights/signal-list.ts'
import { initialize } from '../../src/org/store.ts'
import { CountsFixture, MONDAY } from '../../src/signals/series-monitor.fixture.ts'
import { settingsOf } from '../../src/signals/signal-setting-store.ts'
import { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import type { Query } from '../../src/warehouse/query.ts'
import { cast, client, credentialsOf, memoryDb, testClock } from '../fixtures.ts'
import { ask, temporaryFolder, until } from '../run-program.ts'
import { testApp } from '../test-app.ts'

/*
 * An organization with many domains and alerts. Guarantees: the cost of an evaluation round depends on the alerts that
 * are due, not on their total number. Alerts with the same period share one scan, regardless of when they were created.
 * The cost of a list depends on the page size. Shutdown does not wait for queries.
 */

const spies: { mockRestore(): void }[] = []
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore()
})

const channels = [{ type: 'email', target: 'ops@example.com' }]
const rule = (name: string, period: string) => ({
  name,
  alertType: 'data_validation',
  period,
  channels,
  conditions: { logic: 'any', items: [{ parameter: 'bad', op: 'equals', values: ['yes'] }] },
})

/** Records every query of the event history. */
function noteQueries(): Query[] {
  const queries: Query[] = []
  const query = DuckdbWarehouse.prototype.query
  const noting = spyOn(DuckdbWarehouse.prototype, 'query').mockImplementation(function (this: DuckdbWarehouse, asked) {
    queries.push(asked)
    return query.call(this, asked) as Promise<never[]>
  })
  spies.push(noting)
  return queries
}

describe('an evaluation round', () => {
  test.each(['evaluate', 'evaluate series'] as const)('(%s) reads no alerts that are not due', async (job) => {
    await using world = await testApp()
    for (const name of ['One', 'Two', 'Three']) {
      const alert = { ...rule(name, '1h'), name }
      expect((await world.call('POST', '/v1/alerts', { body: alert })).status).toBe(201)
    }
    const anomaly = { alertType: 'volume_anomaly', volume: { vendor: 'Shop' }, conditions: undefined }
    await world.call('POST', '/v1/alerts', { body: { ...rule('Four', '1h'), ...anomaly } })
    // The first round after startup reads all alerts.
    await world.run(job)
    world.clock.advance(1000)
    await world.run(job)
    const reading = spyOn(JSON, 'parse')
    spies.push(reading)
    world.clock.advance(1000)
    await world.run(job)
    expect(reading.mock.calls).toEqual([])
  })

  test('scans the history once for all alerts with the same period, and each alert counts only events after its creation', async () => {
    await using world = await testApp()
    const noon = Math.ceil(world.clock.now() / HOUR_MS) * HOUR_MS
    const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
    world.clock.set(noon)
    await world.run('flush', 'evaluate')
    for (let n = 0; n < 30; n++) {
      world.clock.set(noon + n * MINUTE_MS)
      await world.call('POST', '/v1/alerts', { body: rule(`Rule ${n}`, '1h') })
      await world.collect(domain.token, { events: [{ vendor: 'Shop', event: 'buy', params: { bad: 'yes' } }] })
    }
    world.clock.set(noon + HOUR_MS)
    await world.run('flush')
    const queries = noteQueries()
    await world.run('evaluate')
    // The scan, the samples of its matches, and the number of events.
    expect(queries.map(({ over = 'events' }) => over)).toEqual(['events', 'events', 'counts'])
    const { body } = await world.call('GET', '/v1/issues?limit=200')
    const counted = body.issues.map((issue: { occurrences: number }) => issue.occurrences)
    expect(counted.sort((a: number, b: number) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1))
  })
})

/** A query that runs until it is interrupted. */
const ENDLESS = { sql: 'SELECT sum(hash(a.i + b.i)) FROM range(10000000) a(i), range(10000000) b(i)' }

test('shutdown does not wait for queries, and pending evaluations run after the next start', async () => {
  using folder = temporaryFolder()
  const errors: string[] = []
  const log = { info() {}, warn() {}, error: (_error: unknown, message: string) => void errors.push(message) }
  const config = readConfig({ data: folder.path, listen: '127.0.0.1:0' }, {})
  const first = await startServer(config, log)
  const { apiKey } = await initialize(first.app.db, first.app.box, systemClock, {
    orgName: 'Acme',
    email: 'alice@example.com',
    password: null,
  })
  const domain = await ask('POST', `${first.url}/v1/domains`, apiKey, { name: 'shop.example' })
  await ask('POST', `${first.url}/v1/alerts`, apiKey, rule('Bad', '1h'))
  const query = DuckdbWarehouse.prototype.query
  let asked = 0
  const endless = spyOn(DuckdbWarehouse.prototype, 'query').mockImplementation(function (this: DuckdbWarehouse, one) {
    asked++
    return query.call(this, { ...one, write: () => ENDLESS }) as Promise<never[]>
  })
  spies.push(endless)
  const events = [{ vendor: 'Shop', event: 'buy', params: { bad: 'yes' } }]
  await ask('POST', `${first.url}/api/v1/events`, domain.token, { events })
  await until('an evaluation to start a query', () => asked > 0)
  await first.stop()
  expect(errors).toEqual([])
  endless.mockRestore()
  const second = await startServer(config, log)
  try {
    const issues = () => ask('GET', `${second.url}/v1/issues`, apiKey).then(({ issues }) => issues)
    const [issue] = await until('the issue', async () => ((await issues()).length > 0 ? issues() : null))
    expect(issue).toMatchObject({ occurrences: 1 })
  } finally {
    await second.stop()
  }
})

describe('the list of signals', () => {
  const NOW = MONDAY + 14 * DAY_MS + 12 * HOUR_MS
  const DOMAINS = 60

  async function world() {
    const db = memoryDb()
    const clock = testClock(NOW)
    const people = cast(db, clock)
    const { orgId } = people
    const ids = Array.from({ length: DOMAINS }, (_, n) => createDomain(db, clock, orgId, { name: `Shop ${n}` }))
    const traffic = { orgId, vendor: 'GA', event: 'view', from: MONDAY, to: NOW, perHour: 60 }
    const fixture = await CountsFixture.with(...ids.map((domainId) => ({ ...traffic, domainId })))
    const seriesMonitor = fixture.seriesMonitor({ settingsOf: (id) => settingsOf(db, id) })
    const deps = insightDeps({ db, clock, warehouse: fixture.fixture.warehouse, seriesMonitor })
    const call = client({ db, clock }, ...insightRoutes(deps, [signalList]))
    const as = credentialsOf(people).viewer
    return {
      get: (query: string) => call('GET', `/v1/auto/signals${query}`, { as }),
      [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
    }
  }

  test('queries the history a few times per page, regardless of the number of domains', async () => {
    await using fixture = await world()
    const queries = noteQueries()
    const { body } = await fixture.get('?limit=50')
    expect(body.signals).toHaveLength(50)
    // Each query covers the history of many domains.
    expect(queries.length).toBeLessThan(50)
    queries.length = 0
    expect((await fixture.get('?limit=50')).body).toEqual(body)
    expect(queries.length).toBeLessThanOrEqual(4)
  })

  test('does not read any history again when requested with series', async () => {
    await using fixture = await world()
    const page = await fixture.get('?limit=20&series=true')
    expect(page.body.signals[0].series.length).toBeGreaterThan(100)
    const queries = noteQueries()
    expect((await fixture.get('?limit=20&series=true')).body).toEqual(page.body)
    expect(queries.length).toBeLessThanOrEqual(3)
    expect(Math.min(...queries.map(({ window }) => window.from))).toBeGreaterThan(NOW - DAY_MS)
  })
})
