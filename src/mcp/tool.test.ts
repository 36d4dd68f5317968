import { describe, expect, test } from 'bun:test'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import fc from 'fast-check'
import { AppError } from '../core/error.ts'
import { Closed, SeveralOf, type TSchema, Type } from '../core/schema.ts'
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
])('%s is called %s', (id, name) => expect(toolName(id)).toBe(name))

test('the input is one closed object of all arguments of a call', () => {
  expect(toolOf(routeWith({})).entry.inputSchema).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string', maxLength: 100 },
      times: { type: 'number', minimum: 1 },
      name: { type: 'string', maxLength: 20 },
      dryRun: { type: 'boolean', default: false, description: 'Say what would happen, and change nothing' },
    },
    required: ['id', 'name'],
    additionalProperties: false,
  })
})

test('summary and description become the description', () => {
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
])('hints of %j: %s', (values, hints) => {
  const { annotations = {}, inputSchema } = toolOf(routeWith(values)).entry
  const told = Object.entries(annotations).flatMap(([hint, yes]) => (yes ? [hint.replace('Hint', '')] : []))
  expect(told.join(' ')).toBe(hints)
  expect('dryRun' in (inputSchema.properties ?? {})).toBe(hints !== 'readOnly')
})

test('named schemas compile, also when a name occurs twice', () => {
  const answer = Closed({ one: Named, two: Named, many: Type.Array(Named) }, { $id: 'Twice' })
  const schema = toolOf(routeWith({ answer })).entry.outputSchema ?? {}
  expect(JSON.stringify(schema)).not.toMatch(/\$id|\$ref|examples/)
  const check = new AjvJsonSchemaValidator().getValidator(schema)
  expect(check({ one: { name: 'a' }, two: { name: 'b' }, many: [] }).valid).toBe(true)
  expect(check({ one: { name: 'a' }, two: { name: 1 }, many: [] }).valid).toBe(false)
})

test('a named schema is described where it first occurs, and one that tools write not in answers', () => {
  const Told = Closed({ name: Type.String({ description: 'Its name' }) }, { $id: 'Told', description: 'A thing' })
  const Channel = Closed({ type: Type.String({ description: 'How' }) }, { $id: 'Channel' })
  const fields = Closed({ one: Told, many: Type.Array(Told), description: Type.String(), to: Channel })
  const { inputSchema, outputSchema } = toolOf(routeWith({ body: fields, answer: fields })).entry
  const timesTold = (schema: unknown, text: string) => JSON.stringify(schema).split(text).length - 1
  expect([timesTold(inputSchema, 'Its name'), timesTold(inputSchema, 'How')]).toEqual([1, 1])
  expect([timesTold(outputSchema, 'Its name'), timesTold(outputSchema, 'How')]).toEqual([1, 0])
  expect(Object.keys(outputSchema?.properties ?? {})).toEqual(['one', 'many', 'description', 'to'])
})

describe('a route that can not be a tool throws at the start', () => {
  const clash = Closed({ id: Type.String() })
  test.each<[string, Partial<Route>, RegExp]>([
    ['one name in path and body', { body: clash }, /id is in its params and in its body/],
    ['one name in path and query', { query: clash }, /id is in its params and in its query/],
    ['a field called dryRun', { body: Closed({ dryRun: Type.Boolean() }) }, /dryRun is in its body/],
    ['a body that is a list', { body: Type.Array(Named) }, /body is not an object/],
    ['a body without named fields', { body: Type.Record(Type.String(), Type.String()) }, /body is not an object/],
    ['an answer that is a list', { answer: Type.Array(Named) }, /answer is not an object/],
    ['an answer that may be a text', { answer: Type.Union([Named, Type.String()]) }, /answer is not an object/],
    ['an answer in another format', { produces: 'text/csv' }, /answer is not an object/],
    ['what writes and waits', { asynchronous: true }, /can't be tried/],
  ])('%s', (_, values, message) => {
    expect(() => toolOf(routeWith(values))).toThrow(message)
  })

  test('others can', () => {
    toolOf(routeWith({ answer: Type.Union([Named, OkSchema]) }))
    toolOf(routeWith({ asynchronous: true, access: 'read' }))
    toolOf(routeWith({ access: 'read', body: Closed({ dryRun: Type.Boolean() }) }))
  })
})

/** The message with which arguments are refused. */
function refusalOf(tool: Tool, args: Record<string, unknown>): string {
  try {
    tool.read(args)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid') return error.message
    throw error
  }
  throw new Error('was not refused')
}

describe('arguments', () => {
  test('are assigned to the right part, whatever their names', () => {
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
        expect(split).toEqual({ params: parts('params'), query: parts('query'), body: parts('body'), dryRun: true })
      }),
    )
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['one that is unknown', { id: 'a', name: 'b', nmae: 'c' }, 'nmae: unknown; known are id, times, name, dryRun'],
    ['several', { x: 1, y: 2 }, 'x, y: unknown; known are id, times, name, dryRun'],
    ['a name of the language', { constructor: 1 }, 'constructor: unknown; known are id, times, name, dryRun'],
    ['a query field of another type', { id: 'a', name: 'b', times: '2' }, 'times: must be a number'],
    ['dryRun of another type', { id: 'a', name: 'b', dryRun: 'yes' }, 'dryRun: must be true or false'],
    ['a path field that is missing', { name: 'b' }, 'id: is missing'],
  ])('%s is refused by name', (_, args, sentence) => expect(refusalOf(toolOf(routeWith({})), args)).toBe(sentence))

  test('a list of the query may come as one text, as in an address', () => {
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

  test('refused names are cut', () => {
    const strange = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}${'x'.repeat(1000)}`, 1]))
    expect(refusalOf(toolOf(routeWith({})), strange).length).toBeLessThan(2000)
  })

  test('a read-only tool has no dryRun', () => {
    const tool = toolOf(routeWith({ method: 'GET', access: 'read', params: null, query: null, body: null }))
    expect(tool.read({})).toEqual({ params: {}, query: {}, body: undefined, dryRun: false })
    expect(refusalOf(tool, { dryRun: true })).toBe('dryRun: unknown; this tool takes no arguments')
  })
})
