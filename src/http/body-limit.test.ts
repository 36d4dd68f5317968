import { expect, test } from 'bun:test'
import { Closed, Int, Nullable, OneOf, SeveralOf, Text, type TSchema, Type } from '../core/schema.ts'
import { maxBodyBytesOf } from './body-limit.ts'

const KIB = 1024
const LARGEST = 8 * KIB * KIB

const limitOf = (body: TSchema | null, maxBodyBytes?: number) =>
  maxBodyBytesOf({ body, ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }) })

/** Schemas with a large limit, each with the largest value that fits, written with escapes. */
const LARGE: [string, TSchema, unknown][] = [
  ['a text', Closed({ a: Text(0, 50_000) }), { a: 'é'.repeat(50_000) }],
  [
    'a list of strings',
    Closed({ a: Type.Array(Text(0, 100), { maxItems: 1000 }) }),
    { a: Array(1000).fill('é'.repeat(100)) },
  ],
  [
    'the larger of two shapes',
    Closed({ a: Type.Optional(Nullable(Type.Union([Int(), Text(0, 40_000)]))) }),
    { a: '"'.repeat(40_000) },
  ],
  [
    'enums and numbers',
    Closed({
      a: Type.Array(Closed({ word: OneOf(['one', 'three']), n: Int(), is: Type.Boolean() }), { maxItems: 9999 }),
    }),
    { a: Array(9999).fill({ word: 'three', n: -1.7976931348623157e308, is: false }) },
  ],
]

test.each(LARGE)('%s: the limit allows every valid body and is not larger than necessary', (_, schema, value) => {
  const escaped = JSON.stringify(value, null, 1).replaceAll(/[é]/g, '\\u00e9')
  expect(limitOf(schema)).toBeWithin(escaped.length, LARGEST)
})

test.each<[string, TSchema | null]>([
  ['nothing', null],
  ['few fields', Closed({ name: Text(1, 100), isOn: Type.Boolean() })],
  ['no fields', Closed({})],
])('%s: the limit is 64 KiB', (_, schema) => expect(limitOf(schema)).toBe(64 * KIB))

test.each<[string, TSchema]>([
  ['a text', Closed({ a: Type.String() })],
  ['a list', Closed({ a: Type.Array(Int()) })],
  ['a list of enum values', Closed({ a: SeveralOf(['one', 'two']) })],
  ['a record', Closed({ a: Type.Record(Type.String(), Int()) })],
  ['anything', Closed({ a: Type.Unknown() })],
  ['an object that allows further fields', Type.Object({})],
  ['nested large lists', Closed({ a: Type.Array(Type.Array(Text(0, 1000), { maxItems: 100 }), { maxItems: 50 }) })],
])('%s: a schema without a limit gets 8 MiB', (_, schema) => expect(limitOf(schema)).toBe(LARGEST))

test('an explicit limit of a route takes precedence', () => {
  expect(limitOf(Closed({ a: Type.String() }), 1000)).toBe(1000)
  expect(limitOf(Closed({}), LARGEST)).toBe(LARGEST)
})
