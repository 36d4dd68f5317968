import { describe, expect, test } from 'bun:test'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import fc from 'fast-check'
import { AppError } from '../core/error.ts'
import { Closed, InstantInput, Nullable, SeveralOf, type TSchema, Type } from '../core/schema.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import { type Tool, toolName, toolOf } from './tool.ts'

const Named = Closed({ name: Type.String({ maxLength: 20 }) }, { $id: 'Named', examples: [{ name: 'a' }] })

function routeWith(values: Partial<Route>): Route {
  const made = route({
    id: 'renameThing',
    method: 'PUT',
    path: '/v1/things/{id}',
    access: 'edit',
    tag: 'Things',
    summary: 'Rename a thing',
    tool: true,
    params: ById,
    query: Closed({ times: Type.Optional(Type.Number({ minimum: 1 })) }),
    body: Named,
    answer: OkSchema,
    handle: () => OK,
  })
  return { ...made, ...values }
}

test.each([
  ['listAlerts', 'list_alerts'],
  ['whoami', 'whoami'],
  ['getGa4Events', 'get_ga4_events'],
])('operation %s becomes the tool %s', (id, name) => expect(toolName(id)).toBe(name))

test('the input schema is an object with all arguments of a call and no others', () => {
  expect(toolOf(routeWith({})).entry.inputSchema).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string', maxLength: 100 },
      times: { type: 'number', minimum: 1 },
      name: { type: 'string', maxLength: 20 },
      dryRun: { type: 'boolean', default: false, description: 'Describe what would happen without changing anything' },
    },
    required: ['id', 'name'],
    additionalProperties: false,
  })
})

test('summary and description are combined into the tool description', () => {
  const { title, description } = toolOf(routeWith({ description: 'Its id stays.' })).entry
  expect([title, description]).toEqual(['Rename a thing', 'Rename a thing. Its id stays.'])
  expect(toolOf(routeWith({})).entry.description).toBe('Rename a thing')
})

test.each<[Partial<Route>, string]>([
  [{ method: 'GET', access: 'read' }, 'readOnly'],
  [{ method: 'POST', access: 'read' }, 'readOnly'],
  [{ method: 'POST', access: 'edit' }, ''],
  [{ method: 'PATCH', access: 'own' }, ''],
  [{ method: 'PUT', access: 'configure' }, 'idempotent'],
  [{ method: 'DELETE', access: 'edit' }, 'destructive idempotent'],
])('the hints for a route with %j are: %s', (values, hints) => {
  const { annotations = {}, inputSchema } = toolOf(routeWith(values)).entry
  const told = Object.entries(annotations).flatMap(([hint, yes]) => (yes ? [hint.replace('Hint', '')] : []))
  expect(told.join(' ')).toBe(hints)
  expect('dryRun' in (inputSchema.properties ?? {})).toBe(hints !== 'readOnly')
})

test('named schemas compile even when a name occurs twice', () => {
  const answer = Closed({ one: Named, two: Named, many: Type.Array(Named) }, { $id: 'Twice' })
  const schema = toolOf(routeWith({ answer })).entry.outputSchema ?? {}
  expect(JSON.stringify(schema)).not.toMatch(/\$id|\$ref|examples/)
  const check = new AjvJsonSchemaValidator().getValidator(schema)
  expect(check({ one: { name: 'a' }, two: { name: 'b' }, many: [] }).valid).toBe(true)
  expect(check({ one: { name: 'a' }, two: { name: 1 }, many: [] }).valid).toBe(false)
})

test('a named schema is described once, and some schemas of the input are not described again in the output', () => {
  const Told = Closed({ name: Type.String({ description: 'Its name' }) }, { $id: 'Told', description: 'A thing' })
  const Channel = Closed({ type: Type.String({ description: 'How' }) }, { $id: 'Channel' })
  const fields = Closed({ one: Told, many: Type.Array(Told), description: Type.String(), to: Channel })
  const { inputSchema, outputSchema } = toolOf(routeWith({ body: fields, answer: fields })).entry
  const timesTold = (schema: unknown, text: string) => JSON.stringify(schema).split(text).length - 1
  expect([timesTold(inputSchema, 'Its name'), timesTold(inputSchema, 'How')]).toEqual([1, 1])
  expect([timesTold(outputSchema, 'Its name'), timesTold(outputSchema, 'How')]).toEqual([1, 0])
  expect(Object.keys(outputSchema?.properties ?? {})).toEqual(['one', 'many', 'description', 'to'])
})

