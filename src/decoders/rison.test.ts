import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readRison } from './rison.ts'

const cases: [text: string, value: unknown][] = [
  ['!t', true],
  ['!n', null],
  ['42', 42],
  ['-1.5', -1.5],
  ['1e', '1e'],
  ["''", ''],
  ["'it!'s 100!! (yes)'", "it's 100! (yes)"],
  ['!()', []],
  ['()', {}],
  ['!(viewPage,gt,viewProduct)', ['viewPage', 'gt', 'viewProduct']],
  ["!((cl:PageView,type:Product,n:2),(cl:'Feature'))", [{ cl: 'PageView', type: 'Product', n: 2 }, { cl: 'Feature' }]],
  ['(a:(b:!(1,!f)))', { a: { b: [1, false] } }],
  ['(__proto__:x)', JSON.parse('{"__proto__":"x"}')],
  // Not Rison.
  ['', null],
  ['!(', null],
  ['!(a', null],
  ['!(a,', null],
  ['!(a b))', null],
  ['(a)', null],
  ['(a:', null],
  ["'a", null],
  ["'a!", null],
  ['!x', null],
  ['a,b', null],
]

test.each(cases)('readRison reads %s', (text, value) => {
  expect(readRison(text)).toEqual(value)
})

test('readRison limits the nesting depth and never throws', () => {
  expect(readRison('!('.repeat(5000))).toBeNull()
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."!(),:'at1 "), maxLength: 60 }), (text) => {
      expect(() => readRison(text)).not.toThrow()
    }),
    { numRuns: 5000 },
  )
})
