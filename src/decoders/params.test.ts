import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  CUT,
  cleanText,
  flattenParams,
  MAX_KEY_LENGTH,
  MAX_PARAMS,
  MAX_VALUE_LENGTH,
  objectsOf,
  readForm,
  readJsonObject,
  readLines,
  readQuery,
  scalarOrNull,
} from './params.ts'

describe('flattenParams', () => {
  const cases: [name: string, source: object, params: Record<string, string>, cut?: string[]][] = [
    [
      'scalars',
      { a: 'x', b: 1.5, c: -0, d: 1e21, e: true, f: null },
      {
        a: 'x',
        b: '1.5',
        c: '0',
        d: '1e+21',
        e: 'true',
        f: '',
      },
    ],
    [
      'nesting',
      { items: [{ id: 7, tags: ['a', 'b'] }] },
      {
        'items.0.id': '7',
        'items.0.tags.0': 'a',
        'items.0.tags.1': 'b',
      },
    ],
    ['empty values', { a: {}, b: [], c: undefined, d: '' }, { d: '' }],
    [
      'names of object properties',
      JSON.parse('{"__proto__": {"x": 1}, "constructor": "y"}'),
      {
        '__proto__.x': '1',
        constructor: 'y',
      },
    ],
    ['lone surrogates and NUL', { 'a\ud800': '\udc00b\0', ok: '😀' }, { 'a\ufffd': '\ufffdb\ufffd', ok: '😀' }],
    ['a duplicate path', { 'a.b': 1, a: { b: 2 } }, { 'a.b': '1' }, [CUT.twice]],
    ['a long key', { ['k'.repeat(201)]: 1 }, { ['k'.repeat(200)]: '1' }, [CUT.key]],
    [
      'a long value',
      { a: 'x'.repeat(4001), b: 'y'.repeat(4000) },
      { a: 'x'.repeat(4000), b: 'y'.repeat(4000) },
      [CUT.value],
    ],
  ]
  test.each(cases)('handles %s', (_name, source, params, cut = []) => {
    const flattened = flattenParams(source)
    expect(Object.entries(flattened.params)).toEqual(Object.entries(params))
    expect(flattened.cut).toEqual(cut)
  })

  test('returns the first 500 parameters and reports the truncation', () => {
    const source = { list: Array.from({ length: 600 }, (_, index) => index), after: 1 }
    const { params, cut } = flattenParams(source)
    expect(Object.keys(params)).toHaveLength(MAX_PARAMS)
    expect(params['list.499']).toBe('499')
    expect(cut).toEqual([CUT.count])
  })

  test('is not slowed down by dropped parameters', () => {
    const wide = { list: Array.from({ length: 1_000_000 }, () => 1) }
    const startedAt = performance.now()
    expect(flattenParams(wide).cut).toEqual([CUT.count])
    expect(performance.now() - startedAt).toBeLessThan(100)
  })

  test('limits the nesting depth', () => {
    const source = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)
    expect(flattenParams(source)).toMatchObject({ params: {}, cut: [CUT.key] })
  })

  test('respects its limits for any input', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 190, maxLength: 5000 }))
    const tree = fc.object({ key: text, values: [text, fc.double(), fc.boolean(), fc.constant(null)], maxDepth: 4 })
    fc.assert(
      fc.property(tree, (source) => {
        const entries = Object.entries(flattenParams(source).params)
        expect(entries.length).toBeLessThanOrEqual(MAX_PARAMS)
        for (const [key, value] of entries) {
          expect(key.length).toBeLessThanOrEqual(MAX_KEY_LENGTH)
          expect(value.length).toBeLessThanOrEqual(MAX_VALUE_LENGTH)
          expect(key.isWellFormed() && value.isWellFormed() && !`${key}${value}`.includes('\0')).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('keeps everything that is within its limits', () => {
    const key = fc.stringMatching(/^[a-z]{1,8}$/)
    fc.assert(
      fc.property(fc.dictionary(key, fc.string({ unit: 'grapheme', maxLength: 100 }), { maxKeys: 50 }), (source) => {
        const { params, cut } = flattenParams({ wrapped: source })
        expect(params).toEqual(
          Object.fromEntries(Object.entries(source).map(([k, v]) => [`wrapped.${k}`, cleanText(v)])),
        )
        expect(cut).toEqual([])
      }),
    )
  })
})

describe('readQuery', () => {
  const cases: [text: string, params: Record<string, string>][] = [
    ['', {}],
    ['?', {}],
    ['?a=1&b=x+y%20z&c', { a: '1', b: 'x y z', c: '' }],
    ['a==1&&=v', { a: '=1', '': 'v' }],
    ['cd%5Bvalue%5D=%E2%82%AC', { 'cd[value]': '€' }],
    ['a=1&a=2&b=x&a=3', { a: '1', 'a.1': '2', b: 'x', 'a.2': '3' }],
    ['a=%E9t%E9&b=100%&%zz=+', { a: '%E9t%E9', b: '100%', '%zz': ' ' }],
    ['__proto__=1&constructor=2', { ['__proto__']: '1', constructor: '2' }],
  ]
  test.each(cases)('parses %j', (text, params) => {
    expect(Object.entries(readQuery(text))).toEqual(Object.entries(params))
  })

  test('agrees with URLSearchParams on queries encoded by browsers', () => {
    const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(part, part), { selector: ([key]) => key, maxLength: 20 }), (pairs) => {
        const sent = new URLSearchParams(pairs).toString()
        expect(Object.entries(readQuery(sent)).sort()).toEqual([...new URLSearchParams(sent)].sort())
      }),
    )
  })

  test('limits the parameters of a hostile form', () => {
    expect(Object.keys(readQuery('a&'.repeat(500_000))).length).toBeLessThanOrEqual(2 * MAX_PARAMS)
  })
})

