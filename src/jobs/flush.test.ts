import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestApp, testApp } from '../../test/app.ts'
import { SECOND_MS } from '../core/clock.ts'
import { SEGMENT_AGE_MS } from './flush.ts'

async function setUp() {
  const world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  let batches = 0
  const send = (batch: object = {}) =>
    world.collect(domain.token, {
      batchId: `a-batch-${++batches}`,
      page: { url: 'https://shop.example/' },
      events: [{ vendor: 'Shop', event: 'view' }, { vendor: 'Shop', event: 'buy' }, {}],
      ...batch,
    })
  return { world, domain, send }
}

const filesIn = ({ folder }: TestApp, name: string, ending: string) =>
  readdirSync(join(folder, name)).filter((file) => file.endsWith(ending))
const spooled = (world: TestApp) => filesIn(world, 'spool', '.ndjson')
const stored = (world: TestApp) => filesIn(world, 'events', '.parquet')
const eventsIn = async (world: TestApp) => (await world.call('GET', '/v1/events')).body.events.length

/** What is counted beside the events. */
async function accounts(world: TestApp) {
  const { body: usage } = await world.call('GET', '/v1/usage')
  const { body: ledger } = await world.call('GET', '/v1/events/rejected')
  return { events: usage.totalEvents, refused: ledger.rejections.map(({ count }: { count: number }) => count) }
}

describe('a flush', () => {
  test('moves what is old enough to the warehouse, and counts it there', async () => {
    const { world, send } = await setUp()
    await using _world = world
    await send()
    world.clock.advance(SEGMENT_AGE_MS - 1)
    await world.run('flush')
    expect([spooled(world).length, stored(world).length, await eventsIn(world)]).toEqual([1, 0, 2])
    expect(await accounts(world)).toEqual({ events: 0, refused: [] })
    world.clock.advance(1)
    await world.run('flush')
    expect([spooled(world).length, stored(world).length, await eventsIn(world)]).toEqual([0, 1, 2])
    expect(await accounts(world)).toEqual({ events: 2, refused: [1] })
    await world.run('flush')
    expect([stored(world).length, await eventsIn(world)]).toEqual([1, 2])
  })

  test('counts once what it does twice, because it was killed before the spool was emptied', async () => {
    const { world, send } = await setUp()
    await using _world = world
    await send()
    await send()
    const [segment = ''] = spooled(world)
    const kept = join(world.folder, 'kept')
    copyFileSync(join(world.folder, 'spool', segment), kept)
    world.clock.advance(SEGMENT_AGE_MS)
    await world.run('flush')
    copyFileSync(kept, join(world.folder, 'spool', segment))
    await world.crash()
    world.clock.advance(SEGMENT_AGE_MS)
    await world.run('flush')
    expect([spooled(world), stored(world).length, await eventsIn(world)]).toEqual([[], 1, 4])
    expect(await accounts(world)).toEqual({ events: 4, refused: [2] })
  })

  test('that was killed before it began is made up for', async () => {
    const { world, send } = await setUp()
    await using _world = world
    await send()
    await world.crash()
    expect(await eventsIn(world)).toBe(2)
    await world.run('flush')
    expect([stored(world).length, await eventsIn(world)]).toEqual([1, 2])
    expect(await accounts(world)).toEqual({ events: 2, refused: [1] })
  })

  test('keeps the batches in mind, so that a repeat is answered as before and counts once', async () => {
    const { world, send } = await setUp()
    await using _world = world
    const batch = { batchId: 'the-same-batch' }
    const { body: first } = await send(batch)
    expect((await send(batch)).body).toEqual(first)
    world.clock.advance(SEGMENT_AGE_MS)
    await world.run('flush')
    expect((await send(batch)).body).toEqual(first)
    await world.restart()
    expect((await send(batch)).body).toEqual(first)
    expect(await eventsIn(world)).toBe(2)
  })

  test('of what held no event leaves no file, but the ledger', async () => {
    const { world, send } = await setUp()
    await using _world = world
    await send({ events: [{}] })
    world.clock.advance(SEGMENT_AGE_MS)
    await world.run('flush')
    expect([spooled(world), stored(world)]).toEqual([[], []])
    expect(await accounts(world)).toEqual({ events: 0, refused: [1] })
  })

  test('happens at the end of the program, whatever the age', async () => {
    const { world, send } = await setUp()
    await using _world = world
    await send()
    world.clock.advance(SECOND_MS)
    await world.restart()
    expect([spooled(world), stored(world).length, await eventsIn(world)]).toEqual([[], 1, 2])
    expect(existsSync(join(world.folder, 'events', 'tmp'))).toBe(true)
    expect(filesIn(world, join('events', 'tmp'), '.parquet')).toEqual([])
  })
})