describe("a route that can't be a tool throws at startup", () => {
  const clash = Closed({ id: Type.String() })
  test.each<[string, Partial<Route>, RegExp]>([
    ['a name in both path and body', { body: clash }, /id is in its params and in its body/],
    ['a name in both path and query', { query: clash }, /id is in its params and in its query/],
    ['a field called dryRun', { body: Closed({ dryRun: Type.Boolean() }) }, /dryRun is in its body/],
    ['a body that is a list', { body: Type.Array(Named) }, /body is not an object/],
    ['a body without named fields', { body: Type.Record(Type.String(), Type.String()) }, /body is not an object/],
    ['a response that is a list', { answer: Type.Array(Named) }, /response is not an object/],
    ['a response that can be a string', { answer: Type.Union([Named, Type.String()]) }, /response is not an object/],
    ['a response in another format', { produces: 'text/csv' }, /response is not an object/],
    ['an asynchronous route that writes', { asynchronous: true }, /does not support dry runs/],
  ])('%s', (_, values, message) => {
    expect(() => toolOf(routeWith(values))).toThrow(message)
  })

  test('other routes are accepted', () => {
    toolOf(routeWith({ answer: Type.Union([Named, OkSchema]) }))
    toolOf(routeWith({ asynchronous: true, access: 'read' }))
    toolOf(routeWith({ access: 'read', body: Closed({ dryRun: Type.Boolean() }) }))
  })
})

/** Returns the error message for rejected arguments. */
function refusalOf(tool: Tool, args: Record<string, unknown>): string {
  try {
    tool.read(args)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid') return error.message
    throw error
  }
  throw new Error('the arguments were accepted')
}

/** Returns all errors in the arguments. */
function faultsOf(tool: Tool, args: Record<string, unknown>): readonly string[] {
  try {
    tool.read(args)
  } catch (error) {
    if (error instanceof AppError) return error.faults
    throw error
  }
  throw new Error('the arguments were accepted')
}

