import { expect, test } from 'bun:test'
import type { FlatRow, Key } from './events-by-vendor.ts'
import { sortEvents, sortKeys, sortResults } from './sort-dictionary.ts'

const key = (name: string, part: Partial<Key>): Key => ({
  key: name,
  type: 'text',
  presencePct: 50,
  examples: [],
  cardinality: 1,
  lastSeen: 5,
  ...part,
})
const KEYS = [
  key('b', { presencePct: 90, cardinality: 3, lastSeen: 1 }),
  key('a', { presencePct: 80, cardinality: 20, lastSeen: 3, type: 'number' }),
  key('c', { presencePct: 10, cardinality: 2, lastSeen: 2, semanticType: 'amount' }),
]

test.each([
  ['', 'bac'],
  ['name', 'abc'],
  ['-name', 'cba'],
  ['presence', 'cab'],
  ['-values', 'abc'],
  ['type', 'cab'],
  ['-lastSeen', 'acb'],
])('keys are sorted by "%s"', (sort, expected) => {
  expect(
    sortKeys(KEYS, sort)
      .map(({ key }) => key)
      .join(''),
  ).toBe(expected)
})

test('events and results are sorted by what they have, and keep their order otherwise', () => {
  const events = [
    { event: 'view', keys: 3, lastSeen: 4 },
    { event: 'buy', keys: 9, lastSeen: null },
    { event: 'cart', keys: 1, lastSeen: 9 },
  ]
  const named = (sort: string) => sortEvents(events, sort).map(({ event }) => event)
  expect(named('name')).toEqual(['buy', 'cart', 'view'])
  expect(named('lastSeen')).toEqual(['buy', 'view', 'cart'])
  expect(named('-presence')).toEqual(['view', 'buy', 'cart'])
  const rows = [1, 3, 2].map(
    (count): FlatRow => ({
      domain: 'd',
      vendor: 'v',
      event: 'e',
      key: `k${count}`,
      count,
      values: [],
      lastSeen: null,
    }),
  )
  expect(sortResults(rows, '-presence').map(({ count }) => count)).toEqual([3, 2, 1])
  expect(sortResults(rows, 'values')).toEqual(rows)
})
