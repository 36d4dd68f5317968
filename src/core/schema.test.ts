import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from './error.ts'
import { Closed, Int, Nullable, OneOf, parser, SeveralOf, Text, type TSchema, Type } from './schema.ts'

const Channel = Type.Union([
  Closed({ type: Type.Literal('email'), target: Text(3, 50) }),
  Closed({ type: Type.Literal('webhook'), url: Text(8, 200), secret: Type.Optional(Type.String()) }),
])

const parse = parser(
  Closed({
    name: Text(1, 10),
    count: Type.Optional(Int({ minimum: 1, maximum: 5 })),
    color: Type.Optional(OneOf(['red', 'green'])),
    note: Type.Optional(Nullable(Type.String())),
    tags: Type.Optional(Type.Array(Text(1, 5), { maxItems: 2 })),
    params: Type.Optional(Type.Record(Type.String(), Type.String())),
    channels: Type.Optional(Type.Array(Channel)),
    deep: Type.Optional(Closed({ list: Type.Array(Closed({ at: Int() })) })),
  }),
)

function refusalOf(value: unknown, root?: string): string {
  try {
    parse(value, root)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).code).toBe('invalid')
    return (error as AppError).message
  }
  return 'was accepted'
}

test('the parser returns the same object for a valid value', () => {
  const value: unknown = { name: 'a', count: 5, color: 'red', note: null, tags: ['x'], deep: { list: [{ at: 0 }] } }
  expect(parse(value) as unknown).toBe(value)
})

describe('a validation error', () => {
  test.each<[unknown, RegExp]>([
    [null, /^body: must be an object$/],
    [[], /^body: must be an object$/],
    ['text', /^body: must be an object$/],
    [{}, /^name: /],
    [{ name: '' }, /^name: must not be empty$/],
    [{ name: 'a'.repeat(11) }, /^name: must have at most 10 characters$/],
    [{ name: 7 }, /^name: must be a string$/],
    [{ name: 'a', count: 0 }, /^count: must be at least 1$/],
    [{ name: 'a', count: 6 }, /^count: must be at most 5$/],
    [{ name: 'a', count: 1.5 }, /^count: must be a whole number$/],
    [{ name: 'a', count: Number.NaN }, /^count: /],
    [{ name: 'a', count: Number.POSITIVE_INFINITY }, /^count: /],
    [{ name: 'a', color: 'blue' }, /^color: must be one of red, green$/],
    [{ name: 'a', color: null }, /^color: must be one of red, green$/],
    [{ name: 'a', note: 7 }, /^note: /],
    [{ name: 'a', tags: ['ok', ''] }, /^tags\[1\]: /],
    [{ name: 'a', tags: ['1', '2', '3'] }, /^tags: must have at most 2 items$/],
    [{ name: 'a', params: { 'a/b~c': 1 } }, /^params\.a\/b~c: must be a string$/],
    [{ name: 'a', deep: { list: [{ at: 1 }, { at: 'x' }] } }, /^deep\.list\[1\]\.at: must be a whole number$/],
    [{ name: 'a', extra: 1 }, /^extra: there is no such field$/],
    [{ name: 'a', deep: { list: [], more: 1 } }, /^deep\.more: there is no such field$/],
    // In a union, the error describes the branch that the caller most likely meant.
    [{ name: 'a', channels: [{ type: 'email', target: 'a@b.c' }, { type: 'email' }] }, /^channels\[1\]\.target: /],
    [{ name: 'a', channels: [{ type: 'webhook', url: 'x' }] }, /^channels\[0\]\.url: /],
    [{ name: 'a', channels: ['email'] }, /^channels\[0\]: /],
  ])('names the first invalid field of %j', (value, message) => {
    expect(refusalOf(value)).toMatch(message)
  })

  test.each<[TSchema, unknown, string]>([
    [Closed({ a: Type.String() }), {}, 'a: is missing'],
    [Closed({ a: Type.String() }), { a: 1 }, 'a: must be a string'],
    [Closed({ a: Text(1, 5) }), { a: '' }, 'a: must not be empty'],
    [Closed({ a: Text(3, 5) }), { a: 'x' }, 'a: must have at least 3 characters'],
    [Closed({ a: Text(0, 1) }), { a: 'xx' }, 'a: must have at most 1 character'],
    [Closed({ a: Type.Array(Type.String(), { minItems: 1 }) }), { a: [] }, 'a: must have at least one item'],
    [Closed({ a: Type.Array(Type.String(), { minItems: 2 }) }), { a: [] }, 'a: must have at least 2 items'],
    [Closed({ a: Type.Array(Type.String(), { maxItems: 1 }) }), { a: ['x', 'y'] }, 'a: must have at most one item'],
    [Closed({ a: Type.Array(Type.String()) }), { a: {} }, 'a: must be a list'],
    [Closed({ a: Type.Number() }), { a: '1' }, 'a: must be a number'],
    [Closed({ a: Int() }), { a: '1' }, 'a: must be a whole number'],
    [Closed({ a: Int() }), { a: 1.5 }, 'a: must be a whole number'],
    [Closed({ a: Type.Number({ multipleOf: 5 }) }), { a: 7 }, 'a: must be a multiple of 5'],
    [Closed({ a: Type.Number({ minimum: 2 }) }), { a: 1 }, 'a: must be at least 2'],
    [Closed({ a: Type.Number({ maximum: 2 }) }), { a: 3 }, 'a: must be at most 2'],
    [Closed({ a: Type.Number({ exclusiveMinimum: 0 }) }), { a: 0 }, 'a: must be greater than 0'],
    [Closed({ a: Type.Boolean() }), { a: 'yes' }, 'a: must be true or false'],
    [Closed({ a: Type.Literal(2) }), { a: 3 }, 'a: must be 2'],
    [Closed({ a: OneOf(['x', 'y']) }), { a: 'z' }, 'a: must be one of x, y'],
    [Closed({ a: SeveralOf(['x', 'y']) }), { a: ['x', 'z'] }, 'a: must be one of x, y'],
    [Closed({ a: SeveralOf(['x', 'y']) }), { a: [] }, 'a: must be one of x, y'],
    [Closed({ a: Type.Array(OneOf(['x', 'y'])) }), { a: 'x' }, 'a: must be a list'],
    [Closed({ a: Type.Array(OneOf(['x', 'y'])) }), { a: ['x', 'z'] }, 'a[1]: must be one of x, y'],
    [Closed({ a: Closed({}) }), { a: 1 }, 'a: must be an object'],
    [Closed({}), { a: 1 }, 'a: there is no such field'],
    [Closed({ a: Nullable(Type.String()) }), { a: 1 }, 'a: must be a string'],
  ])('has a readable message: %#', (schema, value, message) => {
    expect(() => parser(schema)(value)).toThrow(expect.objectContaining({ code: 'invalid', message }))
  })

  test('starts with the name of the root', () => {
    expect(refusalOf({ name: '' }, 'alerts[3]')).toStartWith('alerts[3].name: ')
    expect(refusalOf('x', 'alerts[3]')).toStartWith('alerts[3]: ')
  })

  test('names an unknown field regardless of its name', () => {
    const known = ['name', 'count', 'color', 'note', 'tags', 'params', 'channels', 'deep']
    const unknown = fc.string({ unit: 'binary', maxLength: 50 }).filter((name) => !known.includes(name))
    fc.assert(
      fc.property(fc.oneof(unknown, fc.constantFrom('__proto__', 'constructor', 'toString', '', 'x/y~z')), (name) => {
        const message = refusalOf(JSON.parse(`{"name": "a", ${JSON.stringify(name)}: 1}`))
        expect(message).toEndWith(': there is no such field')
        if (name !== '' && !/^\d+$/.test(name)) expect(message).toStartWith(name)
      }),
    )
  })

  test('truncates a long field name', () => {
    const message = refusalOf({ name: 'a', ['x'.repeat(100_000)]: 1 })
    expect(message).toBe(`${'x'.repeat(200)}…: there is no such field`)
  })
})

