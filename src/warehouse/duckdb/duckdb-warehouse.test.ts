import { describe, expect, spyOn, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import type { SegmentCount } from '../../ingest/segment-counts.ts'
import type { Segment } from '../../ingest/spool.ts'
import { anEvent, aValue, HOUR, plainQuery, WarehouseFixture } from '../warehouse.fixture.ts'
import type { Flaw } from './file-check.ts'

const some = (count: number, orgId = 'org_1') => Array.from({ length: count }, () => ({ orgId, params: { a: '1' } }))
const parquetIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.parquet'))
    .toSorted()

/** The only sealed segment. */
async function sealedOf(fixture: WarehouseFixture): Promise<Segment> {
  await fixture.spool.seal()
  const [segment, ...more] = fixture.spool.segments()
  if (!segment || more.length > 0) throw new Error('expected one segment')
  return segment
}

test('a window without events is detected without a query', async () => {
  await using fixture = await WarehouseFixture.open()
  const has = (from: number, to: number) => fixture.warehouse.hasEvents({ from, to })
  expect(has(0, HOUR + HOUR_MS)).toBe(false)
  await fixture.add(some(1))
  const look = () => [has(HOUR - 1, HOUR), has(HOUR, HOUR + 1), has(HOUR + 1, HOUR + HOUR_MS)]
  expect(look()).toEqual([false, true, false])
  await fixture.flush()
  expect(look()).toEqual([false, true, false])
})

describe('loading a segment', () => {
  test('moves its events from the spool into one file', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add(some(5))
    const segment = await sealedOf(fixture)
    await fixture.flush()
    expect(fixture.manifest.files()).toEqual([
      {
        path: `${segment.name}.parquet`,
        orgId: 'org_1',
        hour: HOUR,
        minReceivedAt: HOUR,
        maxReceivedAt: HOUR,
        maxSeq: fixture.events.at(-1)?.seq ?? 0,
        rows: 5,
        sizeBytes: expect.any(Number),
        unpackedBytes: expect.any(Number),
        sum: expect.any(Number),
        level: 'fresh',
        keys: null,
        hasSegments: true,
      },
    ])
    expect(fixture.spool.files()).toEqual([])
    expect(existsSync(segment.path)).toBe(false)
    expect(await fixture.count()).toEqual({ rows: 5, events: 5 })
  })

  test('again changes no events, files or counters', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add(some(3))
    const segment = await sealedOf(fixture)
    const copy = `${segment.path}.copy`
    copyFileSync(segment.path, copy)
    await fixture.flush()
    const [counts, files] = [[...fixture.counts], fixture.manifest.files()]
    const again = async () => {
      copyFileSync(copy, segment.path)
      let released = false
      await fixture.warehouse.load(
        segment,
        ({ counts: more }) => fixture.counts.push(...more),
        () => {
          released = true
        },
      )
      expect(released).toBe(true)
      expect(fixture.counts).toEqual(counts)
      expect(await fixture.count()).toEqual({ rows: 3, events: 3 })
    }
    await again()
    expect(fixture.manifest.files()).toEqual(files)
    // Loading the segment again has no effect even after its file has been merged into another file.
    await fixture.compact()
    await again()
    expect(fixture.levels()).toEqual(['compacted'])
  })

  test('without events creates no file, and is not repeated', async () => {
    await using fixture = await WarehouseFixture.open()
    const answer = { accepted: 0, rejected: 1, errors: [] }
    const record = {
      key: 'k',
      orgId: 'org_1',
      domainId: 'dom_1',
      receivedAt: fixture.spool.arrivalAt(),
      answer,
      ledger: [],
    }
    await fixture.spool.append([], record)
    const { name } = await sealedOf(fixture)
    await fixture.flush()
    expect([fixture.manifest.files(), fixture.manifest.hasSegment(name)]).toEqual([[], true])
    expect(parquetIn(fixture.folder)).toEqual([])
    expect(fixture.counts).toEqual([])
    expect(await fixture.count()).toEqual({ rows: 0, events: 0 })
  })

  test('counts each of its events once, by organization, domain, host and hour', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anEvent, fc.nat(50)), { minLength: 1, maxLength: 15 }), async (arrivals) => {
        await using fixture = await WarehouseFixture.open()
        for (const [event, minutes] of arrivals) {
          fixture.clock.advance(minutes * MINUTE_MS)
          await fixture.add([event])
        }
        await fixture.flush()
        const key = ({ orgId, domainId, host, hour }: Pick<SegmentCount, 'orgId' | 'domainId' | 'host' | 'hour'>) =>
          JSON.stringify([orgId, domainId, host, hour])
        const expected = Map.groupBy(fixture.events, (event) =>
          key({ ...event, hour: Math.floor(event.receivedAt / HOUR_MS) * HOUR_MS }),
        )
        const got = new Map(fixture.counts.map((count) => [key(count), count]))
        expect(fixture.counts.length).toBe(got.size)
        expect([...got.keys()].toSorted()).toEqual([...expected.keys()].toSorted())
        for (const [name, events] of expected) {
          expect(got.get(name)).toMatchObject({ events: events.length, lastReceivedAt: events.at(-1)?.receivedAt ?? 0 })
        }
      }),
      { numRuns: 12 },
    )
  })

  test('reports the latest production version, in recording order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anEvent, { minLength: 1, maxLength: 15 }), async (events) => {
        await using fixture = await WarehouseFixture.open()
        await fixture.add(events.map((event) => ({ ...event, domainId: event.domainId ?? 'dom_1' })))
        await fixture.flush()
        const last = new Map<string, number>()
        for (const { domainId, env, version } of fixture.events) {
          if (env === 'prod' && version !== null) last.set(domainId, version)
        }
        const told = new Map<string, number>()
        for (const { domainId, lastVersion } of fixture.counts)
          if (lastVersion !== null) told.set(domainId, lastVersion)
        expect([...told].toSorted()).toEqual([...last].toSorted())
      }),
      { numRuns: 12 },
    )
  })
})

