import { expect, test } from 'bun:test'
import { valueAt } from './read-sample-fields.ts'

test('sample values include parameters and event fields, and ignore inherited properties', () => {
  const sample = { host: 'a.example', params: { a: 'b', $c: 'd', constructor: 'e' } }
  const values = ['a', '$$c', '$host', 'constructor', 'toString', '$toString', 'missing'].map((key) =>
    valueAt(sample, key),
  )
  expect(values).toEqual(['b', 'd', 'a.example', 'e', '', '', ''])
  expect(valueAt({}, 'constructor')).toBe('')
})