describe('arguments', () => {
  test('are assigned to path, query or body under any name', () => {
    const names = fc.uniqueArray(
      fc.oneof(
        fc.constantFrom('__proto__', 'constructor', 'toString', 'params', 'options', 'id'),
        fc.string({ minLength: 1 }),
      ),
      { minLength: 3, maxLength: 12 },
    )
    fc.assert(
      fc.property(names, fc.infiniteStream(fc.nat(2)), (all, places) => {
        const fields = all
          .filter((name) => name !== 'dryRun' && name !== '__proto__')
          .map((name) => ({ name, place: (['params', 'query', 'body'] as const)[places.next().value ?? 0] ?? 'body' }))
        const at = (place: string, value: (name: string) => unknown) =>
          Object.fromEntries(fields.filter((one) => one.place === place).map(({ name }) => [name, value(name)]))
        const schema = (place: string) => Closed(at(place, () => Type.String()) as Record<string, TSchema>)
        const tool = toolOf(
          routeWith({ params: schema('params'), query: schema('query'), body: schema('body'), access: 'edit' }),
        )
        const args = Object.fromEntries(fields.map(({ name }) => [name, `of ${name}`]))
        const split = { ...tool.read({ ...args, dryRun: true }) }
        const parts = (place: string) => at(place, (name) => `of ${name}`)
        expect(split).toEqual({
          params: parts('params'),
          query: parts('query'),
          body: parts('body'),
          dryRun: true,
          cursor: undefined,
        })
      }),
    )
  })

  test.each<[string, Record<string, unknown>, string]>([
    [
      'an unknown argument',
      { id: 'a', name: 'b', nmae: 'c' },
      'nmae: unknown; known arguments: id, times, name, dryRun',
    ],
    ['several unknown arguments', { x: 1, y: 2 }, 'x, y: unknown; known arguments: id, times, name, dryRun'],
    [
      'a name that JavaScript objects inherit',
      { constructor: 1 },
      'constructor: unknown; known arguments: id, times, name, dryRun',
    ],
    ['a query field of the wrong type', { id: 'a', name: 'b', times: '2' }, 'times: must be a number'],
    ['dryRun of the wrong type', { id: 'a', name: 'b', dryRun: 'yes' }, 'dryRun: must be true or false'],
    ['a missing path field', { name: 'b' }, 'id: is missing'],
  ])('are rejected by name: %s', (_, args, sentence) => expect(refusalOf(toolOf(routeWith({})), args)).toBe(sentence))

  test('are all named when several of them are invalid', () => {
    const faults = faultsOf(toolOf(routeWith({})), { nmae: 'c', times: '2', name: 5, dryRun: 'yes' })
    expect(faults).toEqual([
      'nmae: unknown; known arguments: id, times, name, dryRun',
      'id: is missing',
      'times: must be a number',
      'dryRun: must be true or false',
      'name: must be a string',
    ])
  })

  describe('instants', () => {
    const instant = InstantInput({ minimum: 0 })
    const tool = toolOf(
      routeWith({
        query: Closed({ since: Type.Optional(instant), count: Type.Optional(Type.Number()) }),
        body: Closed({
          until: Type.Optional(Nullable(instant)),
          orders: Type.Optional(Type.Array(Closed({ at: instant, id: Type.Optional(Type.String()) }))),
        }),
      }),
    )
    const instantsOf = (since: unknown) => {
      const { query, body } = tool.read({ id: 'a', since, until: since, orders: [{ at: since }] }) as {
        query: { since: number }
        body: { until: number; orders: [{ at: number }] }
      }
      return [query.since, body.until, body.orders[0].at]
    }

    test('are described as numbers or ISO 8601 strings', () => {
      const { since } = tool.entry.inputSchema.properties as { since: object }
      expect(since).toMatchObject({
        anyOf: [
          { type: 'integer', minimum: 0 },
          { type: 'string', format: 'date-time' },
        ],
      })
    })

    const NOON = Date.UTC(2026, 0, 5, 12)
    test.each<[string, number]>([
      ['2026-01-05T12:00:00Z', NOON],
      ['2026-01-05T12:00:00.000Z', NOON],
      ['2026-01-05T12:00:00.25Z', NOON + 250],
      ['2026-01-05T12:00Z', NOON],
      ['2026-01-05t12:00:00z', NOON],
      ['2026-01-05 12:00:00Z', NOON],
      ['2026-01-05T13:00:00+01:00', NOON],
      ['2026-01-05T06:30:00-05:30', NOON],
      ['2026-01-05T13:00:00+0100', NOON],
      ['2026-01-05T12:00:00', NOON],
      ['2026-01-05T12:00', NOON],
      ['2026-01-05', Date.UTC(2026, 0, 5)],
      ['2024-02-29', Date.UTC(2024, 1, 29)],
    ])('%s is accepted in the query, the body and lists', (text, at) => {
      expect(instantsOf(text)).toEqual([at, at, at])
      expect(instantsOf(at)).toEqual([at, at, at])
    })

    test('are parsed correctly for any time and UTC offset', () => {
      const times = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      fc.assert(
        fc.property(times, fc.integer({ min: -14 * 60, max: 14 * 60 }), (time, minutes) => {
          const local = new Date(time.getTime() + minutes * 60_000).toISOString().slice(0, -1)
          const two = (value: number) => String(value).padStart(2, '0')
          const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
          const text = `${local}${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`
          fc.pre(/^\d{4}-/.test(text))
          expect(instantsOf(text)).toEqual([time.getTime(), time.getTime(), time.getTime()])
        }),
      )
    })

    const SENTENCE = 'must be an ISO 8601 time such as 2026-01-05T12:00:00Z, or milliseconds since the Unix epoch'
    test.each([
      'yesterday',
      '',
      '2026',
      '2026-13-01',
      '2026-02-30',
      '2026-01-05T25:00Z',
      '5 Jan 2026',
      '1767614400000',
    ])('%p is rejected in the query, the body and lists', (text) => {
      const args = { id: 'a', since: text, until: text, orders: [{ at: 0 }, { at: text, id: 5 }], count: 'x' }
      expect(faultsOf(tool, args)).toEqual([
        `since: ${SENTENCE}`,
        `until: ${SENTENCE}`,
        `orders[1].at: ${SENTENCE}`,
        'count: must be a number',
        'orders[1].id: must be a string',
      ])
    })

    test('may be null or absent if the schema allows it, and must match the schema', () => {
      expect(tool.read({ id: 'a', until: null }).body).toEqual({ until: null })
      expect(refusalOf(tool, { id: 'a', since: '1969-12-31' })).toBe('since: must be at least 0')
      expect(refusalOf(tool, { id: 'a', since: null })).toBe('since: must be a whole number')
      expect(refusalOf(tool, { id: 'a', orders: 'all' })).toBe('orders: must be a list')
    })
  })

  test('a list in the query may be a comma-separated string, as in a URL', () => {
    const query = Closed({ status: Type.Optional(SeveralOf(['open', 'muted'])), q: Type.Optional(Type.String()) })
    const tool = toolOf(routeWith({ query }))
    for (const [given, read] of [
      ['open', ['open']],
      ['muted,open', ['muted', 'open']],
      [['open'], ['open']],
    ]) {
      expect(tool.read({ id: 'a', name: 'b', status: given, q: 'a,b' }).query).toEqual({ status: read, q: 'a,b' })
    }
    for (const status of ['shut', 'open,', [], [1], {}]) {
      expect(refusalOf(tool, { id: 'a', name: 'b', status })).toBe('status: must be one of open, muted')
    }
  })

  test('rejected names are truncated in the error message', () => {
    const strange = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}${'x'.repeat(1000)}`, 1]))
    expect(refusalOf(toolOf(routeWith({})), strange).length).toBeLessThan(2000)
  })

  test('a read-only tool has no dryRun argument', () => {
    const tool = toolOf(routeWith({ method: 'GET', access: 'read', params: null, query: null, body: null }))
    expect(tool.read({})).toEqual({ params: {}, query: {}, body: undefined, dryRun: false, cursor: undefined })
    expect(refusalOf(tool, { dryRun: true })).toBe('dryRun: unknown; this tool takes no arguments')
  })
})