describe('a crash while a segment is loaded', () => {
  test('before the manifest is updated leaves the events in the spool, and the segment is loaded again', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add(some(4))
    const segment = await sealedOf(fixture)
    const dying = fixture.warehouse.load(
      segment,
      () => {
        throw new Error('killed')
      },
      () => fixture.spool.release(segment),
    )
    expect(dying).rejects.toThrow('killed')
    await dying.catch(() => {})
    expect(parquetIn(fixture.folder)).toEqual([`${segment.name}.parquet`])
    expect(await fixture.count()).toEqual({ rows: 4, events: 4 })

    await fixture.reopen()
    expect(parquetIn(fixture.folder)).toEqual([])
    expect(await fixture.count()).toEqual({ rows: 4, events: 4 })
    await fixture.flush()
    expect(await fixture.count()).toEqual({ rows: 4, events: 4 })
    expect(fixture.levels()).toEqual(['fresh'])
  })

  test('after the manifest is updated but before the segment is removed: the next start removes the segment', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add(some(4))
    const segment = await sealedOf(fixture)
    await fixture.warehouse.load(
      segment,
      () => {},
      () => fixture.spool.release(segment),
    )
    expect(existsSync(segment.path)).toBe(true)
    expect(await fixture.count()).toEqual({ rows: 4, events: 4 })
    await fixture.reopen()
    expect(existsSync(segment.path)).toBe(false)
    expect(fixture.spool.segments()).toEqual([])
    expect(await fixture.count()).toEqual({ rows: 4, events: 4 })
  })
})

test('startup removes temporary files, but nothing that could be the only copy of data', async () => {
  await using fixture = await WarehouseFixture.open()
  await fixture.add(some(2))
  await fixture.flush()
  const known = parquetIn(fixture.folder)
  writeFileSync(join(fixture.folder, '000000009999.parquet'), 'half')
  writeFileSync(join(fixture.folder, 'tmp', 'm-1.parquet'), 'half')
  writeFileSync(join(fixture.folder, 'notes.txt'), 'mine')
  await fixture.reopen()
  expect(parquetIn(fixture.folder)).toEqual([...known, '000000009999.parquet'])
  expect(readdirSync(join(fixture.folder, 'tmp')).filter((name) => name.endsWith('.parquet'))).toEqual([])
  expect(existsSync(join(fixture.folder, 'notes.txt'))).toBe(true)
  expect(await fixture.count()).toEqual({ rows: 2, events: 2 })
})

