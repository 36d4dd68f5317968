import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../core/error.ts'
import { encodeCursor } from '../http/paging.ts'
import { MAX_ANSWER_LENGTH, pageOf, shorterPage } from './answer-pages.ts'

type Fields = Record<string, unknown>

const lengthOf = (value: unknown) => JSON.stringify(value).length
const texts = (count: number, length: number) => Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, 'x'))

/** Returns all pages of a response. */
function pagesOf(answer: Fields) {
  const pages = [pageOf('get_it', answer, undefined)]
  for (;;) {
    const cursor = pages.at(-1)?.answer.nextCursor
    if (typeof cursor !== 'string') return pages
    pages.push(pageOf('get_it', answer, cursor))
    expect(pages.length).toBeLessThan(1000)
  }
}

describe('the response of a route without paging', () => {
  test('is complete if it is short', () => {
    const answer = { vendors: texts(100, 300), total: 100 }
    expect(pageOf('get_it', answer, undefined)).toEqual({ answer, note: null })
  })

  test('is split into pages, each with a note on how to continue', () => {
    const answer = { total: 3, vendors: texts(3, 15_000) }
    const [first, second, ...none] = pagesOf(answer)
    expect(none).toEqual([])
    expect(first?.answer).toMatchObject({ total: 3, vendors: answer.vendors.slice(0, 2) })
    expect(first?.note).toBe(
      `vendors: 1 to 2 of 3. To continue, call get_it again with the same arguments and "cursor": "${first?.answer.nextCursor}".`,
    )
    expect(second).toEqual({
      answer: { total: 3, vendors: answer.vendors.slice(2), nextCursor: null },
      note: 'vendors: 3 to 3 of 3.',
    })
  })

  test('is split into pages with all items in order, and only a page with a single item may exceed the limit', () => {
    const items = fc.array(fc.integer({ min: 1, max: 15_000 }), { minLength: 2, maxLength: 30 })
    fc.assert(
      fc.property(items, fc.array(fc.string(), { maxLength: 5 }), fc.string(), (lengths, others, name) => {
        fc.pre(name !== '__proto__')
        const list = lengths.map((length, at) => ({ at, text: 'y'.repeat(length) }))
        const answer: Fields = { others, 'a.b': { [name]: list }, n: null }
        const pages = pagesOf(answer)
        const found = pages.flatMap(({ answer: shown }) => {
          const items = (shown['a.b'] as Fields)[name] as { at: number }[]
          expect(shown).toMatchObject({ others, n: null })
          if (items.length > 1)
            expect(lengthOf({ ...shown, nextCursor: undefined })).toBeLessThanOrEqual(MAX_ANSWER_LENGTH)
          return items
        })
        expect(found).toEqual(list)
        if (pages.length > 1) expect(pages.every(({ note }) => note !== null)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('is not split if it has no list or only a single item', () => {
    for (const answer of [{ vendors: texts(1, 90_000) }, { text: 'x'.repeat(90_000) }]) {
      expect(pageOf('get_it', answer, undefined)).toEqual({ answer, note: null })
    }
    const [first, second] = pagesOf({ vendors: texts(2, 90_000) })
    expect([first?.answer.vendors, second?.answer.vendors]).toEqual([
      texts(2, 90_000).slice(0, 1),
      texts(2, 90_000).slice(1),
    ])
  })

  test('ends if the list has become too short for the cursor', () => {
    const cursor = pageOf('get_it', { vendors: texts(9, 9000) }, undefined).answer.nextCursor as string
    const { answer, note } = pageOf('get_it', { vendors: [1] }, cursor)
    expect([answer, note]).toEqual([{ vendors: [], nextCursor: null }, 'vendors: none of 1.'])
  })

  test.each([
    'nonsense',
    encodeCursor([JSON.stringify(['vendors']), 0]),
    encodeCursor([JSON.stringify(['vendors']), -1]),
    encodeCursor([JSON.stringify(['vendors']), 1.5]),
    encodeCursor([JSON.stringify(['total']), 1]),
    encodeCursor([JSON.stringify(['nothing']), 1]),
    encodeCursor(['vendors', 1]),
    encodeCursor([null, null]),
    encodeCursor([1]),
  ])('rejects the cursor %p', (cursor) => {
    const refused = new AppError('invalid', 'cursor: is not valid for this list')
    expect(() => pageOf('get_it', { vendors: [1, 2], total: 2 }, cursor)).toThrow(refused)
  })
})

describe('the response of a route with paging', () => {
  const all = texts(200, 1000)
  /** Returns a handler that responds like a list route with 200 items of 1,000 characters each. */
  const listFrom =
    (start: number, asked: number[] = []) =>
    async (limit: number) => {
      asked.push(limit)
      const end = Math.min(all.length, start + limit)
      return { items: all.slice(start, end), nextCursor: end < all.length ? String(end) : null }
    }

  test('is requested again with fewer items until it fits, and has a note on how to continue', async () => {
    const found: string[] = []
    let cursor: string | null = '0'
    while (cursor !== null) {
      const ask = listFrom(Number(cursor))
      const { answer, note } = await shorterPage('list_it', await ask(100), ask)
      expect(lengthOf(answer)).toBeLessThanOrEqual(MAX_ANSWER_LENGTH)
      cursor = answer.nextCursor as string | null
      if (cursor === null) expect(note).toBeNull()
      else expect(note).toEndWith(`To continue, call list_it again with the same arguments and "cursor": "${cursor}".`)
      found.push(...(answer.items as string[]))
    }
    expect(found).toEqual(all)
  })

  test('is not requested again if it fits', async () => {
    const asked: number[] = []
    const ask = listFrom(0, asked)
    const first = await ask(10)
    const { answer, note } = await shorterPage('list_it', first, ask)
    expect([answer, asked]).toEqual([first, [10]])
    expect(note).toBe('To continue, call list_it again with the same arguments and "cursor": "10".')
    const last = await listFrom(195)(10)
    expect(await shorterPage('list_it', last, ask)).toEqual({ answer: last, note: null })
  })

  test('contains one complete item if a single item is too long', async () => {
    const ask = async (limit: number) => ({ items: texts(limit, 90_000), nextCursor: `${limit}` })
    const { answer, note } = await shorterPage('list_it', await ask(7), ask)
    expect(answer).toEqual({ items: texts(1, 90_000), nextCursor: '1' })
    expect(note).toStartWith('Only 1 of 7 items are included, because more would be too long. ')
  })
})
