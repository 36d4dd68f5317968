import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { type TestApp, testApp } from '../test-app.ts'

/** Disk budget for all collected data. */
const BUDGET = 8 * 1024 * 1024
/** Maximum number of bytes by which a flood exceeds the budget between two checks. */
const BETWEEN_LOOKS = 4 * 1024 * 1024
/** Number of batches in a flood. Each has about 1 MB, which a single public token sends in less than half a second. */
const BATCHES = 16

/** Returns random, incompressible letters. */
const noise = (length: number) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(length)))
    .toString('base64')
    .slice(0, length)

const bulk = (events: number, event: string) => ({
  page: { url: 'https://shop.example/' },
  events: Array.from({ length: events }, () => ({
    vendor: 'Shop',
    event,
    params: Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`p${n}`, noise(1000)])),
  })),
  pageStats: { loaf: true, vendors: [{ host: `${event.replace(' ', '-')}.example`, requests: 1, durMs: [1, 2] }] },
})

/** Creates an organization with a domain, and returns functions that send and query its events. */
async function shopOf(world: TestApp, name: string) {
  const own = { headers: { 'x-org-id': world.owner.orgId } }
  const { body: org } = await world.call('POST', '/v1/orgs', { ...own, body: { name } })
  const headers = { 'x-org-id': org.id as string }
  const get = async (path: string) => (await world.call('GET', path, { headers })).body
  const { body: domain } = await world.call('POST', '/v1/domains', { headers, body: { name: 'Shop' } })
  return {
    orgId: org.id as string,
    send: (batch: object) => world.collect(domain.token, batch),
    /** Returns the number of stored events with this name. */
    async count(event: string): Promise<number> {
      const { events } = await get(`/v1/events?from=0&limit=200&event=${encodeURIComponent(event)}`)
      return events.length
    },
    /** Returns the number of events with this name according to the counts. */
    async counted(event: string): Promise<number> {
      const { series } = await get(`/v1/insights/volume?hours=96&event=${encodeURIComponent(event)}`)
      return series.reduce((sum: number, { observed }: { observed: number }) => sum + observed, 0)
    },
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    return sum + (entry.isDirectory() ? bytesIn(path) : statSync(path).size)
  }, 0)
}
const bytesOf = (world: TestApp) => bytesIn(join(world.folder, 'events')) + bytesIn(join(world.folder, 'spool'))

/** Runs background jobs while time passes. */
async function pass(world: TestApp, ms: number) {
  world.clock.advance(ms)
  await world.run('flush', 'compact', 'retain', 'disk budget')
}

test("a flood sent with one public token deletes none of another organization's events", async () => {
  await using world = await testApp({ diskBudget: String(BUDGET) })
  const [mine, theirs] = [await shopOf(world, 'Mine'), await shopOf(world, 'Theirs')]
  // Both organizations have events from yesterday. The events of `mine` take up about a fifth of the budget.
  expect((await mine.send(bulk(100, 'yesterday'))).status).toBe(202)
  await mine.send(bulk(90, 'yesterday'))
  await theirs.send(bulk(100, 'yesterday'))
  await pass(world, 5 * SECOND_MS)
  await pass(world, DAY_MS)
  expect([await mine.count('yesterday'), await theirs.count('yesterday')]).toEqual([190, 100])

  const statuses = new Set<number>()
  for (let sent = 0; sent < BATCHES; sent++) {
    statuses.add((await theirs.send(bulk(100, 'flood'))).status)
    // Sent at the same time, so both organizations share segment files.
    expect((await mine.send(bulk(2, 'today'))).status).toBe(202)
    if (sent % 4 === 3) await pass(world, 10 * SECOND_MS)
    expect(bytesOf(world)).toBeLessThan(BUDGET + BETWEEN_LOOKS)
  }
  const untouched = async () => {
    expect([await mine.count('yesterday'), await mine.count('today')]).toEqual([190, 2 * BATCHES])
    expect([await mine.counted('yesterday'), await mine.counted('today')]).toEqual([190, 2 * BATCHES])
    expect((await mine.send(bulk(1, 'now'))).status).toBe(202)
  }
  await untouched()
  expect([...statuses]).toEqual([202, 429])
  expect(await theirs.count('yesterday')).toBe(0)
  // After an hour, the flooding organization can send again within its part of the budget.
  for (const ms of [5 * MINUTE_MS, HOUR_MS, DAY_MS]) {
    await pass(world, ms)
    await untouched()
    expect(bytesOf(world)).toBeLessThan(BUDGET + BETWEEN_LOOKS)
  }
  expect((await theirs.send(bulk(1, 'again'))).status).toBe(202)
  // The counts remain, although the events were deleted.
  expect(await theirs.counted('yesterday')).toBe(100)
  const told = world.warnings.filter((warning) => warning.includes('the disk budget'))
  expect(told.length).toBeGreaterThan(0)
  expect(told.filter((warning) => !warning.includes(`Theirs (${theirs.orgId})`))).toEqual([])
})
