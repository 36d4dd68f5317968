import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findCardForms, findCards } from './find-card-numbers.ts'
import { CARDS } from './personal-data.fixture.ts'

const cut = (text: string) => findCards(text).map(({ start, end }) => text.slice(start, end))
const inGroups = (number: string, gap: string) =>
  number.length === 15
    ? [number.slice(0, 4), number.slice(4, 10), number.slice(10)].join(gap)
    : (number.match(/.{1,4}/g) ?? []).join(gap)

test.each(CARDS)("the issuer's test number %s is found", (number) => {
  expect(cut(number)).toEqual([number])
  expect(cut(`paid with ${number}, thanks`)).toEqual([number])
  const digits = [...number]
  digits[7] = String((Number(digits[7]) + 1) % 10)
  expect(findCardForms(digits.join('')).map(({ isCard }) => isCard)).toEqual([false])
})

test.each([' ', '-', '.', '\u00a0', '+', '\u2011'])('card numbers in groups separated by %j are found', (gap) => {
  for (const number of CARDS.filter(({ length }) => [13, 15, 16, 19].includes(length))) {
    expect(cut(`card: ${inGroups(number, gap)}`)).toEqual([inGroups(number, gap)])
  }
})

describe.each([
  ['12 digits', '411111111111'],
  ['an unknown issuer', '7111111111111116'],
  ['a length that the issuer does not use', '41111111111111116'],
  ['too many digits', '411111111111111100000'],
  ['inside a word', '4111111111111111a'],
  ['within a word', 'a4111111111111111'],
  ['a fraction', '0.4111111111111111'],
  ['a decimal number', '4111111111111111.5'],
  ['mixed separators', '4111 1111-1111 1111'],
  ['odd groups', '41111 111 1111 1111'],
  ['a UUID that contains only digits', '41111111-1111-4111-8111-111111111111'],
  ["Google's client id", '1970656995.1795151819'],
  ['a time in ms', '1767614400000'],
  ['a time in µs', '1767614400000000'],
  ['a formatted time', '2026-01-05 12:00:00.000'],
  ['a compact time', '20260105120000'],
])('a value that is not a card number: %s', (_, text) => {
  test('is not found', () => expect(cut(text)).toEqual([]))
})

test('about a tenth of random 16-digit numbers in card format pass the checksum', () => {
  const numbers = fc.sample(fc.bigInt(0n, 10n ** 16n - 1n), { numRuns: 20_000, seed: 4711 })
  const forms = numbers.flatMap((number) => findCardForms(String(number).padStart(16, '0')))
  const share = forms.filter(({ isCard }) => isCard).length / forms.length
  expect(forms.length).toBeGreaterThan(2000)
  expect(share).toBeGreaterThan(0.07)
  expect(share).toBeLessThan(0.13)
})
