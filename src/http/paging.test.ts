import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { Closed, parser } from '../core/schema.ts'
import {
  DEFAULT_LIMIT,
  decodeCursor,
  encodeCursor,
  type PageRequest,
  pagingFields,
  readPage,
  sortField,
} from './paging.ts'

const aPart = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
)

function refusal(cursor: string, length: number): string {
  try {
    return `was taken: ${JSON.stringify(decodeCursor(cursor, length))}`
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid') throw error
    return error.message
  }
}

describe('a pagination cursor', () => {
  test('decodes to its original values', () => {
    fc.assert(
      fc.property(fc.array(aPart, { maxLength: 4 }), (place) => {
        const cursor = encodeCursor(place)
        expect(encodeURIComponent(cursor)).toBe(cursor)
        // JSON has no -0, and UTF-8 can't represent lone surrogates.
        const asText = place.map((part) => (typeof part === 'string' ? part.toWellFormed() : part === 0 ? 0 : part))
        expect(decodeCursor(cursor, place.length)).toEqual(asText)
      }),
    )
  })

  test('that is omitted starts at the beginning', () => {
    expect(decodeCursor(undefined, 2)).toBeNull()
  })

  test('is rejected if it is invented or from another list', () => {
    const foreign = [
      encodeCursor([]),
      encodeCursor(['a']),
      encodeCursor(['a', 1, 2]),
      Buffer.from('[1, {}]').toString('base64url'),
      Buffer.from('[1, true]').toString('base64url'),
      Buffer.from('[1, [2]]').toString('base64url'),
      Buffer.from('[1, 1e999]').toString('base64url'),
      Buffer.from('{"0": 1, "length": 2}').toString('base64url'),
      Buffer.from('null').toString('base64url'),
      '',
      'x',
      '%%%',
    ]
    for (const cursor of foreign) expect(refusal(cursor, 2)).toBe('cursor: is not valid for this list')
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => /^(cursor: |was taken: )/.test(refusal(text, 1))))
  })
})

describe('the pages of a list', () => {
  const db = memoryDb()
  const read = (page: PageRequest, { values, descending }: { values: readonly number[]; descending: boolean }) =>
    readPage(db, page, {
      sql: 'SELECT value FROM json_each(@values) WHERE value <> @omitted',
      values: { values: JSON.stringify(values), omitted: 0 },
      sortBy: 'value',
      descending,
      itemOf: (row: { value: number }) => row.value * 2,
    })

  function readAll(limit: number, list: { values: readonly number[]; descending: boolean }): number[][] {
    const pages: number[][] = []
    let cursor: string | undefined
    for (;;) {
      const { items, nextCursor } = read({ limit, cursor }, list)
      pages.push(items)
      if (nextCursor === null) return pages
      cursor = nextCursor
    }
  }

  test('contain every row once in order, and only the single page of an empty list is empty', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer(), { maxLength: 30 }),
        fc.integer({ min: 1, max: 10 }),
        fc.boolean(),
        (values, limit, descending) => {
          const pages = readAll(limit, { values, descending })
          const rows = values.filter((value) => value !== 0).sort((a, b) => (descending ? b - a : a - b))
          expect(pages.flat()).toEqual(rows.map((value) => value * 2))
          expect(pages.length).toBe(Math.max(1, Math.ceil(rows.length / limit)))
        },
      ),
    )
  })

  test('have 50 items by default', () => {
    const values = Array.from({ length: 51 }, (_, index) => index + 1)
    expect(read({}, { values, descending: false }).items).toHaveLength(DEFAULT_LIMIT)
  })

  test('are not read after a cursor from another list', () => {
    const list = { values: [1], descending: false }
    expect(() => read({ cursor: encodeCursor([1, 2]) }, list)).toThrow(
      new AppError('invalid', 'cursor: is not valid for this list'),
    )
  })
})

