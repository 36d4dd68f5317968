import { expect, test } from 'bun:test'
import { fromBase64, isJson, looksLike, readJson, readJsonObjects, unfolded } from './json.ts'

test.each<[text: string | null, message: string]>([
  ['', 'the body is missing'],
  [null, 'the body is missing'],
  ['{"secret":', 'the body is not JSON'],
])('readJson refuses %j', (text, message) => {
  expect(() => readJson(text)).toThrow(new Error(message))
})

test.each<[text: string, objects: Record<string, unknown>[]]>([
  ['{"a":1}', [{ a: 1 }]],
  ['[{"a":1},7,null,[],{"b":2}]', [{ a: 1 }, { b: 2 }]],
  ['[]', []],
])('readJsonObjects reads %j', (text, objects) => {
  expect(readJsonObjects(text)).toEqual(objects)
})

test.each(['7', 'null', '"text"'])('readJsonObjects refuses %j', (text) => {
  expect(() => readJsonObjects(text)).toThrow(new Error('the body is not JSON objects'))
})

test.each<[value: unknown, unfolded: unknown]>([
  ['{"a":[1]}', { a: [1] }],
  [' [1]', [1]],
  ['{broken', '{broken'],
  ['12', '12'],
  [12, 12],
  [null, null],
])('unfolded: %j', (value, expected) => {
  expect(unfolded(value)).toEqual(expected)
})

test.each<[body: string | null, start: string, parts: string[], expected: boolean]>([
  ['{"a":1,"b":2}', '{"a"', ['"b"'], true],
  ['{"a":1,"b":2}', '{"b"', [], false],
  ['{"a":1,"b":2}', '{', ['"c"'], false],
  [null, '', [], false],
])('looksLike: %j', (body, start, parts, expected) => {
  expect(looksLike(body, start, ...parts)).toBe(expected)
})

test('isJson looks at the first character', () => {
  expect([' {', '[1', 'a', '', null, undefined].map(isJson)).toEqual([true, true, false, false, false, false])
})

test('fromBase64 takes both alphabets and lost plus signs', () => {
  const text = '{"a":"ÿ?>~"}'
  const packed = Buffer.from(text).toString('base64')
  expect([packed, packed.replaceAll('+', ' '), Buffer.from(text).toString('base64url')].map(fromBase64)).toEqual([
    text,
    text,
    text,
  ])
})
