import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'

/** The subset of JSON Schema that the OpenAPI document uses once its references are resolved. */
export interface JsonSchema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  /** A schema for objects with arbitrary keys. */
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  examples?: readonly unknown[]
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
}

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
const checks = new WeakMap<JsonSchema, ValidateFunction>()

/** Returns the errors in the value; empty when it is valid. Throws for a schema with unknown keywords. */
export function errorsOf(schema: JsonSchema, value: unknown): string[] {
  const check = checks.get(schema) ?? ajv.compile(schema)
  checks.set(schema, check)
  check(value)
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** True when the value is valid for the schema. */
export const fits = (schema: JsonSchema, value: unknown): boolean => errorsOf(schema, value).length === 0

function typesOf({ type }: JsonSchema): string[] {
  return type === undefined ? [] : Array.isArray(type) ? type : [type]
}

const lengthMax = ({ maxLength = Number.POSITIVE_INFINITY }: JsonSchema) => maxLength

/** Returns the schema for properties that are not listed; null when such properties are not allowed. */
const ofAnyName = ({ additionalProperties }: JsonSchema): JsonSchema | null =>
  typeof additionalProperties === 'object' ? additionalProperties : null

/** Strings that have caused bugs before, and ordinary strings. */
export const NASTY = [
  '\u0001',
  '\u2028',
  '\u202e',
  '\ufffd',
  '%00',
  '😀',
  "'; DROP TABLE alert; --",
  '"',
  "'",
  '\\',
  '$vendor',
  '$$x',
  '*',
  '(',
  '[',
  '.*',
  '{{7*7}}',
  '../..',
  '-0',
  '1e309',
  'NaN',
  '__proto__',
  'constructor',
  'toString',
  ' ',
]

const text = (min: number, max: number) =>
  fc
    .oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(...NASTY), fc.string({ maxLength: 20 }))
    .map((value) => value.slice(0, max).padEnd(min, 'x').toWellFormed().replaceAll('\0', 'x'))

/** Generates strings that match the pattern. */
const matching = (pattern: string, max: number) =>
  fc.stringMatching(new RegExp(pattern, 'u')).filter(({ length }) => length <= max)

export function valid(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valid))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  const [type, ...others] = typesOf(schema)
  if (others.length > 0) return fc.oneof(...[type, ...others].map((one) => valid({ ...schema, type: one ?? 'null' })))
  switch (type) {
    case 'string':
      if (schema.pattern) return matching(schema.pattern, lengthMax(schema))
      return text(schema.minLength ?? 0, Math.min(lengthMax(schema), 300))
    case 'number':
    case 'integer':
      return validNumber(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const { items = {}, minItems = 0, maxItems = 3 } = schema
      return fc.array(valid(items), { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 3)) })
    }
    case 'object':
      return validObject(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function validNumber({ type, minimum, maximum, exclusiveMinimum }: JsonSchema): fc.Arbitrary<number> {
  const min = minimum ?? (exclusiveMinimum === undefined ? -1e15 : exclusiveMinimum + 1)
  const max = maximum ?? 1e300
  const whole = fc.constantFrom(min, Math.min(max, min + 1), max)
  const between = fc.double({ min, max, noNaN: true }).map((value) => (type === 'integer' ? Math.trunc(value) : value))
  return fc.oneof(whole, between)
}

function validObject(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema
  const anyName = ofAnyName(schema)
  if (anyName) return fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), valid(anyName), { maxKeys: 3 })
  const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valid(schema)]))
  return fc.record(fields, { requiredKeys: required as never[] })
}

/**
 * A value with exactly one error, and the path of the invalid field, such as `conditions.items[0].op`. The path is
 * empty when the error concerns the whole value.
 */
export interface Broken {
  value: unknown
  field: string
}

