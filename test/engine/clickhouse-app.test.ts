import { describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { testApp } from '../test-app.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

describe.skipIf(problem !== null)(`the program on ClickHouse${reason}`, () => {
  /** Opens a ClickHouse server, and the program with a domain and a validation alert. */
  async function open(settings: Parameters<typeof testApp>[0] = {}) {
    await using made = new AsyncDisposableStack()
    const [clickhouse] = await ClickhouseServer.open()
    if (!clickhouse) throw new Error('no server')
    made.use(clickhouse)
    const world = made.use(await testApp({ ...settings, warehouse: clickhouse.url }))
    const { id: domainId, token } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
    const alert = {
      name: 'Purchase has a value',
      alertType: 'data_validation',
      severity: 'high',
      domainId,
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [{ type: 'email', target: 'shop@example.com' }],
    }
    expect(await world.call('POST', '/v1/alerts', { body: alert })).toMatchObject({ status: 201 })
    await world.run('evaluate')
    let batches = 0
    const purchases = async (...values: string[]) => {
      const events = values.map((value) => ({ vendor: 'Shop', event: 'purchase', params: { value } }))
      const answer = await world.collect(token, { batchId: `purchases-${++batches}`, events })
      expect(answer).toMatchObject({ status: 202, body: { rejected: 0 } })
    }
    const issues = async () => (await world.call('GET', '/v1/issues')).body.issues
    const search = () => world.call('GET', `/v1/events?domainId=${domainId}`)
    const rowsOf = async (table: string) =>
      (await clickhouse.client.select<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n
    /** Flushes events of the last seconds. */
    const flush = async () => {
      world.clock.advance(5 * SECOND_MS)
      await world.run('flush')
    }
    const stack = made.move()
    return {
      clickhouse,
      world,
      domainId,
      purchases,
      issues,
      search,
      rowsOf,
      flush,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  test('evaluates every violation once, also those received while ClickHouse was away', async () => {
    await using opened = await open()
    const { clickhouse, world, purchases, issues, search, flush } = opened
    await purchases('1', '')
    await world.run('evaluate')
    // Queries don't find events in the spool.
    expect(await issues()).toEqual([])
    await flush()
    await world.run('evaluate')
    expect(await issues()).toMatchObject([{ status: 'open', occurrences: 1 }])
    await clickhouse.kill()
    for (let minute = 0; minute < 3; minute++) {
      world.clock.advance(MINUTE_MS)
      await purchases('', '2')
      await flush()
      await world.run('evaluate')
    }
    expect(await search()).toMatchObject({ status: 503, body: { error: expect.stringContaining('try again in 5 s') } })
    await world.run('probe engine')
    const unready = await world.call('GET', '/readyz', { as: null })
    expect([unready.status, unready.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    expect(unready.body.error).toMatch(/engine: ClickHouse: no answer from .*; received events wait in the data folder/)
    expect(unready.body.error).toContain('inserts: received events have been waiting for 2 min to be inserted')
    expect(await issues()).toMatchObject([{ occurrences: 1 }])
    // The waiting events are also sent by a new process that starts while ClickHouse is away.
    await world.restart()
    await world.run('evaluate')
    expect(await issues()).toMatchObject([{ occurrences: 1 }])
    await clickhouse.start()
    await world.run('compact', 'probe engine')
    world.clock.advance(MINUTE_MS)
    await world.run('evaluate')
    expect(await issues()).toMatchObject([{ occurrences: 4 }])
    expect((await search()).body.events).toHaveLength(8)
    expect(await world.call('GET', '/readyz', { as: null })).toMatchObject({ status: 200 })
    world.clock.advance(HOUR_MS)
    await world.run('flush', 'evaluate')
    expect(await issues()).toMatchObject([{ occurrences: 4 }])
  })

  test('deletes old days and the data of a deleted organization', async () => {
    await using opened = await open()
    const { clickhouse, world, purchases, rowsOf, flush } = opened
    const other = (await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })).body.id
    const headers = { 'x-org-id': other }
    const { token } = (await world.call('POST', '/v1/domains', { body: { name: 'Blog' }, headers })).body
    await purchases('1')
    await world.collect(token, { events: [{ vendor: 'Blog', event: 'view' }] })
    await flush()
    expect([await rowsOf('events'), await rowsOf('counts')]).toEqual([2, 2])
    await world.run('scan for personal data', 'check files')
    const metrics: string = (await world.call('GET', '/metrics', { as: null })).body
    expect(Number(/^tagwarden_stored_bytes\{kind="events"\} (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0)
    expect((await world.call('DELETE', '/v1/org?name=Other', { headers })).status).toBe(200)
    await world.run('retain')
    expect([await rowsOf('events'), await rowsOf('counts')]).toEqual([1, 1])
    world.clock.advance(91 * DAY_MS)
    await purchases('2')
    await flush()
    await world.run('check files', 'retain')
    expect([await rowsOf('events'), await rowsOf('counts_quarter')]).toEqual([1, 2])
    // The job fails while ClickHouse is away, and is repeated. Everything else is deleted.
    world.clock.advance(430 * DAY_MS)
    await clickhouse.kill()
    await expect(world.run('retain')).rejects.toThrow('no answer from')
    expect((await world.call('GET', '/v1/usage?days=400')).body.totalEvents).toBe(0)
    await clickhouse.start()
    await world.run('retain', 'check files', 'retain')
    expect([await rowsOf('events'), await rowsOf('counts_quarter')]).toEqual([0, 0])
  })

  test('keeps within the disk budget by deleting the oldest day of all organizations', async () => {
    await using opened = await open({ diskBudget: '1200kB' })
    const { clickhouse, world, flush } = opened
    const [mine, theirs] = [
      world.owner.orgId,
      (await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })).body.id,
    ]
    const organizations = await Promise.all(
      [mine, theirs].map(async (orgId) => {
        const headers = { 'x-org-id': orgId }
        const { token } = (await world.call('POST', '/v1/domains', { body: { name: 'Blog' }, headers })).body
        const daysOf = async () =>
          (await world.call('GET', '/v1/events?from=0', { headers })).body.events.map(
            ({ event }: { event: string }) => event,
          )
        const usage = async () => (await world.call('GET', '/v1/usage', { headers })).body
        return { token, daysOf, usage }
      }),
    )
    // About 170 kB that can't be compressed.
    const params = () =>
      Object.fromEntries(
        Array.from({ length: 56 }, (_, n) => [
          n,
          Buffer.from(crypto.getRandomValues(new Uint8Array(3000))).toString('base64'),
        ]),
      )
    for (const day of [0, 1, 2]) {
      if (day > 0) world.clock.advance(DAY_MS)
      for (const { token } of organizations)
        await world.collect(token, { events: [{ vendor: 'Shop', event: `day ${day}`, params: params() }] })
      await flush()
    }
    // The files of scanned segments are deleted, except those of the newest.
    await world.run('scan for personal data', 'compact', 'check files')
    for (const { usage } of organizations) {
      const { diskBytes, clickhouseBytes, oldestEventAt } = await usage()
      expect(diskBytes).toBeGreaterThanOrEqual(clickhouseBytes)
      expect(clickhouseBytes).toBeGreaterThan(500_000)
      expect(oldestEventAt).toBeLessThan(world.clock.now() - 2 * DAY_MS + HOUR_MS)
    }
    await world.run('disk budget')
    for (const { daysOf } of organizations) expect(await daysOf()).toEqual(['day 2', 'day 1'])
    const budget = 1200 * 1024
    expect(world.warnings).toEqual([
      `the disk budget is exhausted. The stored data exceeds the disk budget of ${budget} bytes; deleted for all organizations: 2026-01-05`,
    ])
    await world.run('disk budget')
    expect(world.warnings).toHaveLength(1)
    for (const { usage } of organizations) expect((await usage()).clickhouseBytes).toBeLessThan(500_000)
    // While ClickHouse is away, only the files that wait count.
    world.clock.advance(DAY_MS)
    await clickhouse.kill()
    for (const { token } of organizations)
      await world.collect(token, { events: [{ vendor: 'Shop', event: 'day 3', params: params() }] })
    await flush()
    await world.run('disk budget')
    expect(world.warnings).toHaveLength(1)
    await clickhouse.start()
    await world.run('compact', 'check files', 'disk budget')
    for (const { daysOf } of organizations) expect(await daysOf()).toEqual(['day 3', 'day 2'])
  })

  test('compares orders with purchases', async () => {
    await using opened = await open()
    const { world, domainId, flush } = opened
    const { token } = (await world.call('GET', `/v1/domains/${domainId}`)).body
    const vendor = 'Google Analytics 4'
    const rules = [{ domainId, vendor, minCapturePct: 90, settlingMinutes: 5 }]
    expect(await world.call('PUT', '/v1/orders/capture', { body: { rules } })).toMatchObject({ status: 200 })
    const ids = Array.from({ length: 60 }, (_, n) => `O-${n}`)
    const orders = ids.map((id) => ({ id, at: world.clock.now(), value: 10, currency: 'EUR' }))
    expect(await world.call('POST', '/v1/orders', { body: { domainId, orders } })).toMatchObject({ status: 200 })
    const url = (id: string) =>
      `https://www.google-analytics.com/g/collect?v=2&tid=G-A&en=purchase&ep.transaction_id=${id}&epn.value=10&cu=EUR`
    const hits = ids.slice(30).map((id) => ({ url: url(id) }))
    expect(await world.collect(token, { hits })).toMatchObject({ status: 202, body: { rejected: 0 } })
    for (let minutes = 0; minutes < 60; minutes += 5) {
      world.clock.advance(5 * MINUTE_MS)
      await flush()
      await world.run('evaluate order capture')
    }
    const { body } = await world.call('GET', `/v1/insights/reconcile?domainId=${domainId}&days=2`)
    expect(body.vendors).toMatchObject([{ vendor, captured: 30, missing: 30, valueMismatches: 0 }])
    const { body: status } = await world.call('GET', '/v1/orders/capture/status')
    expect(status.rules).toMatchObject([{ capturePct: 50, orders: 60 }])
  })

  test('canary events pass through ClickHouse', async () => {
    await using opened = await open()
    const { world, flush } = opened
    for (let minute = 0; minute < 2; minute++) {
      world.clock.advance(MINUTE_MS)
      await world.run('send canary event')
      await flush()
      await world.run('evaluate', 'deliver')
    }
    const metrics: string = (await world.call('GET', '/metrics', { as: null })).body
    expect(metrics).toMatch(/^tagwarden_canary_latency_seconds_count 2$/m)
    expect(metrics).toMatch(/^tagwarden_canary_missed_total 0$/m)
    expect((await world.call('GET', '/v1/usage')).body.totalEvents).toBe(0)
  })
})
