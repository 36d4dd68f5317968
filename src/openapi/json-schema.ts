import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from '../core/schema.ts'

/** Plain JSON Schema 2020-12 (https://json-schema.org/draft/2020-12), the dialect of OpenAPI 3.1. */
export type JsonSchema = { [word: string]: unknown }

/** A collection of named schemas. Each schema is written once under its `$id` and referenced by `$ref`. */
export interface SchemaBook {
  /**
   * Returns a `$ref` for a named schema, and any other schema as plain JSON Schema. Throws when a different schema has
   * the same name, and for patterns of property names, which are not supported.
   */
  refer(schema: TSchema): JsonSchema
  /** Returns the named schemas referenced so far, in alphabetical order. */
  named(): Record<string, JsonSchema>
}

/** Creates an empty book. */
export function schemaBook(): SchemaBook {
  const named = new Map<string, JsonSchema>()
  const refer = (schema: TSchema): JsonSchema => {
    const { $id: name } = schema
    const body = plain(schema, refer)
    if (name === undefined) return body
    const known = named.get(name)
    if (known && !isDeepStrictEqual(known, body)) throw new Error(`two different schemas have the name ${name}`)
    named.set(name, body)
    return { $ref: `#/components/schemas/${name}` }
  }
  return {
    refer,
    named: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

type Refer = (schema: TSchema) => JsonSchema

/**
 * Returns the schema as plain JSON Schema, with references to its named parts. Omits TypeBox's own fields, which are
 * stored under symbols, and fields used only by forms: `title` and keywords that begin with `x-`.
 */
export function plain(schema: TSchema, refer: Refer): JsonSchema {
  const { $id: _, type, multipleOf, properties, patternProperties, ...rest } = schema
  const isWhole = type === 'number' && multipleOf === 1
  return {
    ...(type === undefined ? {} : { type: isWhole ? 'integer' : type }),
    ...(multipleOf === undefined || isWhole ? {} : { multipleOf }),
    ...(properties === undefined ? {} : { properties: each(properties, refer) }),
    ...(isOpen(schema) ? { additionalProperties: true } : {}),
    ...(patternProperties === undefined ? {} : { additionalProperties: refer(ofAnyName(patternProperties)) }),
    ...Object.fromEntries(
      Object.entries(rest)
        .filter(([word]) => !isForForms(word))
        .map(([word, value]) => [word, described(word, value, refer)]),
    ),
  }
}

/**
 * The keyword is optional in JSON Schema, but tools that read API descriptions disallow additional fields when it is
 * missing.
 */
const isOpen = ({ properties, patternProperties, additionalProperties }: TSchema) =>
  properties !== undefined && patternProperties === undefined && additionalProperties === undefined

const isForForms = (word: string) => word === 'title' || word.startsWith('x-')

/**
 * Returns the schema of an object for rendering a form: plain JSON Schema without references. Every field has a
 * `title`, its position (`x-order`, from 1) and the keywords used only by forms. `secrets` lists the top-level fields
 * that get `x-secret`.
 */
export function formOf(schema: TSchema, secrets: readonly string[] = []): JsonSchema {
  const body = plain(schema, (inner) => formOf(inner))
  const words = Object.entries(schema).filter(([word]) => isForForms(word))
  const fields = Object.entries((body.properties ?? {}) as Record<string, JsonSchema>).map(([name, field], index) => [
    name,
    {
      title: titleOf(name),
      ...unitOf(name),
      ...field,
      'x-order': index + 1,
      ...(secrets.includes(name) ? { 'x-secret': true } : {}),
    },
  ])
  return {
    ...Object.fromEntries(words),
    ...body,
    ...(body.properties ? { properties: Object.fromEntries(fields) } : {}),
  }
}

/** Labels of fields that differ from the field name. */
const TITLES: Readonly<Record<string, string>> = {
  domainId: 'Domain',
  projectId: 'Project',
  sessionId: 'Session',
  q: 'Search',
  env: 'Environment',
  param: 'Parameter',
}

/** Converts `fromHour` to `From hour`. */
function titleOf(name: string): string {
  if (Object.hasOwn(TITLES, name)) return TITLES[name] ?? name
  const words = name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Units of numbers, by suffix of the field name. */
const UNITS: readonly [end: RegExp, unit: string][] = [
  [/hours$/i, 'h'],
  [/days$/i, 'd'],
  [/minutes$/i, 'min'],
  [/seconds$/i, 's'],
  [/Ms$/, 'ms'],
  [/Pct$/, '%'],
]

function unitOf(name: string): { 'x-unit'?: string } {
  const unit = UNITS.find(([end]) => end.test(name))?.[1]
  return unit === undefined ? {} : { 'x-unit': unit }
}

const each = (schemas: Record<string, TSchema>, refer: Refer) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, refer(schema)]))

/** Returns the value schema of a `Type.Record` that allows any key. Throws when the record restricts its keys. */
function ofAnyName(patterns: Record<string, TSchema>): TSchema {
  const [[pattern, schema] = [], ...more] = Object.entries(patterns)
  if (pattern !== '^(.*)$' || !schema || more.length > 0)
    throw new Error(`unsupported key pattern of a record: ${pattern}`)
  return schema
}

function described(word: string, value: unknown, refer: Refer): unknown {
  if (word === 'anyOf' || word === 'oneOf' || word === 'allOf') return (value as TSchema[]).map(refer)
  if (word === 'items' || word === 'not') return refer(value as TSchema)
  return word === 'additionalProperties' && typeof value === 'object' ? refer(value as TSchema) : value
}

/**
 * Returns a value that fits the schema: its first example, or a value composed from the examples of its parts. An
 * optional part without an example is omitted. Undefined when a required part has no example.
 */
export function exampleOf(schema: TSchema): unknown {
  const { examples, type, anyOf, properties, required = [], items } = schema
  if (Array.isArray(examples)) return examples[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (anyOf) return firstExample(anyOf)
  if (type === 'boolean') return true
  if (type === 'number') return Math.max(1, schema.minimum ?? 1)
  if (type === 'null') return null
  if (type === 'array') {
    const item = exampleOf(items)
    return item === undefined ? undefined : [item]
  }
  if (type !== 'object' || !properties) return undefined
  const parts = Object.entries<TSchema>(properties).map(([name, part]) => [name, exampleOf(part)] as const)
  if (parts.some(([name, value]) => value === undefined && required.includes(name))) return undefined
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined))
}

function firstExample(branches: readonly TSchema[]): unknown {
  for (const branch of branches) {
    const example = exampleOf(branch)
    if (example !== undefined) return example
  }
  return undefined
}
