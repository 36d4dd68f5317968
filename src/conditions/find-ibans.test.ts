import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findIbans } from './find-ibans.ts'
import { IBANS } from './personal-data.fixture.ts'

const cut = (text: string) => findIbans(text).map(({ start, end }) => text.slice(start, end))

test.each(IBANS)("the IBAN registry's example %s is found", (iban) => {
  expect(cut(iban)).toEqual([iban])
  expect(cut(`to ${iban}.`)).toEqual([iban])
  expect(cut(iban.toLowerCase())).toEqual([iban.toLowerCase()])
  for (const gap of [' ', '-', '\u00a0']) {
    const grouped = (iban.match(/.{1,4}/g) ?? []).join(gap)
    expect(cut(`${grouped} EUR`)).toEqual([grouped])
  }
  const [first = '', second = ''] = [iban.slice(-1), iban.slice(-2, -1)]
  if (first !== second) expect(cut(iban.slice(0, -2) + first + second)).toEqual([])
})

describe.each([
  ['one character too few', 'DE8937040044053201300'],
  ['one character too many', 'DE893704004405320130000'],
  ['within a word', 'xDE89370400440532013000'],
  ['a country without IBANs', 'US89370400440532013000'],
  ['a letter where the country requires a digit', 'DE89370400440532O13000'],
  ['groups of three', 'DE8 937 040 044 053 201 300 0'],
])('a value that is not an IBAN: %s', (_, text) => {
  test('is not found', () => expect(cut(text)).toEqual([]))
})

test('random identifiers are not mistaken for IBANs', () => {
  const letters = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')
  const ids = fc.sample(fc.string({ unit: letters, minLength: 16, maxLength: 34 }), { numRuns: 50_000, seed: 4711 })
  expect(ids.flatMap((id) => cut(id))).toEqual([])
})