describe('readForm', () => {
  const part = (name: string, value: string, more = '') =>
    `--X\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`

  const cases: [name: string, body: string, params: Record<string, string>][] = [
    ['urlencoded', ' a=1&b=2\n', { a: '1', b: '2' }],
    [
      'multipart',
      `${part('cd[a]', 'x=1&y')}${part('b', 'line\r\nline')}--X--\r\n`,
      {
        'cd[a]': 'x=1&y',
        b: 'line\r\nline',
      },
    ],
    ['a repeated field', `${part('a', '1')}${part('a', '2')}--X--`, { a: '1', 'a.1': '2' }],
    ['an escaped name', part('a%22b', '1'), { 'a"b': '1' }],
    ['a file', `${part('a', '1')}${part('f', 'bytes', '; filename="x.png"')}--X--`, { a: '1' }],
    ['a truncated body', part('a', '1').slice(0, -5), {}],
    ['only a boundary', '--X form-data', {}],
  ]
  test.each(cases)('reads %s', (_name, body, params) => {
    expect({ ...readForm(body) }).toEqual(params)
  })
})

test.each([
  [null, 'the body is missing'],
  ['', 'the body is missing'],
  ['{"a":', 'the body is not JSON'],
  ['[1]', 'the body is not a JSON object'],
  ['null', 'the body is not a JSON object'],
])('readJsonObject rejects %j', (text, message) => {
  expect(() => readJsonObject(text)).toThrow(message)
})

test('readJsonObject, readLines, objectsOf and scalarOrNull read valid input and skip the rest', () => {
  expect(readJsonObject('{"a":[1]}')).toEqual({ a: [1] })
  expect(readLines('a\r\n\r\n  \nb')).toEqual(['a\r', 'b'])
  expect(objectsOf([{ a: 1 }, null, 2, [3], { b: 2 }])).toEqual([{ a: 1 }, { b: 2 }])
  expect(objectsOf('x')).toEqual([])
  expect([0, '', null, Number.POSITIVE_INFINITY, false, {}].map(scalarOrNull)).toEqual([
    '0',
    null,
    null,
    null,
    'false',
    null,
  ])
})
