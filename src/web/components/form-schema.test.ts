import { describe, expect, test } from 'bun:test'
import {
  defaultValueOf,
  discriminatorOf,
  type FormSchema,
  fieldKindOf,
  fieldsOf,
  firstMissingField,
  pathsOf,
  shapeOf,
  withPart,
} from './form-schema.ts'

const step: FormSchema = {
  type: 'object',
  properties: {
    anchor: {
      anyOf: [
        { type: 'object', properties: { kind: { type: 'string', const: 'session' } }, required: ['kind'] },
        {
          type: 'object',
          properties: { kind: { type: 'string', const: 'page' }, path: { type: 'string' } },
          required: ['kind', 'path'],
        },
      ],
    },
  },
  required: ['anchor'],
}
const anchors = step.properties?.anchor?.anyOf ?? []

describe('a form generated from a schema', () => {
  test.each<[FormSchema, ReturnType<typeof fieldKindOf>]>([
    [{ type: 'string' }, 'text'],
    [{ type: 'string', enum: ['a', 'b'] }, 'one'],
    [{ anyOf: [{ const: 7 }, { const: 14 }] }, 'one'],
    [{ type: 'integer' }, 'number'],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ type: 'array', items: { type: 'string' } }, 'texts'],
    [{ type: 'array', items: { type: 'string', enum: ['a'] } }, 'some'],
    [{ type: 'array', items: step }, 'list'],
    [step, 'group'],
    [{ anyOf: anchors }, 'shape'],
    [{ type: 'object', additionalProperties: {} }, 'json'],
    [{ const: 2 }, null],
  ])('shows %j as a field of kind %s', (schema, kind) => {
    expect(fieldKindOf(schema)).toBe(kind)
  })

  test('shows fields in order', () => {
    const schema: FormSchema = { type: 'object', properties: { b: { 'x-order': 2 }, a: { 'x-order': 1 } } }
    expect(fieldsOf(schema).map(([name]) => name)).toEqual(['a', 'b'])
  })

  test('starts with defaults and required values', () => {
    expect(
      defaultValueOf({ type: 'object', properties: { n: { type: 'number', default: 4 }, t: { type: 'string' } } }),
    ).toEqual({
      n: 4,
    })
    expect(
      defaultValueOf({ type: 'object', properties: { steps: { type: 'array', items: step } }, required: ['steps'] }),
    ).toEqual({
      steps: [{ anchor: { kind: 'session' } }],
    })
  })

  test.each<[unknown, number]>([
    [{ kind: 'session' }, 0],
    [{ kind: 'page', path: '/' }, 1],
    [undefined, 0],
    [{ kind: 'none of them' }, 0],
  ])('identifies %j as variant %d', (value, shape) => {
    expect(shapeOf(anchors, value)).toBe(shape)
    expect(discriminatorOf(anchors)).toBe('kind')
  })

  test('uses the same field paths as validation errors', () => {
    const schema: FormSchema = { type: 'object', properties: { steps: { type: 'array', items: step } } }
    expect(pathsOf(schema, { steps: [{ anchor: { kind: 'page' } }] })).toEqual([
      'steps',
      'steps[0]',
      'steps[0].anchor',
      'steps[0].anchor.kind',
      'steps[0].anchor.path',
    ])
  })

  test.each<[unknown, string | null]>([
    [{}, 'Count'],
    [{ count: 0 }, null],
    [{ count: 1, note: '' }, 'Note'],
    [{ count: 1, steps: [{ anchor: { kind: 'page' } }] }, 'path'],
    [{ count: 1, steps: [{ anchor: { kind: 'session' } }] }, null],
  ])('reports the first missing field for %j as %s', (value, title) => {
    const properties: FormSchema['properties'] = {
      count: { type: 'number', title: 'Count' },
      note: { type: 'string', title: 'Note' },
      steps: { type: 'array', items: step },
    }
    expect(firstMissingField({ type: 'object', properties, required: ['count'] }, value)).toBe(title)
  })

  test('omits fields that have been cleared', () => {
    expect(withPart({ a: 1, b: 2 }, 'a', '')).toEqual({ b: 2 })
    expect(withPart({ a: 1 }, 'b', 0)).toEqual({ a: 1, b: 0 })
  })
})
