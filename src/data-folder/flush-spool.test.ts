import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { HOUR_MS, SECOND_MS } from '../core/clock.ts'
import { SeenBatches } from '../ingest/seen-batches.ts'
import { WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { finalFlush, flush, SEGMENT_AGE_MS } from './flush-spool.ts'

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

/** Returns the counts that are stored in the same transaction as the events. */
async function accounts(world: TestApp) {
  const { body: usage } = await world.call('GET', '/v1/usage')
  const { body: ledger } = await world.call('GET', '/v1/events/rejected')
  return { events: usage.totalEvents, refused: ledger.rejections.map(({ count }: { count: number }) => count) }
}

describe('a flush', () => {
  test('moves segments of sufficient age to the warehouse and counts their events', async () => {
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

  test('counts events once when repeated after a kill before the spool was emptied', async () => {
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

  test('loads the segments of a process that was killed before flushing', async () => {
    const { world, send } = await setUp()
    await using _world = world
    await send()
    await world.crash()
    expect(await eventsIn(world)).toBe(2)
    await world.run('flush')
    expect([stored(world).length, await eventsIn(world)]).toEqual([1, 2])
    expect(await accounts(world)).toEqual({ events: 2, refused: [1] })
  })

  test('remembers batches, so a repeated batch gets the same response and is counted once', async () => {
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

  test('of a segment without events writes only the ledger', async () => {
    const { world, send } = await setUp()
    await using _world = world
    await send({ events: [{}] })
    world.clock.advance(SEGMENT_AGE_MS)
    await world.run('flush')
    expect([spooled(world), stored(world)]).toEqual([[], []])
    expect(await accounts(world)).toEqual({ events: 0, refused: [1] })
  })

  test('loads segments of any age at shutdown', async () => {
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

/** Dependencies of a flush that uses a separate warehouse. */
function partsOf({ db, clock, spool, warehouse }: WarehouseFixture, recordRefusals = async () => {}) {
  return { db, batches: new SeenBatches(db, clock), spool, warehouse, collector: { recordRefusals } }
}

describe('a partially failed flush', () => {
  test('loads every available segment, and loads each of the others once when it becomes available', async () => {
    const { world, send } = await setUp()
    await using _world = world
    // Each batch is in a different hour, so there are four segments.
    for (let n = 0; n < 4; n++) {
      await send()
      world.clock.advance(HOUR_MS)
    }
    const paths = spooled(world)
      .toSorted()
      .map((file) => join(world.folder, 'spool', file))
    const missing = [paths[0] ?? '', paths[2] ?? '']
    for (const path of missing) renameSync(path, `${path}.kept`)
    for (let round = 0; round < 2; round++) {
      const failure = await world.run('flush').catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(AggregateError)
      expect((failure as AggregateError).errors.length).toBe(2)
      expect((failure as AggregateError).message).toContain('000000000001')
      expect((failure as AggregateError).message).toContain('000000000003')
      expect([stored(world).length, (await accounts(world)).events]).toEqual([2, 4])
    }
    for (const path of missing) renameSync(`${path}.kept`, path)
    await world.run('flush')
    await world.run('flush')
    expect([spooled(world), stored(world).length, await eventsIn(world)]).toEqual([[], 4, 8])
    expect(await accounts(world)).toEqual({ events: 8, refused: [4] })
    await world.restart()
    await send()
    expect([spooled(world), await eventsIn(world)]).toEqual([['000000000005.ndjson'], 10])
  })

  test("loads segments even if rejection counts can't be written, and writes the counts later", async () => {
    const { world, domain, send } = await setUp()
    await using _world = world
    await send()
    world.clock.advance(HOUR_MS)
    const { status } = await world.collect(domain.token, { nonsense: 1 })
    expect(status).toBe(400)
    // Makes it impossible to create the segment for this hour.
    writeFileSync(join(world.folder, 'spool', '000000000002.ndjson'), '')
    const failure = await world.run('flush').catch((error: unknown) => error)
    expect(failure).toMatchObject({ errors: [{ code: 'unavailable' }] })
    expect([stored(world).length, await accounts(world)]).toEqual([1, { events: 2, refused: [1] }])
    await world.run('flush')
    world.clock.advance(SEGMENT_AGE_MS)
    await world.run('flush')
    expect(await accounts(world)).toEqual({ events: 2, refused: [1, 1] })
  })

  test('seals segments even if recording rejections fails, and then fails with the same error', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add([{}])
    const trouble = new Error('no')
    const failed = flush(partsOf(fixture, () => Promise.reject(trouble)))
    expect(await failed.catch((error: unknown) => error)).toMatchObject({ errors: [trouble] })
    expect([fixture.manifest.files().length, fixture.spool.files()]).toEqual([1, []])
  })
})

/** A log that expects a shutdown without errors. */
const quietLog = {
  info(message: string) {
    throw new Error(message)
  },
  error(error: unknown) {
    throw error
  },
}

describe('the final flush', () => {
  test('loads pending batches and rejection counts, and closes the spool', async () => {
    await using fixture = await WarehouseFixture.open()
    const additions: Promise<unknown>[] = []
    // Batches from two hours are waiting to be written at the same time.
    for (let n = 0; n < 3; n++) {
      additions.push(fixture.add([{}]))
      fixture.clock.advance(HOUR_MS / 2)
    }
    await finalFlush(
      partsOf(fixture, async () => void (await fixture.add([{}, {}]))),
      quietLog,
    )
    await Promise.all(additions)
    expect([fixture.spool.files(), fixture.manifest.files().length]).toEqual([[], 2])
    expect(await fixture.count()).toEqual({ rows: 5, events: 5 })
  })

  test('closes the spool and loads segments even if a write failed', async () => {
    await using fixture = await WarehouseFixture.open()
    const additions = fixture.add([{}])
    const errors: unknown[] = []
    await finalFlush(
      partsOf(fixture, () => Promise.reject(new Error('no'))),
      { ...quietLog, error: (error) => void errors.push(error) },
    )
    expect(errors).toEqual([expect.any(AggregateError)])
    await additions
    expect([fixture.spool.files(), (await fixture.count()).rows]).toEqual([[], 1])
  })
})
