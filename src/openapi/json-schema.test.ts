import { describe, expect, test } from 'bun:test'
import { Closed, InstantSchema, Int, Nullable, OneOf, Text, type TSchema, Type } from '../core/schema.ts'
import { exampleOf, schemaBook } from './json-schema.ts'

const Pet = Closed({ name: Text(1, 20) }, { $id: 'Pet', examples: [{ name: 'Rex' }] })

describe('the JSON Schema', () => {
  test.each<[string, TSchema, object]>([
    ['a whole number', Int({ minimum: 1, default: 2 }), { type: 'integer', minimum: 1, default: 2 }],
    ['a number', Type.Number({ exclusiveMinimum: 0 }), { type: 'number', exclusiveMinimum: 0 }],
    ['a multiple of a number', Type.Number({ multipleOf: 0.5 }), { type: 'number', multipleOf: 0.5 }],
    ['a text', Text(1, 9), { type: 'string', minLength: 1, maxLength: 9 }],
    ['a choice', OneOf(['a', 'b'], { default: 'a' }), { type: 'string', enum: ['a', 'b'], default: 'a' }],
    ['a constant', Type.Literal(2), { type: 'number', const: 2 }],
    ['a nullable value', Nullable(Int()), { anyOf: [{ type: 'integer' }, { type: 'null' }] }],
    [
      'a list',
      Type.Array(Int(), { minItems: 1, description: 'Some' }),
      { type: 'array', items: { type: 'integer' }, minItems: 1, description: 'Some' },
    ],
    [
      'a record',
      Type.Record(Type.String(), Type.Array(Int())),
      { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } },
    ],
    [
      'a record with any values',
      Type.Record(Type.String(), Type.Unknown()),
      { type: 'object', additionalProperties: {} },
    ],
    [
      'an object',
      Closed({ a: Type.Boolean(), b: Type.Optional(Int()) }),
      {
        type: 'object',
        properties: { a: { type: 'boolean' }, b: { type: 'integer' } },
        required: ['a'],
        additionalProperties: false,
      },
    ],
    [
      'a field named like a schema keyword',
      Closed({ items: Int(), $id: Int() }),
      {
        type: 'object',
        properties: { items: { type: 'integer' }, $id: { type: 'integer' } },
        required: ['items', '$id'],
        additionalProperties: false,
      },
    ],
  ])('is generated for %s', (_, schema, expected) => {
    const described = schemaBook().refer(schema)
    expect(described).toEqual(expected as typeof described)
    expect(Object.getOwnPropertySymbols(described)).toEqual([])
  })

  test('is rejected if keys have a pattern', () => {
    const ofDigits = Type.Record(Type.RegExp(/^\d+$/), Int())
    expect(() => schemaBook().refer(ofDigits)).toThrow('record')
  })
})

describe('a schema name', () => {
  test('is referenced wherever its schema is used, and the schema is written once', () => {
    const book = schemaBook()
    const $ref = '#/components/schemas/Pet'
    expect(book.refer(Type.Array(Pet))).toEqual({ type: 'array', items: { $ref } })
    const Owner = Closed({ pet: Type.Optional(Nullable(Pet)), best: Pet }, { $id: 'Owner' })
    expect(book.refer(Owner)).toEqual({ $ref: '#/components/schemas/Owner' })
    expect(Object.keys(book.named())).toEqual(['Owner', 'Pet'])
    expect(book.named().Pet).toEqual({
      type: 'object',
      properties: { name: { type: 'string', minLength: 1, maxLength: 20 } },
      required: ['name'],
      additionalProperties: false,
      examples: [{ name: 'Rex' }],
    })
    expect(book.named().Owner?.properties).toEqual({ pet: { anyOf: [{ $ref }, { type: 'null' }] }, best: { $ref } })
  })

  test('may be shared only by equal schemas', () => {
    const book = schemaBook()
    book.refer(Pet)
    book.refer(Closed({ name: Text(1, 20) }, { $id: 'Pet', examples: [{ name: 'Rex' }] }))
    expect(() => book.refer(Closed({ name: Text(1, 21) }, { $id: 'Pet' }))).toThrow('Pet')
  })
})

describe('an example value', () => {
  test.each<[string, TSchema, unknown]>([
    ['the example of its schema', Pet, { name: 'Rex' }],
    ['the default of its schema', Int({ default: 5 }), 5],
    ['the constant of its schema', Type.Literal('a'), 'a'],
    ['the first enum value', OneOf(['x', 'y']), 'x'],
    ['a list with one item', Type.Array(Pet), [{ name: 'Rex' }]],
    ['a number within the range of its schema', Int({ minimum: 7, maximum: 365 }), 7],
    ['a point in time', InstantSchema, 1_767_614_400_000],
    ['the example of the first branch that has one', Nullable(Type.String()), null],
    ['the example of the first branch', Nullable(Pet), { name: 'Rex' }],
    [
      'an object without the fields that have no example',
      Closed({ pets: Type.Array(Pet), note: Type.Optional(Type.String()), ok: Type.Boolean() }),
      { pets: [{ name: 'Rex' }], ok: true },
    ],
    ['undefined if a required part has no example', Closed({ ok: Type.Boolean(), note: Type.String() }), undefined],
    ['undefined for a string', Type.String(), undefined],
    ['undefined for a list of strings', Type.Array(Type.String()), undefined],
  ])('is %s', (_, schema, expected) => {
    expect(exampleOf(schema)).toEqual(expected)
  })
})
