import { describe, expect, test } from 'bun:test'
import { fromBase64, isJson, looksLike, readJson, readJsonObjects, unfolded } from './json.ts'
import { readJsonObject } from './params.ts'

test.each<[text: string | null, message: string]>([
  ['', 'the body is missing'],
  [null, 'the body is missing'],
  ['{"secret":', 'the body is not JSON'],
])('readJson rejects %j', (text, message) => {
  expect(() => readJson(text)).toThrow(new Error(message))
})

test.each<[text: string, objects: Record<string, unknown>[]]>([
  ['{"a":1}', [{ a: 1 }]],
  ['[{"a":1},7,null,[],{"b":2}]', [{ a: 1 }, { b: 2 }]],
  ['[]', []],
])('readJsonObjects reads %j', (text, objects) => {
  expect(readJsonObjects(text)).toEqual(objects)
})

test.each(['7', 'null', '"text"'])('readJsonObjects rejects %j', (text) => {
  expect(() => readJsonObjects(text)).toThrow(new Error('the body does not consist of JSON objects'))
})

test.each<[value: unknown, unfolded: unknown]>([
  ['{"a":[1]}', { a: [1] }],
  [' [1]', [1]],
  ['{broken', '{broken'],
  ['12', '12'],
  [12, 12],
  [null, null],
])('unfolded parses nested JSON in %j', (value, expected) => {
  expect(unfolded(value)).toEqual(expected)
})

test.each<[body: string | null, start: string, parts: string[], expected: boolean]>([
  ['{"a":1,"b":2}', '{"a"', ['"b"'], true],
  ['{"a":1,"b":2}', '{"b"', [], false],
  ['{"a":1,"b":2}', '{', ['"c"'], false],
  [null, '', [], false],
])('looksLike checks the start and parts of %j', (body, start, parts, expected) => {
  expect(looksLike(body, start, ...parts)).toBe(expected)
})

test('isJson checks the first character', () => {
  expect([' {', '[1', 'a', '', null, undefined].map(isJson)).toEqual([true, true, false, false, false, false])
})

test('fromBase64 accepts both alphabets, and spaces instead of plus signs', () => {
  const text = '{"a":"ÿ?>~"}'
  const packed = Buffer.from(text).toString('base64')
  expect([packed, packed.replaceAll('+', ' '), Buffer.from(text).toString('base64url')].map(fromBase64)).toEqual([
    text,
    text,
    text,
  ])
})

describe('deeply nested JSON', () => {
  const nested = (levels: number, filler = '') => `${'[{"a":'.repeat(levels / 2)}"${filler}"${'}]'.repeat(levels / 2)}`

  test.each([
    ['1,000 levels', nested(1000, 'x'.repeat(20_000)), true],
    ['1,002 levels', nested(1002, 'x'.repeat(20_000)), false],
    ['500,000 levels', '['.repeat(500_000) + ']'.repeat(500_000), false],
    ['brackets in a string', JSON.stringify(['[{'.repeat(20_000), '\\"[{'.repeat(20_000)]), true],
    ['adjacent brackets', `[${'[],{},'.repeat(20_000)}0]`, true],
  ])('is accepted up to 1,000 levels: %s', (_, text, isRead) => {
    expect(unfolded(text) !== text).toBe(isRead)
    for (const read of [() => readJson(text), () => readJsonObject(`{"data":${isRead ? '[]' : text}}`)]) {
      if (isRead) expect(read).not.toThrow()
      else expect(read).toThrow('the body is not JSON')
    }
  })
})