describe('every event is seen exactly once', () => {
  test('at any point between the spool and a compacted file', async () => {
    await using fixture = await WarehouseFixture.open()
    let known = 0
    let over = false
    const movers = (async () => {
      for (let round = 0; round < 12; round++) {
        for (let n = 0; n < 3; n++) {
          await fixture.add(some(20, `org_${n}`))
          known = fixture.events.length
        }
        await fixture.flush()
        if (round % 3 === 1) await fixture.merge()
        if (round % 4 === 3) {
          fixture.clock.advance(HOUR_MS + 3 * MINUTE_MS)
          await fixture.compact(fixture.clock.now())
        }
      }
      await fixture.compact()
      over = true
    })()
    let looks = 0
    const look = async () => {
      while (!over) {
        const before = known
        const { rows, events } = await fixture.count()
        expect(rows).toBe(events)
        expect(rows).toBeGreaterThanOrEqual(before)
        expect(rows).toBeLessThanOrEqual(fixture.events.length)
        looks++
      }
    }
    await Promise.all([movers, look(), look(), look()])
    expect(await fixture.count()).toEqual({ rows: 720, events: 720 })
    expect(fixture.levels().every((level) => level === 'compacted')).toBe(true)
    expect(looks).toBeGreaterThan(20)
  })

  test('even by a query that waited while files were added and removed', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add(some(50))
    const asked = Array.from({ length: 30 }, () => fixture.count())
    await fixture.flush()
    asked.push(...Array.from({ length: 30 }, () => fixture.count()))
    await fixture.compact()
    for (const answer of await Promise.all(asked)) expect(answer).toEqual({ rows: 50, events: 50 })
  })
})

describe('a query result', () => {
  test('has numbers for 64-bit integers, objects for maps, arrays for lists, null for null', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add([{ params: {} }, { params: { key: 'k', value: 'v', ['__proto__']: 'p' }, violations: ['a'] }])
    const rows = await fixture.query(
      'SELECT seq, count(*) OVER () AS n, params, violations, [seq] AS list, NULL AS nothing, true AS yes FROM events ORDER BY seq',
      {},
      { wholeParams: true },
    )
    const [first, second] = fixture.events.map(({ seq }) => seq)
    expect(rows).toEqual([
      { seq: first, n: 2, params: {}, violations: null, list: [first], nothing: null, yes: true },
      {
        seq: second,
        n: 2,
        params: JSON.parse('{"key": "k", "value": "v", "__proto__": "p"}'),
        violations: ['a'],
        list: [second],
        nothing: null,
        yes: true,
      },
    ])
  })

  test('binds values as parameters, never as SQL', async () => {
    await using fixture = await WarehouseFixture.open()
    const hostile = ["'; DROP TABLE events; --", "' OR '1'='1", '$p1', '\\', '"', '%', 'a\0b', "'||version()||'"]
    const aText = fc.oneof(fc.constantFrom(...hostile), aValue)
    const vendors = hostile.filter((text) => !text.includes('\0'))
    await fixture.add(vendors.map((vendor) => ({ vendor, params: { vendor } })))
    await fixture.flush()
    await fc.assert(
      fc.asyncProperty(aText, aText, async (a, b) => {
        const rows = await fixture.query(
          'SELECT $a AS a, $b AS b, count(*) AS n FROM events WHERE vendor = $a OR "p:vendor" = $b',
          { a, b },
          { keys: ['vendor'] },
        )
        expect(rows).toEqual([{ a, b, n: vendors.filter((vendor) => vendor === a || vendor === b).length }])
      }),
      { numRuns: 60 },
    )
  })

  test.each<[string | number | boolean | null]>([
    [0],
    [-1],
    [1.5],
    [2 ** 53 - 1],
    [1e300],
    [true],
    [false],
    [null],
    [''],
  ])('returns the bound value %p unchanged', async (value) => {
    await using fixture = await WarehouseFixture.open()
    expect(await fixture.query('SELECT $v AS v', { v: value })).toEqual([{ v: value }])
  })
})

