import { expect, test } from 'bun:test'
import { type JobName, type TestApp, testApp } from '../../test/test-app.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'

const metric = async (world: TestApp, name: string) => {
  world.clock.advance(5 * SECOND_MS)
  const { body } = await world.call('GET', '/metrics', { as: null })
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(body)?.[1])
}

async function monitored(): Promise<TestApp> {
  const world = await testApp()
  await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  return world
}

/** Runs one minute. `jobs` are those that work after the canary event was sent. */
async function minute(world: TestApp, jobs: JobName[] = ['evaluate', 'deliver', 'flush']) {
  await world.run('send canary event')
  world.clock.advance(5 * SECOND_MS)
  await world.run(...jobs)
  world.clock.advance(MINUTE_MS - 5 * SECOND_MS)
  await world.run('watch readiness', 'watch readiness', 'watch readiness')
}

test('a canary event passes through the whole server and leaves nothing behind', async () => {
  await using world = await monitored()
  for (let n = 0; n < 5; n++) await minute(world)
  expect(await metric(world, 'tagwarden_canary_latency_seconds_count')).toBe(5)
  expect(await metric(world, 'tagwarden_canary_missed_total')).toBe(0)
  // The next start continues.
  await world.restart()
  await minute(world)
  expect(await metric(world, 'tagwarden_canary_latency_seconds_count')).toBe(1)

  const count = (sql: string) => world.app.db.prepare(sql).pluck().get()
  expect(count('SELECT count(*) FROM issue')).toBe(1)
  expect(count('SELECT count(*) FROM delivery')).toBe(1)
  for (const table of ['eventFile', 'rollupFile', 'usage', 'hostname', 'segment', 'batch'])
    expect([table, count(`SELECT count(*) FROM ${table}`)]).toEqual([table, 0])
})

test('no organization sees the canary events', async () => {
  await using world = await monitored()
  for (let n = 0; n < 3; n++) await minute(world)
  const hidden = JSON.stringify(
    await Promise.all(
      ['/v1/orgs', '/v1/domains', '/v1/alerts', '/v1/issues', '/v1/notifications/deliveries', '/v1/usage'].map(
        async (path) => (await world.call('GET', path)).body,
      ),
    ),
  )
  expect(hidden).not.toContain(INTERNAL_ORG_ID)
  expect(hidden).not.toContain('Canary event')
  for (const name of ['events_stored_total', 'open_issues', 'deliveries_waiting', 'event_files'])
    expect([name, await metric(world, `tagwarden_${name}`)]).toEqual([name, 0])
  // It is still the only organization.
  const { status } = await world.call('DELETE', '/v1/org?name=Acme')
  expect(status).toBe(409)
})

test('a segment with canary events and others loads only the others', async () => {
  await using world = await monitored()
  const { body } = await world.call('GET', '/v1/domains')
  await world.run('send canary event')
  await world.collect(body.domains[0].token, { events: [{ vendor: 'Shop', event: 'purchase' }] })
  world.clock.advance(5 * SECOND_MS)
  await world.run('evaluate', 'deliver', 'flush')
  expect((await world.call('GET', '/v1/usage')).body.totalEvents).toBe(1)
  expect(await metric(world, 'tagwarden_events_stored_total')).toBe(1)
})

test('three lost canary events in a row are reported once, and so is the recovery', async () => {
  await using world = await monitored()
  await minute(world)
  // Nothing is delivered, so the canary events get stuck.
  for (let n = 0; n < 3; n++) await minute(world, ['evaluate', 'flush'])
  expect(world.warnings).toEqual([])
  expect((await world.call('GET', '/readyz', { as: null })).status).toBe(200)
  await world.run('send canary event')
  const { status, body } = await world.call('GET', '/readyz', { as: null })
  expect([status, body]).toEqual([
    503,
    { error: expect.stringContaining('canary: the last 3 canary events were lost: its notification was not sent') },
  ])
  for (let n = 0; n < 6; n++) await world.run('watch readiness')
  expect(world.warnings).toEqual(expect.arrayContaining([expect.stringContaining('the check "canary" fails')]))
  for (let n = 0; n < 2; n++) await minute(world)
  expect((await world.call('GET', '/readyz', { as: null })).status).toBe(200)
  const reports = world.warnings.filter((line) => line.includes('"canary"'))
  expect(reports).toEqual([expect.stringContaining('fails'), expect.stringContaining('succeeds again')])
})

test('a server without domains sends no canary events', async () => {
  await using world = await testApp()
  await minute(world)
  expect(world.app.db.prepare('SELECT count(*) FROM org').pluck().get()).toBe(1)
  expect(await metric(world, 'tagwarden_canary_latency_seconds_count')).toBe(0)
})
