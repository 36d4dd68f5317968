import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StoredEvent } from '../../core/event.ts'
import type { AnyTest } from '../query.ts'
import { aKey, anEvent, aValue, NASTY_KEYS, paramOf, plainQuery, WarehouseFixture } from '../warehouse.fixture.ts'

const aBatch = fc.record({
  events: fc.array(anEvent, { minLength: 1, maxLength: 12 }),
  work: fc.constantFrom('nothing', 'flush', 'merge', 'compact'),
})

/** True for parameters that equal a value, unless their name begins with the excluded letter. */
const equalTo = (value: string, leftOut: string): AnyTest & { holds(event: StoredEvent): boolean } => ({
  column: 'any0',
  of: (key) => (key?.startsWith(leftOut) ? '(1 = 0)' : '({value} = $wanted)'),
  holds: ({ params }) => Object.entries(params).some(([key, own]) => own === value && !key.startsWith(leftOut)),
})

test('a condition on any parameter matches in columns, maps and the spool, and builds no maps for other events', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aBatch, { minLength: 1, maxLength: 4 }),
      aValue,
      fc.option(aKey, { nil: 'a' }),
      async (batches, wanted, read) => {
        await using fixture = await WarehouseFixture.open()
        for (const { events, work } of batches) {
          await fixture.add(events)
          if (work !== 'nothing') await fixture.flush()
          if (work === 'merge') await fixture.merge()
          if (work === 'compact') await fixture.compact()
        }
        // Keys never begin with NUL, so no parameter is excluded. Only keys with their own column can be excluded, so
        // an exclusion would make results depend on how files store parameters.
        const own = equalTo(wanted, '\0')
        const found = await fixture.warehouse.query<StoredEvent>(
          plainQuery({
            sql: 'SELECT * FROM events ORDER BY seq',
            params: { wanted },
            keys: [read],
            wholeParams: true,
            anyTests: [own],
            where: `any0 AND vendor <> ''`,
            orgId: null,
            window: { from: 0, to: Number.MAX_SAFE_INTEGER },
          }),
        )
        const expected = fixture.events.filter((event) => own.holds(event) && event.vendor !== '')
        expect(found.map(({ seq, params }) => ({ seq, params }))).toEqual(
          expected.map(({ seq, params }) => ({ seq, params })),
        )
        const without = await fixture.warehouse.query<{ seq: number; any0: boolean }>(
          plainQuery({
            sql: 'SELECT seq, any0 FROM events ORDER BY seq',
            params: { wanted },
            keys: [],
            anyTests: [own],
            orgId: null,
            window: { from: 0, to: Number.MAX_SAFE_INTEGER },
          }),
        )
        expect(without).toEqual(fixture.events.map((event) => ({ seq: event.seq, any0: own.holds(event) })))
      },
    ),
    { numRuns: 40 },
  )
})

test('parameters that are too rare for a column are found in the map', async () => {
  await using fixture = await WarehouseFixture.open()
  await fixture.add(
    Array.from({ length: 150 }, (_, n) => ({ params: { often: 'x', ...(n === 77 ? { seldom: 'needle' } : {}) } })),
  )
  await fixture.flush()
  await fixture.compact()
  expect(fixture.manifest.files().map(({ keys }) => keys)).toEqual([['often']])
  const found = await fixture.warehouse.query<StoredEvent>(
    plainQuery({
      sql: 'SELECT params FROM events',
      params: { wanted: 'needle' },
      keys: [],
      wholeParams: true,
      anyTests: [equalTo('needle', '\0')],
      where: 'any0',
      orgId: null,
      window: { from: 0, to: Number.MAX_SAFE_INTEGER },
    }),
  )
  expect(found).toEqual([expect.objectContaining({ params: { often: 'x', seldom: 'needle' } })])
})

test('a column is not read when its name alone determines the result', async () => {
  await using fixture = await WarehouseFixture.open()
  const params = { apple: 'x', pear: 'y' }
  await fixture.add(Array.from({ length: 3 }, () => ({ params })))
  await fixture.flush()
  await fixture.compact()
  const count = async (wanted: string) => {
    const rows = await fixture.warehouse.query(
      plainQuery({
        sql: 'SELECT seq FROM events',
        params: { wanted },
        keys: [],
        anyTests: [equalTo(wanted, 'a')],
        where: 'any0',
        orgId: null,
        window: { from: 0, to: Number.MAX_SAFE_INTEGER },
      }),
    )
    return rows.length
  }
  expect(fixture.events.map((event) => paramOf(event, 'apple'))).toEqual(['x', 'x', 'x'])
  expect([await count('x'), await count('y')]).toEqual([0, 3])
})

test('queries with bound values succeed without any stored events', async () => {
  await using fixture = await WarehouseFixture.open()
  const query = { sql: 'SELECT seq FROM events', keys: [...NASTY_KEYS], orgId: 'org_1' }
  const own = equalTo('x', 'a')
  const window = { from: 0, to: 1 }
  const asked = { ...query, params: { wanted: 'x' }, anyTests: [own], where: 'any0', wholeParams: true, window }
  expect(await fixture.warehouse.query(plainQuery(asked))).toEqual([])
})
