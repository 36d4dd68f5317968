import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { insideJson, productsOf, withEmbedded } from './embedded-params.ts'

describe('named parameters', () => {
  test('are added to the existing parameters, even if several have the same name', () => {
    const name = fc.constantFrom('a', 'a.1', 'a.2', 'a.1.1', 'b', '__proto__', 'constructor')
    const named = fc.array(fc.tuple(name, fc.stringMatching(/^[x-z]{1,3}$/)), { maxLength: 40 })
    fc.assert(
      fc.property(fc.dictionary(name, fc.string()), named, (sent, pairs) => {
        const params = withEmbedded(sent, pairs)
        expect(params).toMatchObject(sent)
        const added = Object.entries(params).filter(([key]) => !Object.hasOwn(sent, key))
        expect(added.map(([, value]) => value).sort()).toEqual(pairs.map(([, value]) => value).sort())
      }),
    )
  })

  test('omit empty values and are limited to 500', () => {
    expect(
      withEmbedded({ a: '1' }, [
        ['b', ''],
        ['c', undefined],
        ['d', null],
        ['e', 0],
      ]),
    ).toEqual({ a: '1', e: 0 })
    const many = Array.from({ length: 2000 }, (_, index) => [`n${index}`, 'x'] as const)
    expect(Object.keys(withEmbedded({}, many))).toHaveLength(500)
  })
})

test.each([
  ['{"a":{"b":1},"c":[true]}', { 'k.a.b': '1', 'k.c.0': 'true' }],
  ['{"a":', {}],
  ['text', {}],
  ['{}', {}],
  [undefined, {}],
])('insideJson reads the parameters in %p', (text, expected) => {
  expect(Object.fromEntries(insideJson({ k: text }, 'k'))).toEqual(expected)
})

test('parallel lists of products are combined, up to 100 entries', () => {
  const named = [...productsOf({ s: 'A|B|', q: '1' }, { s: 'sku', q: 'quantity', n: 'name' }, '|')]
  expect(named).toEqual([
    ['products.0.sku', 'A'],
    ['products.1.sku', 'B'],
    ['products.2.sku', ''],
    ['products.0.quantity', '1'],
  ])
  expect([...productsOf({ s: '|'.repeat(5000) }, { s: 'sku' }, '|')]).toHaveLength(100)
})
