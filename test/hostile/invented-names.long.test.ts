import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { type TestApp, testApp } from '../test-app.ts'

/** Maximum growth when one domain receives 200,000 invented names from 2,000 invented hosts. */
const BOUNDS = {
  /** Bytes of count files. The names of an invented vendor and its event have 400 incompressible letters together. */
  countsBytes: 1_000_000,
  countedName: 1000,
  domainVendor: 1000,
  hostname: 1000,
  hostnameUsage: 1000,
  usage: 2,
  rejection: 1,
}

const BATCHES = 2000
const EVENTS = 100
const AT_ONCE = 50

/** Returns random letters that were never sent before. */
const invented = (length: number) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(length)))
    .toString('base64')
    .slice(0, length)

async function flood(world: TestApp, token: string) {
  const batch = () => ({
    page: { url: `https://${crypto.randomUUID()}.example/` },
    events: Array.from({ length: EVENTS }, () => ({
      vendor: invented(200),
      event: invented(200),
      params: { [invented(20)]: '' },
    })),
  })
  for (let sent = 0; sent < BATCHES; sent += AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => world.collect(token, batch())))
    expect(answers.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(202))
    if (sent % 400 === 0) await settle(world)
  }
  await settle(world)
}

async function settle(world: TestApp) {
  world.clock.advance(5 * SECOND_MS)
  await world.run('flush')
}

function bytesOfCounts(world: TestApp): number {
  const folder = join(world.folder, 'events', 'counts')
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

test('200,000 invented names sent with a public token use few resources, and earlier names are still counted', async () => {
  await using world = await testApp()
  const { body: shop } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const purchases = async (events: number) => {
    await world.collect(shop.token, {
      page: { url: 'https://shop.example/' },
      events: Array.from({ length: events }, () => ({ vendor: 'Shop', event: 'purchase' })),
    })
    await settle(world)
  }
  const total = async (of: string) => {
    const { body } = await world.call('GET', `/v1/insights/volume?domainId=${shop.id}&hours=48${of}`)
    return body.series.reduce((sum: number, { observed }: { observed: number }) => sum + observed, 0)
  }
  await purchases(120)
  await flood(world, shop.token)
  await purchases(7)
  const check = async () => {
    const { db } = world.app
    const rows = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number
    for (const table of ['countedName', 'domainVendor', 'hostname', 'hostnameUsage', 'usage', 'rejection'] as const) {
      expect([table, rows(table) <= BOUNDS[table]]).toEqual([table, true])
    }
    expect(bytesOfCounts(world)).toBeLessThan(BOUNDS.countsBytes)
    expect(await total('')).toBe(BATCHES * EVENTS + 127)
    expect(await total('&vendor=Shop&event=purchase')).toBe(127)
    expect(await total('&vendor=(other)')).toBe(BATCHES * EVENTS - (BOUNDS.countedName - 1))
  }
  await check()
  for (const ms of [65 * MINUTE_MS, 24 * HOUR_MS]) {
    world.clock.advance(ms)
    await world.run('compact')
    await check()
  }
  const { body: ledger } = await world.call('GET', `/v1/events/rejected?domainId=${shop.id}`)
  expect(ledger.rejections).toEqual([
    expect.objectContaining({
      reason: 'counts: too many names to count separately',
      count: BATCHES * EVENTS - (BOUNDS.countedName - 1),
    }),
  ])
  // The event itself keeps its original name.
  const { body: seen } = await world.call('GET', '/v1/events?from=0&limit=1')
  expect(seen.events[0].event).toBe('purchase')
  world.clock.advance(24 * HOUR_MS)
  await world.run('automatic alerts')
  const { body: signals } = await world.call('GET', `/v1/auto/signals?domainId=${shop.id}`)
  expect(signals.signals.map(({ event }: { event: string }) => event)).toEqual(['purchase'])
})
