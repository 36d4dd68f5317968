import { expect, test } from 'bun:test'
import { testClock } from '../../test/fixtures.ts'
import { until } from '../../test/run-program.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts'
import { cachedMetrics, EventLoopDelay } from './metrics.ts'

async function metricsOf(world: TestApp): Promise<Record<string, number>> {
  const { body } = await world.call('GET', '/metrics', { as: null })
  const lines = (body as string).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

test('metrics start at zero, count stored data and failed deliveries, and survive a restart', async () => {
  const status = { now: 500 }
  const transport = { send: async () => ({ kind: 'status', status: status.now, headers: {}, body: '' }) as const }
  await using world = await testApp({}, { transport })
  expect(await metricsOf(world)).toMatchObject({
    tagwarden_events_stored_total: 0,
    tagwarden_items_rejected_total: 0,
    tagwarden_spool_segments: 0,
    tagwarden_event_files: 0,
    tagwarden_event_bytes: 0,
    tagwarden_damaged_files: 0,
    tagwarden_failing_merges: 0,
    tagwarden_open_issues: 0,
    tagwarden_deliveries_waiting: 0,
    tagwarden_deliveries_failed_total: 0,
    tagwarden_resident_memory_bytes: expect.any(Number),
    tagwarden_heap_bytes: expect.any(Number),
    tagwarden_collector_refusing: 0,
    tagwarden_collect_gaps: 0,
    tagwarden_collect_gap_seconds: 0,
    tagwarden_questions_running: 0,
    tagwarden_questions_waiting: 0,
    tagwarden_queries_running: 0,
    tagwarden_pipeline_suspected: 0,
  })

  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  await world.call('POST', '/v1/alerts', {
    body: {
      name: 'Any event',
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [{ type: 'webhook', target: 'https://hooks.example.com/a' }],
    },
  })
  await world.collect(domain.token, { events: [{ vendor: 'Shop' }, { vendor: 'Shop' }, {}] })
  world.clock.advance(5 * SECOND_MS)
  await world.run('flush', 'evaluate', 'deliver')
  const stored = await metricsOf(world)
  expect(stored).toMatchObject({
    tagwarden_events_stored_total: 2,
    tagwarden_items_rejected_total: 1,
    tagwarden_event_files: 1,
    tagwarden_open_issues: 1,
    tagwarden_deliveries_waiting: 1,
    tagwarden_deliveries_failed_total: 0,
  })
  expect(stored.tagwarden_event_bytes).toBeGreaterThan(0)
  expect(stored.tagwarden_resident_memory_bytes).toBeGreaterThan(10_000_000)

  status.now = 410
  world.clock.advance(HOUR_MS)
  await world.run('deliver')
  await world.restart()
  expect(await metricsOf(world)).toMatchObject({
    tagwarden_events_stored_total: 2,
    tagwarden_items_rejected_total: 1,
    tagwarden_open_issues: 1,
    tagwarden_deliveries_waiting: 0,
    tagwarden_deliveries_failed_total: 1,
  })

  // Counters are deleted with their domain, and at the end of their retention period.
  await world.call('DELETE', `/v1/domains/${domain.id}`)
  world.clock.advance(500 * DAY_MS)
  await world.run('retain')
  expect(world.app.db.prepare('SELECT count(*) FROM usage').pluck().get()).toBe(0)
  expect(world.app.db.prepare('SELECT count(*) FROM delivery').pluck().get()).toBe(0)
  expect(await metricsOf(world)).toMatchObject({
    tagwarden_events_stored_total: 2,
    tagwarden_items_rejected_total: 1,
    tagwarden_deliveries_failed_total: 1,
  })
})

test('metrics are collected at most once every five seconds', async () => {
  const clock = testClock()
  let measured = 0
  const ask = cachedMetrics(clock, async () => [{ name: 'n', type: 'gauge', help: '', value: ++measured }])
  const values: unknown[] = []
  for (const byMs of [0, 4999, 1, -6000, 0]) {
    clock.advance(byMs)
    values.push((await ask())[0])
  }
  expect(values).toMatchObject([1, 1, 2, 3, 3].map((value) => ({ value })))
})

test('the delay of the event loop includes a pause, and only once', async () => {
  const delay = new EventLoopDelay()
  const longest = () => {
    const metric = delay.measure()
    const samples = 'samples' in metric ? metric.samples : []
    return samples.find(({ labels }) => labels.quantile === '1')?.value ?? null
  }
  try {
    await until('a measurement', () => longest() !== null)
    Bun.sleepSync(300)
    let after: number | null = null
    await until('the pause', () => {
      after = longest()
      return after !== null
    })
    expect(after).toBeGreaterThan(0.2)
    await until('a measurement without the pause', () => (longest() ?? 1) < 0.2)
  } finally {
    delay.stop()
  }
})

test('labels have values from fixed sets, whatever callers send', async () => {
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'strange-name' } })
  await world.call('GET', '/strange-name/path', { as: null })
  await world.call('GET', '/v1/domains/strange-name')
  await world.collect('pt_strange-name', { events: [] })
  await world.collect(domain.token, {
    page: { url: 'https://strange-name.example/' },
    events: [
      { vendor: 'strange-name' },
      { 'strange-name': 1 },
      { vendor: 'a', params: { 'strange-name': 'x'.repeat(5000) } },
    ],
  })
  await world.run('flush', 'evaluate')
  world.clock.advance(5 * SECOND_MS)
  const { body } = await world.call('GET', '/metrics', { as: null })
  expect(body).not.toContain('strange-name')
  const values = await metricsOf(world)
  expect(values).toMatchObject({
    'tagwarden_collector_refused_total{reason="unknown_token"}': 1,
    'tagwarden_collector_refused_total{reason="invalid_item"}': 1,
    'tagwarden_collector_refused_total{reason="too_large"}': 1,
    'tagwarden_http_requests_total{group="domains",status="2xx"}': 1,
    'tagwarden_http_requests_total{group="domains",status="4xx"}': 1,
    'tagwarden_http_requests_total{group="other",status="4xx"}': 1,
    'tagwarden_http_requests_total{group="collector",status="4xx"}': 1,
    'tagwarden_http_request_duration_seconds_count{group="domains"}': 2,
    'tagwarden_job_duration_seconds_count{task="flush"}': 1,
  })
})
