import { expect, test } from 'bun:test'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import type { CheckResult } from '../http/health-routes.ts'
import { Alarms } from './alarms.ts'
import { EngineProbe, isLow, ReadinessWatch, watchDiskSpace } from './readiness.ts'

const GIB = 2 ** 30

const ready = async (world: TestApp) => {
  const { status, body } = await world.call('GET', '/readyz', { as: null })
  expect((await world.call('GET', '/healthz', { as: null })).status).toBe(200)
  return [status, body.error ?? body.ok]
}

test('/readyz fails while the flush, the evaluation or the engine does not work', async () => {
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  expect(await ready(world)).toEqual([200, true])
  await world.collect(domain.token, { events: [{ vendor: 'Shop', event: 'purchase' }] })
  world.clock.advance(2 * MINUTE_MS)
  await world.run('evaluate')
  expect(await ready(world)).toEqual([200, true])
  world.clock.advance(SECOND_MS)
  expect(await ready(world)).toEqual([
    503,
    'spool: received events have been waiting for 2 min to be moved into the event files',
  ])
  await world.run('flush')
  expect(await ready(world)).toEqual([200, true])

  await world.call('POST', '/v1/alerts', {
    body: {
      name: 'Traffic',
      alertType: 'volume_threshold',
      volume: { op: 'lte', count: 0 },
      period: '1h',
      channels: [{ type: 'email', target: 'ann@example.com' }],
    },
  })
  // The first whole hour begins at 13:00, so the alert is due at 14:00.
  world.clock.advance(2 * 60 * MINUTE_MS - 2 * MINUTE_MS + MINUTE_MS)
  await world.run('heartbeat')
  expect((await ready(world))[0]).toBe(503)
  await world.run('evaluate')
  expect(await ready(world)).toEqual([200, true])
  const { body } = await world.call('GET', '/readyz', { as: null })
  expect(body.checks.map(({ name }: { name: string }) => name)).toEqual([
    'disk',
    'engine',
    'spool',
    'evaluation',
    'canary',
  ])
})

test('an engine that fails or hangs fails the check, without naming paths', async () => {
  const clock = testClock()
  const reports: unknown[] = []
  let answer: () => Promise<void> = () => Promise.reject(new Error('/data/events/tmp is gone'))
  const probe = new EngineProbe({ probe: () => answer() }, clock, (error) => reports.push(error))
  expect(probe.check.check().ok).toBe(true)
  await probe.run()
  await probe.run()
  expect([probe.check.check(), reports.length]).toEqual([
    { ok: false, message: 'the query engine fails; see the log, and restart the server' },
    1,
  ])
  answer = () => Promise.resolve()
  await probe.run()
  expect(probe.check.check().ok).toBe(true)
  const held = Promise.withResolvers<void>()
  answer = () => held.promise
  const running = probe.run()
  clock.advance(2 * MINUTE_MS)
  expect(probe.check.check().ok).toBe(true)
  clock.advance(3 * MINUTE_MS)
  expect(probe.check.check()).toEqual({ ok: false, message: 'the query engine has not answered for 5 min' })
  held.resolve()
  await running
  expect(probe.check.check().ok).toBe(true)
})

test.each([
  ['less than 1 GiB', GIB - 1, 10 * GIB, true],
  ['exactly 1 GiB of a small disk', GIB, 10 * GIB, false],
  ['less than 5 % of a large disk', 4.9 * GIB, 100 * GIB, true],
  ['5 % of a large disk', 5 * GIB, 100 * GIB, false],
])('%s free is low: %p of %p: %p', (_, freeBytes, totalBytes, expected) => {
  expect(isLow({ freeBytes, totalBytes })).toBe(expected)
})

test('a low disk is reported once, also across restarts, and once when there is space again', () => {
  const db = memoryDb()
  const told: string[] = []
  const start = () => new Alarms(db, testClock(), ({ subject }) => told.push(subject))
  let alarms = start()
  const free = (gib: number) => watchDiskSpace({ freeBytes: gib * GIB, totalBytes: 10 * GIB }, alarms)
  for (const gib of [2, 0.9, 0.8, 1.1, 0.9]) free(gib)
  alarms = start()
  for (const gib of [0.9, 1.1]) free(gib)
  expect(told).toEqual(['the disk is almost full'])
  for (const gib of [1.3, 2]) free(gib)
  expect(told).toEqual(['the disk is almost full', 'the disk has enough free space again'])
  free(0.5)
  expect(told).toHaveLength(3)
})

test('a check that fails only briefly is not reported', () => {
  const told: string[] = []
  let result: CheckResult = { ok: false, message: 'it is broken' }
  const alarms = new Alarms(memoryDb(), testClock(), ({ subject }) => told.push(subject))
  const watch = new ReadinessWatch(() => [{ name: 'part', check: () => result }], alarms)
  const run = (ok: boolean, times: number) => {
    result = { ok, message: ok ? 'it works' : 'it is broken' }
    for (let n = 0; n < times; n++) expect(watch.run()).toBe(ok)
  }
  run(false, 2)
  run(true, 1)
  run(false, 2)
  expect(told).toEqual([])
  run(false, 5)
  run(true, 2)
  expect(told).toEqual(['the server is not ready: the check "part" fails'])
  run(true, 5)
  expect(told).toEqual(['the server is not ready: the check "part" fails', 'the check "part" succeeds again'])
})
