import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { barsText, capitalized, cutText, namesMissingIn, numberText, timeText, wholeWord } from './text.ts'

test.each<[string, number, '' | '…', string]>([
  ['abc', 2, '', 'ab'],
  ['abc', 3, '…', 'abc'],
  ['abcd', 3, '…', 'ab…'],
  ['ab😀', 3, '', 'ab'],
  ['ab😀', 4, '', 'ab😀'],
  ['ab😀😀', 4, '…', 'ab…'],
  ['ab😀😀', 5, '…', 'ab😀…'],
  ['', 0, '', ''],
  ['😀', 1, '…', '…'],
])('cutText truncates %j to %i characters with the suffix %j', (text, length, mark, cut) =>
  expect(cutText(text, length, mark)).toBe(cut),
)

test('cutText returns the longest prefix that fits, and never splits a character', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '…', '😀', 'é'), maxLength: 12 })
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 1, max: 24 }),
      fc.constantFrom('' as const, '…' as const),
      (text, length, mark) => {
        const cut = cutText(text, length, mark)
        expect(cut.isWellFormed()).toBe(true)
        expect(cut.length).toBeLessThanOrEqual(length)
        if (text.length <= length) return expect(cut).toBe(text)
        expect(text.startsWith(cut.slice(0, cut.length - mark.length)) && cut.endsWith(mark)).toBe(true)
        expect(cut.length).toBeGreaterThanOrEqual(length - 1)
      },
    ),
  )
})

test('times are formatted to the minute, in UTC', () => {
  expect([0, Date.UTC(2026, 0, 5, 12, 7, 59, 999)].map(timeText)).toEqual([
    '1970-01-01 00:00 UTC',
    '2026-01-05 12:07 UTC',
  ])
})

test.each([
  ['on Shop.', ['Shop'], []],
  ['on shop.example', ['shop.example'], []],
  ['Shop.example and Shopping', ['Shop'], ['Shop']],
  ['the purchase', ['Purchase', null, '', undefined], ['Purchase']],
  ['GA4 (purchase): a.b*c', ['GA4', 'purchase', 'a.b*c', 'axb'], ['axb']],
  ['Überkauf', ['kauf'], ['kauf']],
  ['', ['a'], ['a']],
])('namesMissingIn returns the names that are missing in %j', (text, names, unsaid) =>
  expect(namesMissingIn(text, names)).toEqual(unsaid),
)

test.each<[number[], number, string]>([
  [[], 1, ''],
  [[0, 1, 2, 4], 4, '▁▃▅█'],
  [[0, 0], 1, '▁▁'],
  [[-5, 9], 4, '▁█'],
])('barsText shows %j with %d as the maximum', (values, most, bars) => expect(barsText(values, most)).toBe(bars))

test('barsText returns one of eight bars per value, with higher bars for larger values', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true })), fc.double({ min: 1e-3, max: 1e9 }), (values, most) => {
      const sorted = values.toSorted((a, b) => a - b)
      expect(barsText(values, most)).toMatch(new RegExp(`^[▁-█]{${values.length}}$`))
      expect([...barsText(sorted, most)]).toEqual([...barsText(sorted, most)].toSorted())
    }),
  )
})

test('wholeWord finds every occurrence of a word that contains any characters', () => {
  expect('a.b a.b axb a.bc'.replaceAll(wholeWord('a.b', 'g'), '-')).toBe('- - axb a.bc')
  expect(wholeWord('shop').test('Shop')).toBe(false)
})

test.each(['', 'a', 'éa', 'Already', '1 event'])('capitalized changes the first letter of %j to upper case', (text) => {
  expect(capitalized(text)).toBe(text && (text[0] ?? '').toUpperCase() + text.slice(1))
})

test('numberText formats at most two decimal places', () => {
  expect([2000.5, 1 / 3, -2].map(numberText)).toEqual(['2,000.5', '0.33', '-2'])
})
