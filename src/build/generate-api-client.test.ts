import { expect, test } from 'bun:test'
import { openApiDocument } from '../openapi/openapi.ts'
import { clientOf } from './generate-api-client.ts'
import { typeOf } from './schema-types.ts'

test.each([
  ['a reference', { $ref: '#/components/schemas/Alert' }, 'Alert'],
  ['alternatives', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'number | null'],
  ['a list of alternatives', { type: 'array', items: { enum: ['a', 1], type: 'string' } }, 'Array<"a" | 1>'],
  ['a constant', { const: 7, type: 'integer' }, '7'],
  [
    'an object',
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'boolean' } }, required: ['a'] },
    '{ "a": string; "b"?: boolean }',
  ],
  ['a map', { type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
  ['an open object', { type: 'object', additionalProperties: true }, '{ [key: string]: unknown }'],
  ['an empty object', { type: 'object', additionalProperties: false }, '{ [key: string]: never }'],
  ['anything', { description: 'A value' }, 'unknown'],
  [
    'a description',
    { type: 'object', properties: { a: { type: 'null', description: 'of */ it' } }, required: [] },
    '{ /** of * / it */ "a"?: null }',
  ],
])('the type of %s', (_name, schema, type) => {
  expect(typeOf(schema)).toBe(type)
})

test('an unknown type of schema is an error', () => {
  expect(() => typeOf({ type: 'tuple' })).toThrow('"tuple"')
})

test('a list in the query that is not separated by commas is an error', () => {
  const schema = { type: 'array', items: { type: 'string' } }
  const parameters = [{ name: 'id', in: 'query' as const, required: false, schema }]
  const operation = { operationId: 'list', tags: [], summary: '', description: '', parameters, responses: {} }
  const api = {
    ...openApiDocument([]),
    paths: { '/v1/list': { get: { ...operation, 'x-permission': 'read' as const } } },
  }
  expect(() => clientOf(api)).toThrow('list: lists in the query')
})
