import { describe, expect, test } from 'bun:test'
import { changedKeys, eventsByVendor, type FlatRow, findKeys, parameterOf } from './events-by-vendor.ts'

const row = (vendor: string, event: string, key: string, more: Partial<FlatRow> = {}): FlatRow => ({
  domain: 'a.example',
  vendor,
  event,
  key,
  count: 1,
  values: [],
  lastSeen: null,
  ...more,
})

describe('the dictionary', () => {
  const rows = [
    row('GA', 'purchase', 'value', { lastSeen: 5, count: 3 }),
    row('GA', 'purchase', 'value', { domain: 'b.example', lastSeen: 7 }),
    row('GA', 'purchase', 'cu', { values: [{ value: 'EUR', count: 1 }], count: 9 }),
    row('GA', 'add', 'id'),
    row('Pixel', 'View', 'dl'),
  ]

  test('lists events by vendor and name, and counts a key in several domains once', () => {
    expect([...eventsByVendor(rows)]).toEqual([
      [
        'GA',
        [
          { event: 'add', keys: 1, lastSeen: null },
          { event: 'purchase', keys: 2, lastSeen: 7 },
        ],
      ],
      ['Pixel', [{ event: 'View', keys: 1, lastSeen: null }]],
    ])
  })

  test.each<[string, string[]]>([
    ['VALUE', ['value', 'value']],
    ['eur', ['cu']],
    [' purch', ['cu', 'value', 'value']],
    ['pixel', ['dl']],
    ['nothing', []],
  ])('finds keys by %p', (text, keys) => expect(findKeys(rows, text).map(({ key }) => key)).toEqual(keys))
})

describe('changed keys', () => {
  const counted = (counts: Record<string, number>, truncated = false) => ({
    sampledEvents: 9,
    sampling: null,
    windowHours: 24,
    truncated,
    rows: Object.entries(counts).map(([key, count]) => row('GA', 'purchase', key, { count })),
  })
  test.each([
    ['is in both time ranges', { a: 5 }, { a: 3 }, '', ''],
    ['is only in the recent time range', { a: 3 }, { a: 3 }, 'a', ''],
    ['arrived between the two requests', { a: 3 }, { a: 4 }, 'a', ''],
    ['arrived after the first request', {}, { a: 1 }, 'a', ''],
    ['is only in the earlier time range', { a: 3, b: 2 }, { b: 1 }, '', 'a'],
  ])('for a key that %s', (_name, longer, recent, came, gone) => {
    const found = changedKeys(counted(longer), counted(recent))
    const keys = (rows: FlatRow[]) => rows.map(({ key }) => key).join()
    expect([keys(found.new), keys(found.gone)]).toEqual([came, gone])
  })

  test('include only changes that are certain if a dictionary is truncated', () => {
    expect(changedKeys(counted({}, true), counted({ a: 1 })).new).toEqual([])
    expect(changedKeys(counted({ a: 1 }), counted({}, true)).gone).toEqual([])
  })

  test('a key that starts with a dollar sign is escaped', () => {
    expect([parameterOf('$os'), parameterOf('value')]).toEqual(['$$os', 'value'])
  })
})
