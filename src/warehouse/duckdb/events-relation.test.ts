import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import type { StoredEvent } from '../../core/event.ts'
import type { Query } from '../query.ts'
import { aKey, anEvent, type EventFields, HOUR, NASTY_KEYS, paramOf, WarehouseFixture } from '../warehouse.fixture.ts'

/** Converts parameters to entries, because maps have no order. */
const entriesOf = (events: readonly StoredEvent[]) =>
  events.map(({ seq, params }) => [seq, Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))])

/** A step that the fixture performs between batches. */
const aStep = fc.oneof(
  { weight: 3, arbitrary: fc.array(anEvent, { minLength: 1, maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('flush', 'merge', 'compact') },
)

async function carryOut(stand: WarehouseFixture, step: EventFields[] | string): Promise<void> {
  if (typeof step !== 'string') await stand.add(step)
  else if (step === 'flush') await stand.flush()
  else if (step === 'merge') await stand.merge()
  else await stand.compact()
}

describe('a parameter', () => {
  test('has the same value in the spool, the map, a column or any combination', async () => {
    const steps = fc.array(aStep, { minLength: 1, maxLength: 8 })
    const keys = fc.uniqueArray(aKey, { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, keys, async (steps, keys) => {
        await using stand = await WarehouseFixture.open()
        for (const step of steps) await carryOut(stand, step)
        const expectAll = async () => {
          const values = stand.events.map((event) => keys.map((key) => paramOf(event, key)))
          expect(await stand.valuesOf(keys)).toEqual(values)
          expect(entriesOf(await stand.wholeEvents())).toEqual(entriesOf(stand.events))
          const both = await stand.query<StoredEvent>(
            'SELECT * FROM events ORDER BY seq',
            {},
            { keys, wholeParams: true },
          )
          expect(entriesOf(both)).toEqual(entriesOf(stand.events))
        }
        await expectAll()
        await stand.flush()
        await stand.compact()
        expect(new Set(stand.levels()).size).toBeLessThanOrEqual(1)
        await expectAll()
      }),
      { numRuns: 15 },
    )
  })

  test('with any unusual name is distinct from all others, before and after compaction', async () => {
    await using stand = await WarehouseFixture.open()
    for (const [at, key] of NASTY_KEYS.entries()) await stand.add([{ params: Object.fromEntries([[key, `${at}`]]) }])
    const expected = NASTY_KEYS.map((_, row) => NASTY_KEYS.map((_, at) => (row === at ? `${at}` : null)))
    expect(await stand.valuesOf(NASTY_KEYS)).toEqual(expected)
    await stand.flush()
    expect(await stand.valuesOf(NASTY_KEYS)).toEqual(expected)
    await stand.compact()
    expect(stand.manifest.files()[0]?.keys?.toSorted()).toEqual([...NASTY_KEYS].toSorted())
    expect(await stand.valuesOf(NASTY_KEYS)).toEqual(expected)
    // Queried together with an hour that is not compacted yet.
    await stand.add([{ params: { a: 'fresh' } }])
    await stand.flush()
    expect(await stand.valuesOf(['a', 'A'])).toEqual([
      ...expected.map((row) => [row[8] ?? null, row[9] ?? null]),
      ['fresh', null],
    ])
  })

  test('that is rare is stored in the map', async () => {
    await using stand = await WarehouseFixture.open()
    const events = Array.from({ length: 400 }, (_, n) => ({
      params: {
        common: `c${n}`,
        ...(n === 7 ? { Rare: 'r', __proto__x: '' } : {}),
        ...(n % 50 === 0 ? { some: `${n}` } : {}),
      },
    }))
    await stand.add(events)
    await stand.flush()
    await stand.compact()
    expect(stand.manifest.files()[0]?.keys).toEqual(['common', 'some'])
    const keys = ['common', 'some', 'Rare', '__proto__x', 'rare']
    expect(await stand.valuesOf(keys)).toEqual(stand.events.map((event) => keys.map((key) => paramOf(event, key))))
    expect(entriesOf(await stand.wholeEvents())).toEqual(entriesOf(stand.events))
  })

  test('that exists in no event is null, not an error', async () => {
    await using stand = await WarehouseFixture.open()
    const keys = ['a\0b', '\0', 'a\ud800']
    expect(await stand.valuesOf(keys)).toEqual([])
    await stand.add([{ params: { a: '1' } }])
    expect(await stand.valuesOf(keys)).toEqual([[null, null, null]])
    await stand.flush()
    await stand.compact()
    expect(await stand.valuesOf(keys)).toEqual([[null, null, null]])
  })

  test('can be requested twice', async () => {
    await using stand = await WarehouseFixture.open()
    await stand.add([{ params: { a: '1' } }])
    const ask = () => stand.query('SELECT "p:a" AS a FROM events', {}, { keys: ['a', 'a'] })
    expect(await ask()).toEqual([{ a: '1' }])
    await stand.flush()
    await stand.compact()
    expect(await ask()).toEqual([{ a: '1' }])
  })

  test("that is not requested costs nothing: the relation has only the event's and the requested columns", async () => {
    await using stand = await WarehouseFixture.open()
    const columnsOf = async () =>
      (
        await stand.query<{ column_name: string }>('SELECT * FROM (DESCRIBE SELECT * FROM events)', {}, { keys: ['A'] })
      ).map(({ column_name }) => column_name)
    const empty = await columnsOf()
    expect(empty.slice(-3)).toEqual(['violations', 'violated', 'p:^a'])
    await stand.add([{ params: { A: '1', b: '2' } }])
    expect(await columnsOf()).toEqual(empty)
    await stand.flush()
    expect(await columnsOf()).toEqual(empty)
    await stand.compact()
    expect(await columnsOf()).toEqual(empty)
  })
})

test('a whole event equals the stored one, including types, wherever it is stored', async () => {
  await using stand = await WarehouseFixture.open()
  await stand.add([
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
      weight: 1 / 3,
      violations: ['alr_1', 'alr_2'],
      params: { a: '', b: '{"x": [1]}', ['__proto__']: 'p' },
    },
  ])
  const whole = stand.events.map((event) => ({ ...event, violated: event.violations !== null }))
  expect(await stand.wholeEvents()).toEqual(whole)
  for (const step of ['flush', 'merge', 'compact']) {
    await carryOut(stand, step)
    expect(await stand.wholeEvents()).toEqual(whole)
  }
})

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
        await using stand = await WarehouseFixture.open()
        for (const step of steps) {
          if (typeof step === 'number') stand.clock.advance(step * MINUTE_MS)
          else await carryOut(stand, step)
        }
        // Windows whose boundaries fall between two events.
        const at = stand.events.map(({ receivedAt }) => receivedAt)
        const exact = [at[0], at[at.length >> 1], at.at(-1)].flatMap((receivedAt) =>
          receivedAt === undefined ? [] : [{ orgId: null, window: { from: receivedAt, to: receivedAt + 1 } }],
        )
        for (const { orgId, window } of [...questions, ...exact]) {
          const seen = stand.events.filter(
            (event) =>
              (orgId === null || event.orgId === orgId) &&
              event.receivedAt >= window.from &&
              event.receivedAt < window.to,
          )
          const rows = await stand.query<{ seq: number }>('SELECT seq FROM events ORDER BY seq', {}, { orgId, window })
          expect(rows.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq))
        }
      }),
      { numRuns: 20 },
    )
  })

  test('skips files outside its scope', async () => {
    await using stand = await WarehouseFixture.open()
    for (const orgId of ['org_1', 'org_2']) {
      await stand.add([{ orgId }])
      await stand.flush()
      stand.clock.advance(HOUR_MS)
    }
    await stand.compact()
    const [first, second] = stand.manifest.files()
    if (!first || !second) throw new Error('expected two files')
    // If the file were read, it would be found to be missing.
    await stand.parquet.remove([`${stand.folder}/${second.path}`])
    expect(await stand.count({ orgId: 'org_1' })).toEqual({ rows: 1, events: 1 })
    expect(await stand.count({ window: { from: 0, to: HOUR + HOUR_MS } })).toEqual({ rows: 1, events: 1 })
    expect(stand.manifest.damaged()).toEqual([])
    expect(await stand.count()).toEqual({ rows: 1, events: 1 })
    expect(stand.manifest.damaged()).toMatchObject([{ file: { path: second.path } }])
  })
})