describe('the paging fields of a list query', () => {
  const parse = parser(Closed(pagingFields))

  test.each([[{}], [{ limit: 1 }], [{ limit: 200 }], [{ limit: DEFAULT_LIMIT, cursor: 'x'.repeat(500) }]])(
    'accept %j',
    (query) => {
      expect(parse(query)).toEqual(query)
    },
  )

  test.each<[unknown, string]>([
    [{ limit: 0 }, 'limit: '],
    [{ limit: 201 }, 'limit: '],
    [{ limit: 1.5 }, 'limit: '],
    [{ cursor: 'x'.repeat(501) }, 'cursor: '],
    [{ offset: 1 }, 'offset: '],
  ])('reject %j', (query, where) => {
    expect(() => parse(query)).toThrow(where)
  })
})

describe('a sorted list', () => {
  interface Row {
    id: number
    name: string
    at: number | null
  }
  const aRow = fc.record({
    name: fc.constantFrom('a', 'B', 'b', 'é', '', '-1'),
    at: fc.option(fc.integer({ min: -2, max: 2 })),
  })
  const orders = { name: 'lower(name)', at: 'ifnull(at, -9)' }
  const valuesBy = { name: ({ name }: Row) => name.replace('B', 'b'), at: ({ at }: Row) => at ?? -9 }
  const inOrder = (a: string | number, b: string | number) =>
    typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : a - Number(b)

  test('has every row once in order, and rows added or removed meanwhile do not move others', () => {
    const cases = fc.record({
      rows: fc.array(aRow, { maxLength: 30 }),
      sort: fc.constantFrom('name', '-name', 'at', '-at'),
      limit: fc.integer({ min: 1, max: 7 }),
      added: aRow,
    })
    fc.assert(
      fc.property(cases, ({ rows, sort, limit, added }) => {
        const db = memoryDb()
        db.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, at INTEGER)')
        const insert = db.prepare('INSERT INTO thing (name, at) VALUES (@name, @at)')
        for (const row of rows) insert.run(row)
        const sql = 'SELECT * FROM thing WHERE id > @least'
        const read = (page: PageRequest) =>
          readPage(db, page, { sql, values: { least: 0 }, sortBy: 'id', sort, orders, itemOf: (row: Row) => row })
        const field = sort.replace('-', '') as 'name' | 'at'
        const sign = sort.startsWith('-') ? -1 : 1
        const compare = (a: Row, b: Row) => sign * (inOrder(valuesBy[field](a), valuesBy[field](b)) || a.id - b.id)
        const expected = rows.map((row, index): Row => ({ id: index + 1, ...row })).sort(compare)
        const found: Row[] = []
        let cursor: string | null | undefined
        do {
          const { items, nextCursor } = read({ limit, cursor: cursor ?? undefined })
          found.push(...items)
          // The last row of the page is removed, and another one is added.
          const last = items.at(-1)
          if (last) db.prepare('DELETE FROM thing WHERE id = ?').run(last.id)
          if (cursor === undefined) insert.run(added)
          cursor = nextCursor
        } while (cursor !== null)
        const isOld = ({ id }: Row) => id <= rows.length
        expect(found.filter(isOld)).toEqual(expected)
        expect(found).toEqual(found.toSorted(compare))
        db.close()
      }),
      { numRuns: 60 },
    )
  })

  test('rejects the cursor of another order', () => {
    const db = memoryDb()
    db.exec(`CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO thing (name) VALUES ('a'), ('b')`)
    const read = (sort: string | undefined, page: PageRequest) =>
      readPage(db, page, {
        sql: 'SELECT * FROM thing WHERE id > 0',
        values: {},
        sortBy: 'id',
        sort,
        orders,
        itemOf: (row: Row) => row,
      })
    const cursorOf = (sort: string | undefined) => read(sort, { limit: 1 }).nextCursor ?? undefined
    expect(() => read('-name', { cursor: cursorOf('name') })).toThrow('cursor: is not valid for a list sorted by -name')
    expect(() => read('name', { cursor: cursorOf(undefined) })).toThrow('cursor: is not valid')
    expect(() => read(undefined, { cursor: cursorOf('name') })).toThrow('cursor: is not valid')
  })

  test('names its fields when another one is requested', () => {
    const parse = parser(Closed({ sort: sortField(['name', 'at'], 'name') }))
    expect(() => parse({ sort: 'id' }, 'query')).toThrow('query.sort: must be one of name, -name, at, -at')
  })
})
