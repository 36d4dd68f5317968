import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aRun, storeRun } from '../../test/flows/finished-run.fixture.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts'

/** Returns a new domain in the owner's organization, or in a new organization if `org` is set. */
async function shopOf(world: TestApp, org: string | null = null) {
  let headers = {}
  let { orgId } = world.owner
  if (org !== null) {
    orgId = (await world.call('POST', '/v1/orgs', { body: { name: org } })).body.id
    headers = { 'x-org-id': orgId }
  }
  const { body: domain } = await world.call('POST', '/v1/domains', { headers, body: { name: 'Shop' } })
  const events = async () => {
    const { body } = await world.call('GET', '/v1/events?from=0', { headers: { 'x-org-id': orgId } })
    return body.events.map(({ event }: { event: string }) => event).reverse() as string[]
  }
  return { orgId, token: domain.token as string, events }
}

const runJobs = async (world: TestApp) => {
  world.clock.advance(5 * SECOND_MS)
  await world.run('flush')
}

/** About 3 kB of data that can't be compressed. */
const filler = () => Buffer.from(crypto.getRandomValues(new Uint8Array(3000))).toString('base64')

/** Sends an event of about `bulk` times 21 kB. */
const send = (world: TestApp, token: string, event: string, bulk = 0) =>
  world.collect(token, {
    page: { url: 'https://shop.example/' },
    events: [
      { vendor: 'Shop', event, params: Object.fromEntries(Array.from({ length: 7 * bulk }, (_, n) => [n, filler()])) },
    ],
    pageStats: { vendors: [] },
  })

const bytesOf = (world: TestApp) =>
  ['eventFile', 'rollupFile', 'pageFile'].reduce(
    (sum, table) =>
      sum + (world.app.db.prepare(`SELECT ifnull(sum(sizeBytes), 0) FROM ${table}`).pluck().get() as number),
    0,
  )