describe('a query that fails', () => {
  const unavailable = { name: 'AppError', code: 'unavailable', retryAfterS: 5 }

  test.each([
    ['is not SQL', 'SELEKT 1'],
    ['refers to a missing column', 'SELECT nothing FROM events'],
    ['fails during execution', "SELECT CAST(vendor || 'x' AS INTEGER) FROM events"],
  ])('because it %s returns a generic error, and the reason only to the operator', async (_why, sql) => {
    const reported: string[] = []
    await using fixture = await WarehouseFixture.open({ report: (error) => void reported.push(messageOf(error)) })
    await fixture.add([{ vendor: 'secret' }])
    const failing = fixture.query(sql)
    expect(failing).rejects.toMatchObject({ ...unavailable, message: 'the query failed; try again in 5 s' })
    await failing.catch(() => {})
    expect(reported).toEqual([expect.stringMatching(/ Error: /)])
  })

  test('because it takes too long is cancelled without affecting other queries', async () => {
    await using fixture = await WarehouseFixture.open({ timeoutMs: 100 })
    await fixture.add(some(1))
    const long = fixture.query(
      'SELECT count(*) AS n FROM range(1000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3',
    )
    expect(long).rejects.toMatchObject(unavailable)
    expect(await fixture.count()).toEqual({ rows: 1, events: 1 })
    await long.catch(() => {})
    expect(await fixture.count()).toEqual({ rows: 1, events: 1 })
  })

  test("because it exceeds its caller's time limit is cancelled in the engine", async () => {
    await using fixture = await WarehouseFixture.open({ callersTimeoutMs: 100 })
    await fixture.add(some(1))
    const endless = 'SELECT count(*) AS n FROM range(1000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3'
    for (const lane of ['search', 'insights'] as const) {
      const { signal } = new AbortController()
      const long = fixture.warehouse.query(plainQuery({ sql: endless }), signal, lane)
      const message = 'the query exceeded its limit of 0.1 s; use a shorter time range or a single domain'
      expect(long).rejects.toMatchObject({ ...unavailable, message })
      await long.catch(() => {})
      expect(fixture.warehouse.runningQueries).toBe(0)
    }
    expect(await fixture.count()).toEqual({ rows: 1, events: 1 })
  })

  test('because a file is missing is retried without it, and the file is reported', async () => {
    const told: Flaw[] = []
    await using fixture = await WarehouseFixture.open({ damaged: (flaws) => void told.push(...flaws) })
    await fixture.add(some(1))
    await fixture.flush()
    fixture.clock.advance(HOUR_MS)
    await fixture.add(some(1))
    await fixture.flush()
    const [lost] = fixture.manifest.files()
    unlinkSync(join(fixture.folder, lost?.path ?? ''))
    expect(await fixture.count()).toEqual({ rows: 1, events: 1 })
    expect(told).toEqual([{ file: expect.objectContaining({ path: lost?.path }), reason: 'the file is missing' }])
    expect(await fixture.count({ window: { from: HOUR + HOUR_MS, to: HOUR + 2 * HOUR_MS } })).toEqual({
      rows: 1,
      events: 1,
    })
  })
})

test('a file is not removed while a query might read it', async () => {
  await using fixture = await WarehouseFixture.open()
  await fixture.add(some(10))
  await fixture.flush()
  const path = join(fixture.folder, fixture.manifest.files()[0]?.path ?? '')
  const running = fixture.query('SELECT count(*) AS n FROM events, range(3000000) WHERE seq > range')
  let removed = false
  const removal = fixture.parquet.remove([path]).then(() => {
    removed = true
  })
  await Promise.resolve()
  expect([removed, existsSync(path)]).toEqual([false, true])
  expect(await running).toEqual([{ n: 30_000_000 }])
  await removal
  expect(existsSync(path)).toBe(false)
  // A file that is already missing does not prevent other files from being deleted.
  writeFileSync(join(fixture.folder, 'other'), '')
  await fixture.parquet.remove([path, join(fixture.folder, 'other')])
  expect(existsSync(join(fixture.folder, 'other'))).toBe(false)
})

test('a probe checks the engines that have been started, and fails after one of them has died', async () => {
  const create = spyOn(DuckDBInstance, 'create')
  try {
    await using fixture = await WarehouseFixture.open()
    await fixture.warehouse.probe()
    expect(create).not.toHaveBeenCalled()
    await fixture.add(some(1))
    await fixture.warehouse.query(plainQuery({ sql: 'SELECT count(*) FROM events' }))
    await fixture.warehouse.probe()
    const [engine] = await Promise.all(create.mock.results.map(({ value }) => value as Promise<DuckDBInstance>))
    engine?.closeSync()
    await expect(fixture.warehouse.probe()).rejects.toThrow()
  } finally {
    create.mockRestore()
  }
})
