import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { aKey, NASTY_KEYS, WarehouseFixture } from '../warehouse.fixture.ts'
import { columnName, quoteName, quoteText } from './duckdb-dialect.ts'

const fixture = await WarehouseFixture.open()
afterAll(() => fixture[Symbol.asyncDispose]())
const { parquet } = fixture

/** Simulates how DuckDB compares identifiers: the case of ASCII letters is ignored. */
const folded = (name: string) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

describe('the column name', () => {
  test.each([
    ['userid', 'p:userid'],
    ['userId', 'p:user^id'],
    ['^', 'p:^^'],
    ['', 'p:'],
    ['ep.value', 'p:ep.value'],
    ['É', 'p:^201;'],
  ])('for the key %p is %p', (key, name) => {
    expect(columnName(key)).toBe(name)
  })

  test('is different for different keys, even under case-insensitive comparison', () => {
    fc.assert(
      fc.property(aKey, aKey, (a, b) => {
        fc.pre(a !== b)
        const [one, two] = [columnName(a), columnName(b)]
        expect(folded(one)).not.toBe(folded(two))
        expect(one.toLowerCase()).not.toBe(two.toLowerCase())
      }),
      { numRuns: 3000 },
    )
    const names = NASTY_KEYS.map(columnName)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
  })

  test('can be used with all other column names in one table', async () => {
    const columns = NASTY_KEYS.map((key, at) => `${at} AS ${quoteName(columnName(key))}`).join(', ')
    for (const [at, key] of NASTY_KEYS.entries()) {
      const rows = await parquet.run(`SELECT ${quoteName(columnName(key))} AS n FROM (SELECT ${columns})`)
      expect(rows).toEqual([{ n: at }])
    }
  })
})

test('a quoted string evaluates to exactly that string', async () => {
  const aText = fc.oneof(aKey, fc.constantFrom("'; DROP TABLE x; --", "\\'", "''", "'||version()||'", '$1', '%'))
  await fc.assert(
    fc.asyncProperty(aText, async (text) => {
      expect(await parquet.run(`SELECT ${quoteText(text)} AS text`)).toEqual([{ text }])
    }),
  )
})

test('a quoted name is a single identifier', async () => {
  await fc.assert(
    fc.asyncProperty(aKey, async (key) => {
      const name = columnName(key)
      expect(await parquet.run(`SELECT 1 AS ${quoteName(name)}`)).toEqual([{ [name]: 1 }])
    }),
  )
})