describe('the disk budget', () => {
  test('deletes the events of whole days, oldest first, then their counts, but keeps the current hour and rejects batches', async () => {
    await using world = await testApp({ diskBudget: '1' })
    const { token, events } = await shopOf(world)
    for (const day of [0, 1, 2]) {
      if (day > 0) world.clock.advance(DAY_MS)
      await send(world, token, `day ${day}`)
      await runJobs(world)
    }
    await world.run('disk budget')
    expect(await events()).toEqual(['day 2'])
    const name = `Acme (${world.owner.orgId}) is`
    expect(world.warnings).toEqual([
      `the disk budget is exhausted. ${name} over its share of the disk budget of 1 bytes; deleted: 2026-01-05, 2026-01-06, ` +
        'counts for 2026-01-05, counts for 2026-01-06',
      `${name} over its share of the disk budget with nothing left to delete; its batches are rejected with 429`,
    ])
    await world.run('disk budget')
    expect(world.warnings).toHaveLength(2)
    const refused = await send(world, token, 'more')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(refused.body.error).toBe('the organization exceeds its share of the disk; try again in 60 s')
    await runJobs(world)
    await runJobs(world)
    const { body: ledger } = await world.call('GET', '/v1/events/rejected')
    expect(ledger.rejections[0]).toMatchObject({
      reason: 'batch: its organization exceeds its share of the disk',
      count: 1,
    })
    // An hour later, the data from the previous hour can be deleted.
    world.clock.advance(HOUR_MS)
    await world.run('compact', 'disk budget')
    expect(await events()).toEqual([])
  })

  test('deletes nothing while usage is within the budget', async () => {
    await using world = await testApp({ diskBudget: '1GB' })
    const { token, events } = await shopOf(world)
    for (const day of [0, 1, 2]) {
      await send(world, token, `day ${day}`)
      await runJobs(world)
      world.clock.advance(DAY_MS)
    }
    await world.run('compact', 'disk budget')
    expect(await events()).toEqual(['day 0', 'day 1', 'day 2'])
    expect(world.warnings).toEqual([])
  })

  test('accepts batches again when space is available', async () => {
    await using world = await testApp({ diskBudget: '100kB' })
    const { token, events } = await shopOf(world)
    await send(world, token, 'large', 8)
    await runJobs(world)
    await world.run('disk budget')
    expect((await send(world, token, 'more')).status).toBe(429)
    world.clock.advance(HOUR_MS)
    await world.run('compact', 'disk budget')
    expect((await send(world, token, 'more')).status).toBe(202)
    expect(await events()).toEqual(['more'])
    expect(world.warnings.at(-1)).toEndWith('is within its share of the disk budget again')
  })

  test('attributes the spool and shared files to their organizations', async () => {
    await using world = await testApp({ diskBudget: '300kB' })
    const [mine, theirs] = [await shopOf(world), await shopOf(world, 'Theirs')]
    await send(world, mine.token, 'yesterday', 4)
    await runJobs(world)
    world.clock.advance(DAY_MS)
    await world.run('compact')
    // One segment contains a few large events from the other organization and many small events from this one.
    for (let n = 0; n < 30; n++) await send(world, mine.token, `today ${n}`)
    await send(world, theirs.token, 'large', 10)
    await runJobs(world)
    await send(world, theirs.token, 'waiting', 4)
    await world.run('disk budget')
    expect((await send(world, theirs.token, 'more')).status).toBe(429)
    expect((await send(world, mine.token, 'more')).status).toBe(202)
    expect(await mine.events()).toContain('yesterday')
  })

  test('removes the files of deleted days, even after a restart', async () => {
    await using world = await testApp({ diskBudget: '200kB' })
    const { token, events } = await shopOf(world)
    for (const day of [0, 1, 2]) {
      if (day > 0) world.clock.advance(DAY_MS)
      await send(world, token, `day ${day}`, 4)
      await runJobs(world)
    }
    const before = world.app.db.prepare<[], string>('SELECT path FROM eventFile').pluck().all()
    await world.run('disk budget')
    expect(bytesOf(world)).toBeLessThanOrEqual(200 * 1024)
    expect(await events()).toEqual(['day 1', 'day 2'])
    expect(before.map((path) => existsSync(join(world.folder, 'events', path)))).toEqual([false, true, true])
    await world.restart()
    expect(await events()).toEqual(['day 1', 'day 2'])
  })
})

describe('the files of flow test runs', () => {
  const runOf = (world: TestApp, orgId: string, bytes: number) => {
    const id = storeRun(world, { ...aRun(), findings: [] }, { orgId })
    writeFileSync(join(world.folder, 'runs', id, 'requests.har'), Buffer.alloc(bytes))
    return id
  }
  const isKept = (world: TestApp, id: string) => existsSync(join(world.folder, 'runs', id, 'requests.har'))

  test("count towards their organization's budget, and the oldest files are deleted first", async () => {
    await using world = await testApp({ diskBudget: '1000000' })
    const mine = await shopOf(world)
    const theirs = await shopOf(world, 'Theirs')
    await send(world, theirs.token, 'theirs')
    await runJobs(world)
    const first = runOf(world, mine.orgId, 400_000)
    const other = runOf(world, theirs.orgId, 100_000)
    world.clock.advance(DAY_MS)
    const second = runOf(world, mine.orgId, 400_000)
    await world.run('disk budget')
    expect([first, second, other].map((id) => isKept(world, id))).toEqual([true, true, true])
    const third = runOf(world, mine.orgId, 400_000)
    world.clock.advance(HOUR_MS)
    await world.run('disk budget')
    expect([first, second, third, other].map((id) => isKept(world, id))).toEqual([false, true, true, true])
    expect(await theirs.events()).toEqual(['theirs'])
  })

  test('are not deleted while their run is active', async () => {
    await using world = await testApp({ diskBudget: '1000' })
    const id = storeRun(world, aRun(), { end: false })
    const folder = join(world.folder, 'runs', id)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'requests.har'), Buffer.alloc(5000))
    world.clock.advance(DAY_MS)
    await world.run('disk budget')
    expect(isKept(world, id)).toBe(true)
  })
})
