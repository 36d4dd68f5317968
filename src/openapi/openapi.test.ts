import { describe, expect, test } from 'bun:test'
import { Closed, Int, Text, Type } from '../core/schema.ts'
import { ById, OK, OkSchema, publicRoute, type Route, route } from '../http/route.ts'
import { type Operation, openApiDocument } from './openapi.ts'

const Thing = Closed({ name: Text(1, 20) }, { $id: 'Thing', examples: [{ name: 'A' }] })
const common = { tag: 'Things', summary: 'Does' } as const

const plain = route({
  ...common,
  id: 'listThings',
  method: 'GET',
  path: '/v1/things',
  access: 'read',
  query: Closed({ limit: Type.Optional(Int({ maximum: 9, description: 'At most', examples: [3] })), q: Text(1, 5) }),
  answer: Thing,
  handle: () => ({ name: 'A' }),
})
const writing = route({
  ...common,
  id: 'replaceThing',
  method: 'PUT',
  path: '/v1/things/{id}',
  access: 'configure',
  description: 'More of it.',
  refusals: ['conflict', 'upstream'],
  params: ById,
  body: Thing,
  status: 201,
  answer: OkSchema,
  handle: () => OK,
})
const open = publicRoute({
  ...common,
  id: 'getNote',
  method: 'GET',
  path: '/note',
  produces: 'text/plain',
  answer: Type.String({ examples: ['Hello'] }),
  handle: () => 'Hello',
})

function operationOf(one: Route): Operation {
  const operation = openApiDocument([one]).paths[one.path]?.[one.method.toLowerCase()]
  if (!operation) throw new Error('it has no description')
  return operation
}
const statusesOf = (one: Route) => Object.keys(operationOf(one).responses)

describe('an OpenAPI operation', () => {
  test('contains all fields of the route', () => {
    expect(operationOf(writing)).toMatchObject({
      operationId: 'replaceThing',
      tags: ['Things'],
      summary: 'Does',
      'x-permission': 'configure',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 100 } },
        { $ref: '#/components/parameters/OrgId' },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Thing' },
            examples: { example: { value: { name: 'A' } } },
          },
        },
      },
      responses: { 201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Ok' } } } } },
    })
    expect(operationOf(writing).description).toBe(
      'More of it.\n\nThe body can have at most 65536 bytes.\n\nRole: admin or above (`configure`). Read-only keys are not accepted.',
    )
    expect(operationOf(plain).description).toBe('Role: viewer or above (`read`).')
  })

  test('has query parameters without examples, because the documentation pages would send them', () => {
    expect(operationOf(plain).parameters).toEqual([
      { name: 'limit', in: 'query', required: false, description: 'At most', schema: { type: 'integer', maximum: 9 } },
      { name: 'q', in: 'query', required: true, schema: { type: 'string', minLength: 1, maxLength: 5 } },
      { $ref: '#/components/parameters/OrgId' },
    ])
    expect(operationOf({ ...plain, query: null, anyOrg: true }).parameters).toBeUndefined()
  })

  test.each<[string, Route, string]>([
    ['a simple route', plain, '200 400 401 403 429 503'],
    ['a route with path and body', writing, '201 400 401 403 404 409 413 415 429 502 503'],
    ['a public route', open, '200 400 503'],
    [
      'a public route with further errors',
      { ...open, refusals: ['rateLimited', 'unauthorized'] },
      '200 400 401 429 503',
    ],
    ['the route that accesses no database', { ...open, path: '/healthz' }, '200 400'],
  ])('lists every error status of %s', (_, one, statuses) => {
    expect(statusesOf(one)).toEqual(statuses.split(' '))
  })

  test('that requires no credentials is marked as public', () => {
    const { security, parameters, responses } = operationOf(open)
    expect({ security, parameters }).toEqual({ security: [], parameters: undefined })
    expect(responses['200']).toEqual({
      description: 'Success',
      content: {
        'text/plain': { schema: { type: 'string', examples: ['Hello'] }, examples: { example: { value: 'Hello' } } },
      },
    })
    expect(operationOf(plain).security).toBeUndefined()
  })
})

describe('the OpenAPI document', () => {
  test('has a title and an introduction', () => {
    const { openapi, info, security, tags, components } = openApiDocument([open, plain, writing])
    expect(openapi).toBe('3.1.0')
    expect(info).toMatchObject({ title: 'Tagwarden', version: '1.0.0', license: { identifier: 'MIT' } })
    expect(security).toEqual([{ bearer: [] }])
    expect(tags).toEqual([{ name: 'Things' }])
    expect(Object.keys(components.schemas)).toEqual(['Error', 'Ok', 'Thing'])
    for (const name of ['TooManyRequests', 'Unavailable']) {
      expect(components.responses[name]?.headers).toEqual({
        'Retry-After': { $ref: '#/components/headers/RetryAfter' },
        'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      })
    }
    for (const { content } of Object.values(components.responses)) {
      expect(content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' })
    }
  })

  test('groups the methods of a path, and lists known tags first', () => {
    const reading = { ...plain, id: 'getThing', path: writing.path, tag: 'Health' }
    const { paths, tags } = openApiDocument([writing, reading])
    expect(Object.keys(paths[writing.path] ?? {})).toEqual(['put', 'get'])
    expect(tags.map(({ name }) => name)).toEqual(['Health', 'Things'])
  })

  test.each<[string, Route]>([
    ['id', { ...open, path: '/elsewhere' }],
    ['place', { ...open, id: 'another' }],
  ])('is rejected for two routes with the same %s', (_, second) => {
    expect(() => openApiDocument([open, second])).toThrow('two routes')
  })
})
