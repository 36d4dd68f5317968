import { expect, test } from 'bun:test'
import { segmentQuery, segmentValue } from './segment-query.ts'

test.each<[string, string, string | null]>([
  ['browser', 'Safari', '$browser=Safari'],
  ['browserVersion', 'Samsung Internet 27', '$browser=Samsung Internet;$browserVersion=27'],
  ['browserVersion+os', 'Safari 18+iOS', '$browser=Safari;$browserVersion=18;$os=iOS'],
  ['browser', 'unknown', '$browser='],
  ['consent', 'unknown', '$consent=unknown'],
  ['browserVersion', 'unknown', null],
  ['pageGroup', '/a+b', null],
  ['pageGroup', '/a;b', null],
  ['account', 'G-1', null],
  ['os+hour', 'iOS+14:00', null],
])('the dictionary is filtered by %s %s with %p', (dimension, value, query) => {
  expect(segmentQuery({ dimension, value })).toBe(query)
})

test.each<[string, string, string]>([
  ['browser', 'Safari', 'Safari'],
  ['pageGroup', '/a+b', '/a+b'],
  ['browserVersion+os', 'Safari 18+iOS', 'Safari 18 + iOS'],
  ['hour', '23:00', '00:00 CET'],
  ['os+hour', 'iOS+14:00', 'iOS + 15:00 CET'],
])('the segment %s %s is shown as %s in the time zone of the organization', (dimension, value, shown) => {
  expect(segmentValue({ dimension, value }, 'Europe/Berlin', Date.UTC(2026, 0, 5, 21))).toBe(shown)
})
