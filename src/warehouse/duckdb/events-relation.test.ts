import { describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { EVENT_COLUMNS, NO_SEGMENTS, type StoredEvent } from '../../core/event.ts'
import type { Query } from '../query.ts'
import { aKey, anEvent, type EventFields, HOUR, NASTY_KEYS, paramOf, WarehouseFixture } from '../warehouse.fixture.ts'
import { quoteText } from './duckdb-dialect.ts'

/** Converts parameters to entries, because maps have no order. */
const entriesOf = (events: readonly StoredEvent[]) =>
  events.map(({ seq, params }) => [seq, Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))])

/** A step that the fixture performs between batches. */
const aStep = fc.oneof(
  { weight: 3, arbitrary: fc.array(anEvent, { minLength: 1, maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('flush', 'merge', 'compact') },
)

async function carryOut(fixture: WarehouseFixture, step: EventFields[] | string): Promise<void> {
  if (typeof step !== 'string') await fixture.add(step)
  else if (step === 'flush') await fixture.flush()
  else if (step === 'merge') await fixture.merge()
  else await fixture.compact()
}

describe('a parameter', () => {
  test('has the same value in the spool, the map, a column or any combination', async () => {
    const steps = fc.array(aStep, { minLength: 1, maxLength: 8 })
    const keys = fc.uniqueArray(aKey, { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, keys, async (steps, keys) => {
        await using fixture = await WarehouseFixture.open()
        for (const step of steps) await carryOut(fixture, step)
        const expectAll = async () => {
          const values = fixture.events.map((event) => keys.map((key) => paramOf(event, key)))
          expect(await fixture.valuesOf(keys)).toEqual(values)
          expect(entriesOf(await fixture.wholeEvents())).toEqual(entriesOf(fixture.events))
          const both = await fixture.query<StoredEvent>(
            'SELECT * FROM events ORDER BY seq',
            {},
            { keys, wholeParams: true },
          )
          expect(entriesOf(both)).toEqual(entriesOf(fixture.events))
        }
        await expectAll()
        await fixture.flush()
        await fixture.compact()
        expect(new Set(fixture.levels()).size).toBeLessThanOrEqual(1)
        await expectAll()
      }),
      { numRuns: 15 },
    )
  })

  test('with any unusual name is distinct from all other parameters, before and after compaction', async () => {
    await using fixture = await WarehouseFixture.open()
    for (const [at, key] of NASTY_KEYS.entries()) await fixture.add([{ params: Object.fromEntries([[key, `${at}`]]) }])
    const expected = NASTY_KEYS.map((_, row) => NASTY_KEYS.map((_, at) => (row === at ? `${at}` : null)))
    expect(await fixture.valuesOf(NASTY_KEYS)).toEqual(expected)
    await fixture.flush()
    expect(await fixture.valuesOf(NASTY_KEYS)).toEqual(expected)
    await fixture.compact()
    expect(fixture.manifest.files()[0]?.keys?.toSorted()).toEqual([...NASTY_KEYS].toSorted())
    expect(await fixture.valuesOf(NASTY_KEYS)).toEqual(expected)
    // Queried together with an hour that is not compacted yet.
    await fixture.add([{ params: { a: 'fresh' } }])
    await fixture.flush()
    expect(await fixture.valuesOf(['a', 'A'])).toEqual([
      ...expected.map((row) => [row[8] ?? null, row[9] ?? null]),
      ['fresh', null],
    ])
  })

  test('that is rare is stored in the map', async () => {
    await using fixture = await WarehouseFixture.open()
    const events = Array.from({ length: 400 }, (_, n) => ({
      params: {
        common: `c${n}`,
        ...(n === 7 ? { Rare: 'r', __proto__x: '' } : {}),
        ...(n % 50 === 0 ? { some: `${n}` } : {}),
      },
    }))
    await fixture.add(events)
    await fixture.flush()
    await fixture.compact()
    expect(fixture.manifest.files()[0]?.keys).toEqual(['common', 'some'])
    const keys = ['common', 'some', 'Rare', '__proto__x', 'rare']
    expect(await fixture.valuesOf(keys)).toEqual(fixture.events.map((event) => keys.map((key) => paramOf(event, key))))
    expect(entriesOf(await fixture.wholeEvents())).toEqual(entriesOf(fixture.events))
  })

  test('that exists in no event is null, not an error', async () => {
    await using fixture = await WarehouseFixture.open()
    const keys = ['a\0b', '\0', 'a\ud800']
    expect(await fixture.valuesOf(keys)).toEqual([])
    await fixture.add([{ params: { a: '1' } }])
    expect(await fixture.valuesOf(keys)).toEqual([[null, null, null]])
    await fixture.flush()
    await fixture.compact()
    expect(await fixture.valuesOf(keys)).toEqual([[null, null, null]])
  })

  test('can be requested twice', async () => {
    await using fixture = await WarehouseFixture.open()
    await fixture.add([{ params: { a: '1' } }])
    const ask = () => fixture.query('SELECT "p:a" AS a FROM events', {}, { keys: ['a', 'a'] })
    expect(await ask()).toEqual([{ a: '1' }])
    await fixture.flush()
    await fixture.compact()
    expect(await ask()).toEqual([{ a: '1' }])
  })

  test('that is not requested is not read: the relation has only the event columns and the requested columns', async () => {
    await using fixture = await WarehouseFixture.open()
    const columnsOf = async () =>
      (
        await fixture.query<{ column_name: string }>(
          'SELECT * FROM (DESCRIBE SELECT * FROM events)',
          {},
          { keys: ['A'] },
        )
      ).map(({ column_name }) => column_name)
    const empty = await columnsOf()
    expect(empty.slice(-5)).toEqual(['violations', 'violated', 'release', 'pageGroup', 'p:^a'])
    await fixture.add([{ params: { A: '1', b: '2' } }])
    expect(await columnsOf()).toEqual(empty)
    await fixture.flush()
    expect(await columnsOf()).toEqual(empty)
    await fixture.compact()
    expect(await columnsOf()).toEqual(empty)
  })
})

test('a whole event equals the stored one, including types, wherever it is stored', async () => {
  await using fixture = await WarehouseFixture.open()
  await fixture.add([
    {},
    {
      kind: 'hit',
      env: 'dev',
      account: '',
      host: 'a.example',
      path: "/it's",
      title: '"\n',
      sessionId: 's',
      customerId: 'c',
      status: 'timeout',
      execMs: 0,
      durMs: 0.1,
      bytes: 1e15,
      version: -1.5,
      segments: {
        browser: "it's",
        browserVersion: '18',
        os: 'iOS',
        device: 'phone',
        language: 'de',
        consent: 'denied',
        visitor: 'new',
        country: 'CH',
      },
      weight: 1 / 3,
      violations: ['alr_1', 'alr_2'],
      params: { a: '', b: '{"x": [1]}', ['__proto__']: 'p' },
    },
  ])
  const whole = fixture.events.map((event) => ({ ...event, violated: event.violations !== null }))
  expect(await fixture.wholeEvents()).toEqual(whole)
  for (const step of ['flush', 'merge', 'compact']) {
    await carryOut(fixture, step)
    expect(await fixture.wholeEvents()).toEqual(whole)
  }
})

/** Rewrites all files without the columns for segments, as earlier versions wrote them. */
async function removeSegments(fixture: WarehouseFixture): Promise<void> {
  const segments = Object.keys(EVENT_COLUMNS).filter((name) => Object.hasOwn(NO_SEGMENTS, name))
  for (const file of fixture.manifest.files()) {
    const path = join(fixture.folder, file.path)
    const source = `read_parquet(${quoteText(path)})`
    await fixture.parquet.run(
      `COPY (SELECT * EXCLUDE (${segments.join(', ')}) FROM ${source}) TO ${quoteText(`${path}.old`)} (FORMAT parquet)`,
    )
    renameSync(`${path}.old`, path)
    const measured = await fixture.parquet.measure(file.path)
    fixture.manifest.swap([file], [{ ...file, ...measured, hasSegments: false }])
  }
}

test.each(['flush', 'merge', 'compact'])(
  'events of files without segments are read and merged after %s',
  async (step) => {
    await using fixture = await WarehouseFixture.open()
    const wholeAsStored = () => fixture.events.map((event) => ({ ...event, violated: event.violations !== null }))
    await fixture.add([{ path: '/p/4711', version: 3, params: { a: '1' } }, { violations: ['alr_1'] }])
    await fixture.flush()
    await carryOut(fixture, step)
    await removeSegments(fixture)
    expect(await fixture.wholeEvents()).toEqual(wholeAsStored())
    await fixture.add([{ segments: { browser: 'Safari', consent: 'granted' }, params: { a: '2', b: '3' } }])
    expect(await fixture.wholeEvents()).toEqual(wholeAsStored())
    for (const next of ['flush', 'merge', 'compact']) {
      await carryOut(fixture, next)
      expect(await fixture.wholeEvents()).toEqual(wholeAsStored())
      expect(await fixture.valuesOf(['a', 'b'])).toEqual([
        ['1', null],
        [null, null],
        ['2', '3'],
      ])
      expect(await fixture.query("SELECT count(*) AS n FROM events WHERE browser = 'Safari'")).toEqual([{ n: 1 }])
    }
    expect(fixture.manifest.files().every(({ hasSegments }) => hasSegments)).toBe(true)
  },
)

describe('a query', () => {
  test('returns only the events of its organization and window', async () => {
    const steps = fc.array(
      fc.oneof({ weight: 2, arbitrary: aStep }, { weight: 3, arbitrary: fc.integer({ min: 1, max: 90 }) }),
      { minLength: 3, maxLength: 14 },
    )
    const anInstant = fc.integer({ min: 0, max: 240 }).map((minutes) => HOUR + minutes * MINUTE_MS)
    const questions = fc.array(
      fc.record({
        orgId: fc.constantFrom(null, 'org_1', 'org_2', "org_'3", 'org_4'),
        window: fc
          .tuple(anInstant, anInstant)
          .map(([a, b]): Query['window'] => ({ from: Math.min(a, b), to: Math.max(a, b) })),
      }),
      { minLength: 4, maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(steps, questions, async (steps, questions) => {
        await using fixture = await WarehouseFixture.open()
        for (const step of steps) {
          if (typeof step === 'number') fixture.clock.advance(step * MINUTE_MS)
          else await carryOut(fixture, step)
        }
        // Windows that begin or end between two events.
        const at = fixture.events.map(({ receivedAt }) => receivedAt)
        const exact = [at[0], at[at.length >> 1], at.at(-1)].flatMap((receivedAt) =>
          receivedAt === undefined ? [] : [{ orgId: null, window: { from: receivedAt, to: receivedAt + 1 } }],
        )
        for (const { orgId, window } of [...questions, ...exact]) {
          const seen = fixture.events.filter(
            (event) =>
              (orgId === null || event.orgId === orgId) &&
              event.receivedAt >= window.from &&
              event.receivedAt < window.to,
          )
          const rows = await fixture.query<{ seq: number }>(
            'SELECT seq FROM events ORDER BY seq',
            {},
            { orgId, window },
          )
          expect(rows.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq))
        }
      }),
      { numRuns: 20 },
    )
  })

  test('skips files outside its scope', async () => {
    await using fixture = await WarehouseFixture.open()
    for (const orgId of ['org_1', 'org_2']) {
      await fixture.add([{ orgId }])
      await fixture.flush()
      fixture.clock.advance(HOUR_MS)
    }
    await fixture.compact()
    const [first, second] = fixture.manifest.files()
    if (!first || !second) throw new Error('expected two files')
    // Reading the file would fail, because it is missing.
    await fixture.parquet.remove([`${fixture.folder}/${second.path}`])
    expect(await fixture.count({ orgId: 'org_1' })).toEqual({ rows: 1, events: 1 })
    expect(await fixture.count({ window: { from: 0, to: HOUR + HOUR_MS } })).toEqual({ rows: 1, events: 1 })
    expect(fixture.manifest.damaged()).toEqual([])
    expect(await fixture.count()).toEqual({ rows: 1, events: 1 })
    expect(fixture.manifest.damaged()).toMatchObject([{ file: { path: second.path } }])
  })
})
