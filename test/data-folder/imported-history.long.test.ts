import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Cron } from 'croner'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { importEvents } from '../../src/data-folder/import-events.ts'
import { openAllStores } from '../../src/data-folder/open-folder.ts'
import { TEST_START, type TestClock } from '../fixtures.ts'
import { type TestApp, testApp } from '../test-app.ts'

/** A batch with the time at which it is received. */
interface Arrival {
  at: number
  batch: {
    env: string
    sessionId: string
    customerId: string
    version: number
    sampleRate: number
    page: object
    events: Sent[]
  }
}
interface Sent {
  vendor: string
  event: string
  status: string
  durMs: number
  params: Record<string, unknown>
}

const HOURS = 60

/** Returns batches of several days from a small shop, with sampled and dev events, and nested and blank parameters. */
function arrivals(): Arrival[] {
  return Array.from({ length: HOURS * 12 }, (_, n) => {
    const sent = (vendor: string, event: string): Sent => ({
      vendor,
      event,
      status: n % 17 ? 'ok' : 'failure',
      durMs: n % 90,
      params: { n, value: (n % 50) / 4, items: [{ id: `SKU${n % 7}` }], id: n % 11 ? `T-${n}` : '', bare: null },
    })
    return {
      at: TEST_START + n * 5 * MINUTE_MS + (n % 7) * SECOND_MS,
      batch: {
        env: n % 13 ? 'prod' : 'dev',
        sessionId: `s${n >> 2}`,
        customerId: `c${n % 5}`,
        version: n < 300 ? 1 : 2,
        sampleRate: n % 3 ? 1 : 0.5,
        page: { url: `https://shop.example/${n % 6}?x=${n}`, title: 'Shop' },
        events: [
          sent('Google Analytics 4', 'page_view'),
          sent('Meta Pixel', 'PageView'),
          sent('Meta Pixel', 'Purchase'),
        ],
      },
    }
  })
}

/** Returns the events of these batches as lines of an import file. */
const lines = (all: readonly Arrival[]): string =>
  all
    .flatMap(({ at, batch: { events, page, sampleRate, ...shared } }) =>
      events.map((event) => {
        const { pathname, host } = new URL((page as { url: string }).url)
        return JSON.stringify({
          ...shared,
          ...event,
          receivedAt: at,
          host,
          path: pathname,
          title: 'Shop',
          weight: 1 / sampleRate,
        })
      }),
    )
    .join('\n')

/** Returns the program's responses about its history, without ids. */
async function answersOf(app: TestApp, domainId: string): Promise<unknown> {
  const rule = {
    name: 'Purchase without id',
    alertType: 'data_validation',
    period: '1h',
    vendors: ['Meta Pixel'],
    conditions: { logic: 'any', items: [{ parameter: 'id', op: 'is_blank' }] },
    channels: [{ type: 'email', target: 'a@example.com' }],
  }
  const volume = { ...rule, alertType: 'volume_threshold', volume: { op: 'gte', count: 20, event: 'PageView' } }
  const { conditions: _conditions, ...threshold } = volume
  const ask = async (method: string, path: string, body?: object) => (await app.call(method, path, { body })).body
  const found = await Promise.all([
    ask('GET', `/v1/insights/volume?domainId=${domainId}&vendor=Meta%20Pixel&hours=96`),
    ask('GET', `/v1/insights/volume?domainId=${domainId}&hours=96`),
    ask('GET', `/v1/auto/signals?domainId=${domainId}&series=true`),
    ask('POST', '/v1/alerts/backtest', { rule, days: 7 }),
    ask('POST', '/v1/alerts/backtest', { rule: threshold, days: 7 }),
    ask('POST', '/v1/alerts/preview', { rule, hours: 72 }),
    ask('GET', `/v1/events?from=${TEST_START}&limit=200&vendor=Meta%20Pixel`),
    ask('GET', `/v1/domains/${domainId}/hostnames`),
  ])
  const { days, totalEvents, oldestEventAt } = await ask('GET', '/v1/usage')
  const { createdAt, lastEventAt, prodVersion } = await ask('GET', `/v1/domains/${domainId}`)
  const text = JSON.stringify([found, days, totalEvents, oldestEventAt, createdAt, lastEventAt, prodVersion])
  return JSON.parse(
    text
      .replaceAll(domainId, 'dom')
      .replaceAll(app.owner.orgId, 'org')
      // Each organization has its own salt.
      .replaceAll(/"customerId":"[0-9a-f]{32}"/g, '"customerId":"hash"')
      .replaceAll(/"nextCursor":"[^"]*"/g, '"nextCursor":"…"')
      // Sequence numbers differ. Events of the same instant are in order of receipt in both histories.
      .replaceAll(/"seq":\d+|"id":"evt_\d+"|"\$?seq":"?\d+"?/g, '"seq":0'),
  )
}

