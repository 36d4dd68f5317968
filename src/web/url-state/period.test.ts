import { expect, test } from 'bun:test'
import { type AskedRange, periodOf } from './period.ts'

const HOUR = 3_600_000
const NOW = Date.UTC(2026, 10, 27, 12)

test.each<[string, AskedRange, number, object]>([
  ['a preset', { range: '24h' }, 168, { query: { hours: 24 }, hours: 24, from: null, to: null, limit: null }],
  [
    'a preset that is too long',
    { range: '30d' },
    168,
    { query: { hours: 168 }, hours: 168, from: null, to: null, limit: 168 },
  ],
  [
    'an interval in the past',
    { range: '7d', from: NOW - 50 * HOUR, to: NOW - 48.5 * HOUR },
    168,
    {
      query: { from: NOW - 50 * HOUR, to: NOW - 48.5 * HOUR },
      hours: 2,
      from: NOW - 50 * HOUR,
      to: NOW - 48.5 * HOUR,
      limit: null,
    },
  ],
  [
    'the end of an interval that is too long',
    { from: NOW - 400 * HOUR, to: NOW - HOUR },
    168,
    { query: { hours: 168, to: NOW - HOUR }, hours: 168, from: NOW - 169 * HOUR, to: NOW - HOUR, limit: 168 },
  ],
  [
    'an interval up to now',
    { from: NOW - 3 * HOUR },
    168,
    { query: { from: NOW - 3 * HOUR }, hours: 3, from: NOW - 3 * HOUR, to: null, limit: null },
  ],
  [
    'only an end',
    { range: '24h', to: NOW - HOUR },
    168,
    { query: { hours: 24, to: NOW - HOUR }, hours: 24, from: NOW - 25 * HOUR, to: NOW - HOUR, limit: null },
  ],
])('%s', (_, asked, maxHours, period) => {
  expect(periodOf(asked, maxHours, NOW)).toEqual(period as never)
})
