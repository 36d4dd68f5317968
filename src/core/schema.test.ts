import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from './error.ts'
import { Closed, Int, Nullable, OneOf, parser, Text, Type } from './schema.ts'

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
  return 'was taken'
}

test('answers the very value when it fits', () => {
  const value: unknown = { name: 'a', count: 5, color: 'red', note: null, tags: ['x'], deep: { list: [{ at: 0 }] } }
  expect(parse(value) as unknown).toBe(value)
})

describe('a refusal names the first field that does not fit', () => {
  test.each<[unknown, RegExp]>([
    [null, /^body: Expected object$/],
    [[], /^body: Expected object$/],
    ['text', /^body: Expected object$/],
    [{}, /^name: /],
    [{ name: '' }, /^name: .*length greater or equal to 1$/],
    [{ name: 'a'.repeat(11) }, /^name: .*length less or equal to 10$/],
    [{ name: 7 }, /^name: Expected string$/],
    [{ name: 'a', count: 0 }, /^count: .*greater or equal to 1$/],
    [{ name: 'a', count: 6 }, /^count: .*less or equal to 5$/],
    [{ name: 'a', count: 1.5 }, /^count: .*multiple of 1$/],
    [{ name: 'a', count: Number.NaN }, /^count: /],
    [{ name: 'a', count: Number.POSITIVE_INFINITY }, /^count: /],
    [{ name: 'a', color: 'blue' }, /^color: Expected one of red, green$/],
    [{ name: 'a', color: null }, /^color: Expected one of red, green$/],
    [{ name: 'a', note: 7 }, /^note: /],
    [{ name: 'a', tags: ['ok', ''] }, /^tags\[1\]: /],
    [{ name: 'a', tags: ['1', '2', '3'] }, /^tags: .*length to be less or equal to 2$/],
    [{ name: 'a', params: { 'a/b~c': 1 } }, /^params\.a\/b~c: Expected string$/],
    [{ name: 'a', deep: { list: [{ at: 1 }, { at: 'x' }] } }, /^deep\.list\[1\]\.at: Expected number$/],
    [{ name: 'a', extra: 1 }, /^extra: Unexpected property$/],
    [{ name: 'a', deep: { list: [], more: 1 } }, /^deep\.more: Unexpected property$/],
    // Of a union, the branch that the caller meant.
    [{ name: 'a', channels: [{ type: 'email', target: 'a@b.c' }, { type: 'email' }] }, /^channels\[1\]\.target: /],
    [{ name: 'a', channels: [{ type: 'webhook', url: 'x' }] }, /^channels\[0\]\.url: /],
    [{ name: 'a', channels: ['email'] }, /^channels\[0\]: /],
  ])('%j', (value, message) => {
    expect(refusalOf(value)).toMatch(message)
  })

  test('below the name of where it stands', () => {
    expect(refusalOf({ name: '' }, 'alerts[3]')).toStartWith('alerts[3].name: ')
    expect(refusalOf('x', 'alerts[3]')).toStartWith('alerts[3]: ')
  })

  test('whatever an unknown field is called', () => {
    const known = ['name', 'count', 'color', 'note', 'tags', 'params', 'channels', 'deep']
    const unknown = fc.string({ unit: 'binary', maxLength: 50 }).filter((name) => !known.includes(name))
    fc.assert(
      fc.property(fc.oneof(unknown, fc.constantFrom('__proto__', 'constructor', 'toString', '', 'x/y~z')), (name) => {
        const message = refusalOf(JSON.parse(`{"name": "a", ${JSON.stringify(name)}: 1}`))
        expect(message).toEndWith(': Unexpected property')
        if (name !== '' && !/^\d+$/.test(name)) expect(message).toStartWith(name)
      }),
    )
  })

  test('at no great length, however long the name', () => {
    const message = refusalOf({ name: 'a', ['x'.repeat(100_000)]: 1 })
    expect(message).toBe(`${'x'.repeat(200)}…: Unexpected property`)
  })
})
