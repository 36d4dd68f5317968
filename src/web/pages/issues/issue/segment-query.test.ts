import { expect, test } from 'bun:test'
import { segmentQuery } from './segment-query.ts'

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
