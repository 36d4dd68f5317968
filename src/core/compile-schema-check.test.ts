import { expect, test } from 'bun:test'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import fc from 'fast-check'
import { compileCheck } from './compile-schema-check.ts'
import { Closed, OneOf, Text, Type } from './schema.ts'

const SCHEMA = Closed({
  word: Type.Optional(OneOf(['ok', 'failure'])),
  must: OneOf(['a', 'b']),
  either: Type.Optional(Type.Union([OneOf(['ok']), Type.Number()])),
  name: Type.Optional(Text(1, 3)),
  page: Type.Optional(
    Closed({ url: Type.Optional(Type.String()), within: Type.Optional(Closed({ n: Type.Number() })) }),
  ),
  any: Type.Optional(Type.Object({})),
  texts: Type.Optional(Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: Type.String() })),
  list: Type.Optional(Type.Array(Closed({ n: Type.Optional(Type.Number()) }))),
})

const odd = fc.constantFrom('ok', 'failure', 'a', 'b', '', 'long', 'toString', 1, null, [], {}, true)
/** Mostly valid values. */
const most = (fitting: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 20, arbitrary: fitting }, { weight: 1, arbitrary: odd })
/** An object that rarely has an unknown field. */
const record = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .tuple(fc.record(fields, { requiredKeys: [] }), fc.nat(20), fc.constantFrom('more', 'toString', '__proto__'))
    .map(([value, place, name]) => (place > 0 ? value : Object.fromEntries([...Object.entries(value), [name, 1]])))

const inner = record({ n: most(fc.nat()) })
const aValue = most(
  record({
    word: most(fc.constantFrom('ok', 'failure')),
    must: most(fc.constantFrom('a', 'b')),
    either: most(fc.constantFrom('ok', 3)),
    name: most(fc.string({ minLength: 1, maxLength: 3 })),
    page: most(record({ url: most(fc.string()), within: most(inner) })),
    any: most(inner),
    texts: most(fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), most(fc.string()), { maxKeys: 2 })),
    list: most(fc.array(inner, { maxLength: 2 })),
  }),
)

test('the compiled check agrees with the full schema check', () => {
  const whole = TypeCompiler.Compile(SCHEMA)
  const quick = compileCheck(SCHEMA)
  let [good, bad] = [0, 0]
  fc.assert(
    fc.property(aValue, (value) => {
      const fromJson: unknown = JSON.parse(JSON.stringify(value))
      const fits = whole.Check(fromJson)
      if (fits) good++
      else bad++
      expect(quick(fromJson)).toBe(fits)
    }),
    { numRuns: 20_000 },
  )
  expect(Math.min(good, bad)).toBeGreaterThan(1000)
})