describe('the faults of a validation error', () => {
  const faultsOf = (value: unknown, root = '') => {
    try {
      parse(value, root)
    } catch (error) {
      return (error as AppError).faults
    }
    return []
  }

  test.each<[unknown, string[]]>([
    [{}, ['name: is missing']],
    [
      { count: 9, color: 'blue', extra: 1 },
      [
        'name: is missing',
        'extra: there is no such field',
        'count: must be at most 5',
        'color: must be one of red, green',
      ],
    ],
    [
      { name: 'a', tags: ['toolong', 5], deep: { list: [{ at: 0 }, { at: 'x' }, {}] } },
      [
        'tags[0]: must have at most 5 characters',
        'tags[1]: must be a string',
        'deep.list[1].at: must be a whole number',
        'deep.list[2].at: is missing',
      ],
    ],
  ])('for %j include each field once', (value, faults) => {
    expect([...faultsOf(value)].sort()).toEqual([...faults].sort())
    const inList = faults.map((fault) => `alerts[1].${fault}`)
    expect([...faultsOf(value, 'alerts[1]')].sort()).toEqual(inList.sort())
    expect(faultsOf(value)[0]).toBe(refusalOf(value))
  })

  test('are limited to 20, or to the first for a large value', () => {
    const wrong = (count: number) => ({ name: 'a', deep: { list: Array(count).fill({ at: 'x' }) } })
    expect(faultsOf(wrong(100))).toHaveLength(20)
    expect(faultsOf(wrong(30_000))).toEqual(['deep.list[0].at: must be a whole number'])
  })
})
