import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonFaultPosition } from './json-fault.ts'

test('valid JSON has no fault', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
      expect(jsonFaultPosition(JSON.stringify(JSON.parse(text), null, indent))).toBe(null)
    }),
  )
})

test('a text has a fault exactly if it is not JSON', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '1',
    '-0.5e+3',
    '01',
    'null',
    'tru',
    ' ',
    '\n',
    '"',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const text = parts.join('')
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      expect([text, jsonFaultPosition(text) === null]).toEqual([text, isJson])
    }),
    { numRuns: 5000 },
  )
})

test.each<[text: string, line: number, column: number]>([
  ['', 1, 1],
  ['{"title": "Buy",\n "steps": [}', 2, 12],
  ['{"a": 1,}', 1, 9],
  ['{"a": 1} x', 1, 10],
  ['{\n  "a": "b\n"', 2, 8],
  ['{"a": [1 2]}', 1, 10],
  ['{"steps": [', 1, 12],
])('the fault of %j is in line %d, column %d', (text, line, column) => {
  expect(jsonFaultPosition(text)).toEqual({ line, column })
})
