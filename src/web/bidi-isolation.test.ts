import { describe, expect, test } from 'bun:test'
import { isolate, isolateArguments, joinIsolated } from './bidi-isolation.ts'

describe('an isolated name in a sentence', () => {
  test.each([
    ['plain', 'shop.example', 'shop.example'],
    ['empty', '', ''],
    ['with accents and emoji', 'Café 👩‍👩‍👧‍👦', 'Café 👩‍👩‍👧‍👦'],
    ['written right to left', 'חנות', '\u2068חנות\u2069'],
    ['that changes the direction of the following text', '\u202eabc', '\u2068\u202eabc\u2069'],
    ['with unclosed isolates', 'a\u2067b\u2066c', '\u2068a\u2067b\u2066c\u2069\u2069\u2069'],
    ['with a closed isolate', 'a\u2067b\u2069c', '\u2068a\u2067b\u2069c\u2069'],
    ['that would close the surrounding isolate', 'a\u2069\u202eb', '\u2068a\u202eb\u2069'],
  ])('%s', (_kind, name, whole) => expect(isolate(name)).toBe(whole))
})

test("names in the same line do not affect each other's text direction", () => {
  expect(joinIsolated(['\u202ea', null, undefined, '', 'b'], ' · ')).toBe('\u2068\u202ea\u2069 · b')
})

test('names inserted into messages are isolated', () => {
  const words = isolateArguments({
    plain: 'Save',
    list: [(name: string) => `Edit ${name}`],
    room: { found: (name: string, count: number) => `${name}: ${count}` },
  })
  expect(words.plain).toBe('Save')
  expect(words.list[0]?.('shop')).toBe('Edit shop')
  expect(words.room.found('\u202eshop', 3)).toBe('\u2068\u202eshop\u2069: 3')
})