/** Generates values with exactly one error. Null when every value is valid for the schema. */
export function broken(schema: JsonSchema, field = ''): fc.Arbitrary<Broken> | null {
  const beside = outOfRange(schema)
  const other = fc.jsonValue({ maxDepth: 1 })
  const wrong = (beside.length > 0 ? fc.oneof(other, fc.constantFrom(...beside)) : other)
    .filter((value) => !fits(schema, value))
    .map((value): Broken => ({ value, field }))
  if (schema.anyOf || schema.enum || 'const' in schema) return wrong
  const types = typesOf(schema)
  if (types.length === 0) return null
  if (types.includes('object')) return fc.oneof(wrong, ...brokenObjects(schema, field))
  if (!types.includes('array')) return wrong
  const { items = {}, minItems = 0 } = schema
  const rest = Array.from({ length: Math.max(0, minItems - 1) }, () => least(items))
  const item = broken(items, `${field}[0]`)
  return item
    ? fc.oneof(
        wrong,
        item.map((inner): Broken => ({ ...inner, value: [inner.value, ...rest] })),
      )
    : wrong
}

/** Returns values just outside each limit of the schema. */
export function outOfRange({ type, minimum, maximum, exclusiveMinimum, ...schema }: JsonSchema): unknown[] {
  const { minLength = 0, maxLength, minItems = 0, maxItems, items = {} } = schema
  const values: unknown[] = []
  if (minimum !== undefined) values.push(minimum - 1)
  if (exclusiveMinimum !== undefined) values.push(exclusiveMinimum)
  if (maximum !== undefined) values.push(maximum + Math.max(1, maximum * 1e-9))
  if (type === 'integer') values.push((minimum ?? 0) + 0.5)
  if (minLength > 0) values.push('x'.repeat(minLength - 1))
  if (maxLength !== undefined) values.push('x'.repeat(maxLength + 1))
  if (minItems > 0) values.push([])
  if (maxItems !== undefined) values.push(Array.from({ length: maxItems + 1 }, () => least(items)))
  return values
}

/** Returns values at each limit of the schema. */
export function atLimits({ minimum, maximum, ...schema }: JsonSchema): unknown[] {
  const { minLength, maxLength, minItems, maxItems, items = {} } = schema
  const values: unknown[] = [minimum, maximum].filter((limit) => limit !== undefined)
  // Strings that match a pattern can't be generated with a given length.
  const lengths = schema.pattern ? [] : [minLength, maxLength]
  for (const length of lengths) if (length !== undefined) values.push('x'.repeat(length))
  for (const length of [minItems, maxItems]) {
    if (length !== undefined) values.push(Array.from({ length }, () => least(items)))
  }
  return values
}

function brokenObjects(schema: JsonSchema, field: string): fc.Arbitrary<Broken>[] {
  const { properties = {}, required = [], additionalProperties } = schema
  const at = (name: string) => (field ? `${field}.${name}` : name)
  const whole = valid(schema) as fc.Arbitrary<Record<string, unknown>>
  const children = Object.entries(properties).flatMap(([name, property]) => {
    const inner = broken(property, at(name))
    if (!inner) return []
    return [fc.tuple(whole, inner).map(([value, one]): Broken => ({ ...one, value: { ...value, [name]: one.value } }))]
  })
  const missing = required.map((name) =>
    whole.map(({ [name]: _left, ...value }): Broken => ({ value, field: at(name) })),
  )
  const unknown = whole.map((value): Broken => ({ value: { ...value, surprise: 1 }, field: at('surprise') }))
  return [...children, ...missing, ...(additionalProperties === false ? [unknown] : [])]
}

/** Returns the simplest valid value, which has only the required fields. */
export function least(schema: JsonSchema): unknown {
  if (schema.anyOf) return least(schema.anyOf[0] ?? {})
  if (schema.enum) return schema.enum[0]
  if ('const' in schema) return schema.const
  const { properties = {}, required = [], minItems = 0, items = {}, minLength = 0 } = schema
  switch (typesOf(schema)[0]) {
    case 'string':
      return schema.pattern ? schema.examples?.[0] : 'x'.repeat(Math.max(1, minLength))
    case 'number':
    case 'integer':
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: minItems }, () => least(items))
    case 'object':
      return Object.fromEntries(required.map((name) => [name, least(properties[name] ?? {})]))
    default:
      return null
  }
}
