import { expect, test } from 'bun:test'
import { jsonObject } from './parse-json-object.ts'

test.each<[string, unknown]>([
  ['{"a": 1}', { a: 1 }],
  ['[1]', [1]],
  ['{}', {}],
  ['null', null],
  ['1', null],
  ['"a"', null],
  ['', null],
  ['<html>', null],
  ['{"a": 1', null],
])('jsonObject returns an object, a list or null for %j', (text, object) =>
  expect<unknown>(jsonObject(text)).toEqual(object),
)
