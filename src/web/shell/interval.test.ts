import { expect, test } from 'bun:test'
import { checkInterval, type TypedInterval } from './interval.ts'

const NOW = Date.UTC(2026, 10, 27, 12)

test.each<[string, TypedInterval, object]>([
  [
    'an interval in the past',
    { from: '2026-11-26T14:00', to: '2026-11-26T14:05' },
    { from: Date.UTC(2026, 10, 26, 13), to: Date.UTC(2026, 10, 26, 13, 5), wrong: null },
  ],
  [
    'up to the current minute',
    { from: '2026-11-27T12:00', to: '2026-11-27T13:01' },
    { from: Date.UTC(2026, 10, 27, 11), to: Date.UTC(2026, 10, 27, 12, 1), wrong: null },
  ],
  ['no start', { from: '', to: '2026-11-26T14:05' }, { wrong: { field: 'from', reason: 'missing' } }],
  ['no end', { from: '2026-11-26T14:00', to: '' }, { wrong: { field: 'to', reason: 'missing' } }],
  [
    'a start in the future',
    { from: '2026-11-28T14:00', to: '2026-11-28T15:00' },
    { wrong: { field: 'from', reason: 'future' } },
  ],
  [
    'an end in the future',
    { from: '2026-11-26T14:00', to: '2026-11-27T13:02' },
    { wrong: { field: 'to', reason: 'future' } },
  ],
  ['reversed', { from: '2026-11-26T14:05', to: '2026-11-26T14:00' }, { wrong: { field: 'to', reason: 'reversed' } }],
  ['empty', { from: '2026-11-26T14:00', to: '2026-11-26T14:00' }, { wrong: { field: 'to', reason: 'reversed' } }],
  [
    'before 1970',
    { from: '1900-01-01T00:00', to: '2026-11-26T14:00' },
    { wrong: { field: 'from', reason: 'missing' } },
  ],
])('%s', (_, typed, expected) => {
  expect(checkInterval(typed, 'Europe/Berlin', NOW)).toEqual(expected as never)
})