async function importLines(folder: string, clock: TestClock, text: string, domainId: string): Promise<number> {
  const report = (error: unknown) => {
    throw error
  }
  const stores = await openAllStores(folder, clock, { report, log: { info() {}, warn() {} }, notifyOperator() {} })
  const file = join(folder, 'past.ndjson')
  await Bun.write(file, text)
  const now = clock.now()
  const order = { files: [file], domainId, from: now - 90 * DAY_MS, now, progress() {} }
  const { imported } = await importEvents(stores, order)
  await stores.spool.close()
  stores.close()
  return imported
}

test('imported events give the same results as events collected at the time', async () => {
  const all = arrivals()
  const end = TEST_START + HOURS * HOUR_MS + 2 * HOUR_MS
  await using collecting = await testApp()
  collecting.clock.set(all[0]?.at ?? 0)
  const own = (await collecting.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  for (const [n, { at, batch }] of all.entries()) {
    collecting.clock.set(at)
    expect((await collecting.collect(own.token, batch)).status).toBe(202)
    if (n % 100 === 99) await collecting.run('flush')
  }
  collecting.clock.set(end)
  await collecting.run('flush', 'compact')

  await using importing = await testApp()
  importing.clock.set(end)
  const other = (await importing.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  let imported = 0
  await importing.restart(async (folder) => {
    imported = await importLines(folder, importing.clock, lines(all), other.id)
  })
  expect(imported).toBe(all.length * 3)
  expect(await answersOf(importing, other.id)).toEqual(await answersOf(collecting, own.id))
})

const channels = [{ type: 'webhook', target: 'https://hooks.example/x' }]

test('an import opens no issues and sends no notifications for any kind of alert', async () => {
  await using app = await testApp()
  const { id: domainId, token } = (await app.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const alerts = [
    { alertType: 'data_validation', conditions: { logic: 'any', items: [{ parameter: 'id', op: 'is_blank' }] } },
    { alertType: 'volume_threshold', volume: { op: 'gte', count: 1 } },
    { alertType: 'tag_volume_change', volume: { direction: 'decrease', percent: 10 } },
    { alertType: 'volume_anomaly', period: '1h', volume: { vendor: '*' } },
    {
      alertType: 'journey',
      journey: { version: 2, steps: [{ anchor: { kind: 'session' }, expect: [{ vendor: 'Nobody', event: 'x' }] }] },
    },
  ]
  for (const alert of alerts) {
    const { status, body } = await app.call('POST', '/v1/alerts', {
      body: { name: alert.alertType, period: '1m', channels, domainId, ...alert },
    })
    expect({ status, body }).toMatchObject({ status: 201 })
  }
  // Twelve events an hour for the past three weeks.
  const start = app.clock.now()
  app.clock.set(start + 30 * SECOND_MS)
  const past = Array.from({ length: 21 * 24 * 12 }, (_, n) => {
    const receivedAt = app.clock.now() - n * 5 * MINUTE_MS
    return JSON.stringify({
      receivedAt,
      vendor: 'Meta Pixel',
      event: 'PageView',
      sessionId: `s${n}`,
      params: { id: '' },
    })
  })
  await app.restart(async (folder) => void (await importLines(folder, app.clock, past.join('\n'), domainId)))
  const evaluate = () => app.run('heartbeat', 'flush', 'automatic alerts', 'evaluate', 'evaluate series', 'deliver')
  for (let minute = 1; minute <= 90; minute++) {
    app.clock.set(start + minute * MINUTE_MS + SECOND_MS)
    await evaluate()
  }
  expect((await app.call('GET', '/v1/issues')).body.issues).toEqual([])
  expect((await app.call('GET', '/v1/notifications/deliveries')).body.deliveries).toEqual([])
  // Later events are evaluated as usual.
  await app.collect(token, { events: [{ vendor: 'Meta Pixel', event: 'PageView', params: { id: '' } }] })
  app.clock.advance(2 * MINUTE_MS)
  await evaluate()
  const opened = (await app.call('GET', '/v1/issues')).body.issues.map(
    (issue: { alertType: string }) => issue.alertType,
  )
  expect(opened).toContain('data_validation')
  expect(opened).toContain('volume_threshold')
})

test('imported events are scanned and evaluated in the first round after startup', async () => {
  await using app = await testApp()
  const { id: domainId } = (await app.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const end = app.clock.now()
  const releasedAt = end - 2 * HOUR_MS
  // Four hours with a purchase every 20 s. The release in the middle removed the order id.
  const past = Array.from({ length: 4 * 180 }, (_, n) => {
    const receivedAt = end - (n + 1) * 20 * SECOND_MS
    const id = receivedAt < releasedAt ? { transaction_id: `T-${n}` } : {}
    const params = { value: '42.5', mail: n % 90 ? 'none' : 'jane@example.com', ...id }
    return JSON.stringify({
      receivedAt,
      vendor: 'Google Analytics 4',
      event: 'purchase',
      sessionId: `s${n}`,
      version: 1,
      params,
    })
  })
  await app.restart(async (folder) => void (await importLines(folder, app.clock, past.join('\n'), domainId)))
  const change = { domainId, source: 'ci', ref: '1', title: 'Release 1', occurredAt: releasedAt, windowMinutes: 60 }
  expect((await app.call('POST', '/v1/changes', { body: change })).status).toBe(201)
  const rounds = ['scan for personal data', 'check consent', 'evaluate changes'] as const
  // Each job must run within a minute of startup, at any time of day.
  for (const name of rounds) {
    const pattern = app.app.jobs.find((job) => job.name === name)?.pattern ?? ''
    const times = new Cron(pattern, { timezone: 'UTC' }).nextRuns(100, new Date(end)).map(Number)
    const waits = times.slice(1).map((at, n) => at - (times[n] ?? 0))
    expect([name, Math.max(...waits) <= MINUTE_MS]).toEqual([name, true])
  }
  await app.run(...rounds)
  const findings = async (of: string) => (await app.call('GET', `/v1/compliance/${of}`)).body.findings
  expect(await findings('pii')).toMatchObject([
    { vendor: 'Google Analytics 4', key: 'mail', kind: 'email', count: 8, domainIds: [domainId] },
  ])
  expect(await findings('consent')).toMatchObject([
    { vendor: 'Google Analytics 4', kind: 'no_signal', count: 720, domainIds: [domainId] },
  ])
  expect((await app.call('GET', '/v1/changes')).body.changes).toMatchObject([
    {
      status: 'regressed',
      findings: {
        items: [{ kind: 'key_lost', vendor: 'Google Analytics 4', event: 'purchase', key: 'transaction_id' }],
      },
    },
  ])
  expect((await app.call('GET', '/v1/issues')).body.issues).toEqual([])
})
