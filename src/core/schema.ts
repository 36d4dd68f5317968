import { Kind, type Static, type TObject, type TSchema, type TString, Type, TypeRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { AppError } from './error.ts'

/** Descriptions of a field, for forms and the API documentation. */
export interface FieldNotes {
  /** Label in a form. Default: derived from the name in JSON. */
  title?: string
  description?: string
  /** Unit of a number in forms, such as `s` or `%`. */
  'x-unit'?: string
  /** Labels of the values of `OneOf` in forms. Default: derived from the value. */
  'x-titles'?: Readonly<Record<string, string>>
}

/** A whole number. `Type.Integer()` is not used, because Elysia doesn't convert query strings for it. */
export const Int = (
  options: FieldNotes & { minimum?: number; maximum?: number; default?: number; examples?: number[] } = {},
) => Type.Number({ multipleOf: 1, ...options })

/** Milliseconds since the Unix epoch. */
export const InstantSchema = Int({
  description: 'Milliseconds since the Unix epoch, UTC',
  examples: [1_767_614_400_000],
})

/** Symbols are not serialized, so published schemas don't contain this property. */
const IS_INSTANT = Symbol('instant')

/** Milliseconds since the Unix epoch, as a request parameter. MCP tools accept an ISO 8601 string instead. */
export const InstantInput = (options: FieldNotes & { minimum?: number }) =>
  Int({ examples: [1_767_614_400_000], ...options, ...{ [IS_INSTANT]: true } })

/** True if the schema describes an instant in a request. */
export const isInstant = (schema: TSchema): boolean => IS_INSTANT in schema

export const Nullable = <T extends TSchema>(schema: T, notes: FieldNotes = {}) =>
  Type.Union([schema, Type.Null()], { ...notes })

TypeRegistry.Set(
  'OneOf',
  (schema: { enum: string[] }, value) => typeof value === 'string' && schema.enum.includes(value),
)

/** One of a fixed set of strings; becomes `enum` in OpenAPI. */
export const OneOf = <const T extends readonly string[]>(
  words: T,
  options: FieldNotes & { default?: T[number]; examples?: T[number][] } = {},
) => Type.Unsafe<T[number]>({ [Kind]: 'OneOf', type: 'string', enum: [...words], ...options })

/** Descriptions of a schema for the API documentation. A schema with `$id` is a named component there. */
export interface SchemaNotes {
  $id?: string
  /** Label; only shown in forms. */
  title?: string
  description?: string
  /** Only the first example is shown. */
  examples?: readonly object[]
}

TypeRegistry.Set(
  'SeveralOf',
  ({ items }: { items: { enum: string[] } }, value) =>
    Array.isArray(value) && value.length > 0 && value.every((one) => items.enum.includes(one)),
)

/** One or more of a fixed set of strings, separated by commas in a query string: `status=open,acknowledged`. */
export const SeveralOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number][]>({
    [Kind]: 'SeveralOf',
    type: 'array',
    items: { type: 'string', enum: [...words] },
    minItems: 1,
  })

/** One or more strings, separated by commas in a query string. */
export const SeveralTexts = (options: { description?: string } = {}) =>
  Type.Array(Type.String(), { minItems: 1, maxItems: 100, ...options })

/** An object that rejects unknown fields. */
export const Closed = <T extends Parameters<typeof Type.Object>[0]>(fields: T, notes: SchemaNotes = {}) =>
  Type.Object(fields, { additionalProperties: false, ...notes })

export const Text = (minLength: number, maxLength: number, notes: FieldNotes & { examples?: string[] } = {}): TString =>
  Type.String({ minLength, maxLength, ...notes })

export type { Static, TObject, TSchema, TString }
export { Type }

/**
 * Maximum length of a field name in an error. Callers choose field names, which appear in error messages stored in the
 * ledger.
 */
const MAX_NAME_LENGTH = 200

/** `/channels/0/type` → `channels[0].type`; the root is `body`. */
function fieldName(path: string, root: string): string {
  const whole = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((whole, part) => (/^\d+$/.test(part) ? `${whole}[${part}]` : whole ? `${whole}.${part}` : part), '')
  const name = whole.length > MAX_NAME_LENGTH ? `${whole.slice(0, MAX_NAME_LENGTH)}…` : whole
  if (!root) return name || 'body'
  return name.startsWith('[') ? root + name : name ? `${root}.${name}` : root
}

function deepest(error: ValueError): ValueError {
  // If a union doesn't match, TypeBox reports only "expected union value". The caller most likely meant a branch whose
  // constants match. Among those branches, the one with the most deeply nested first error is the most likely.
  const branches = error.errors.map((branch) => [...branch])
  const likely = branches.filter((errors) => errors.every(({ type }) => type !== ValueErrorType.Literal))
  const inner = (likely.length > 0 ? likely : branches).flat().map(deepest)
  if (inner.length === 0) return error
  const wrongKind = (e: ValueError) => (e.path === error.path ? 1 : 0)
  return inner.reduce((best, e) => (wrongKind(e) < wrongKind(best) || e.path.length > best.path.length ? e : best))
}

const characters = (count: number) => `${count} ${count === 1 ? 'character' : 'characters'}`
const items = (count: number) => (count === 1 ? 'one item' : `${count} items`)

/**
 * Returns a description of the problem with the field. Keeps TypeBox's own message for checks that no schema in this
 * program uses.
 */
function faultOf({ type, schema, message }: ValueError): string {
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is missing'
  const words = schema.enum ?? (schema[Kind] === 'SeveralOf' ? schema.items.enum : undefined)
  if (words) return `must be one of ${words.join(', ')}`
  switch (type) {
    case ValueErrorType.ObjectAdditionalProperties:
      return 'there is no such field'
    case ValueErrorType.Object:
      return 'must be an object'
    case ValueErrorType.Array:
      return 'must be a list'
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${items(schema.minItems)}`
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${items(schema.maxItems)}`
    case ValueErrorType.String:
      return 'must be a string'
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1 ? 'must not be empty' : `must have at least ${characters(schema.minLength)}`
    case ValueErrorType.StringMaxLength:
      return `must have at most ${characters(schema.maxLength)}`
    case ValueErrorType.StringPattern:
      return schema.examples ? `must have a format such as ${schema.examples[0]}` : message
    case ValueErrorType.Number:
      return schema.multipleOf === 1 ? 'must be a whole number' : 'must be a number'
    case ValueErrorType.NumberMultipleOf:
      return schema.multipleOf === 1 ? 'must be a whole number' : `must be a multiple of ${schema.multipleOf}`
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema.minimum}`
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema.maximum}`
    case ValueErrorType.NumberExclusiveMinimum:
      return `must be greater than ${schema.exclusiveMinimum}`
    case ValueErrorType.Boolean:
      return 'must be true or false'
    case ValueErrorType.Literal:
      return `must be ${JSON.stringify(schema.const)}`
    case ValueErrorType.Union:
      return 'does not match any allowed form'
    default:
      return message
  }
}

/** Returns one sentence that starts with the name of the field: `alerts[3].name: must not be empty`. */
export function describeError(error: ValueError, root = ''): string {
  const cause = deepest(error)
  return `${fieldName(cause.path, root)}: ${faultOf(cause)}`
}

const MAX_FAULTS = 20
/**
 * Maximum number of nested values in a value for which all errors are reported. For larger values, only the first error
 * is reported, because searching a megabyte takes 0.1 s.
 */
const MAX_SEARCHED = 20_000

/** True if the value contains at most `max` nested values. */
function isSmall(value: unknown, max: number): boolean {
  let left = max
  const count = (one: unknown): boolean => {
    if (left-- <= 0) return false
    if (typeof one !== 'object' || one === null) return true
    for (const key in one) if (!count((one as Record<string, unknown>)[key])) return false
    return true
  }
  return count(value)
}

function faultsIn(check: TypeCheck<TSchema>, value: unknown, root: string): string[] {
  if (!isSmall(value, MAX_SEARCHED)) return []
  // TypeBox reports two errors for a missing field: one for its absence and one for its type.
  const faults = new Map<string, string>()
  for (const error of check.Errors(value)) {
    const fault = describeError(error, root)
    const [field = ''] = fault.split(': ', 1)
    if (!faults.has(field)) faults.set(field, fault)
    if (faults.size === MAX_FAULTS) break
  }
  return [...faults.values()]
}

/**
 * Returns a function that validates and returns a value, or throws `AppError('invalid')` with the name of the first
 * invalid field. The error's `faults` list up to 20 fields. The schema is compiled on the first call.
 */
export function parser<T extends TSchema>(schema: T): (value: unknown, root?: string) => Static<T> {
  let check: TypeCheck<T> | null = null
  return (value, root = '') => {
    check ??= TypeCompiler.Compile(schema)
    if (check.Check(value)) return value
    const compiled = check
    const first = compiled.Errors(value).First()
    const message = first ? describeError(first, root) : `${root || 'body'}: does not match its schema`
    throw new AppError('invalid', message, undefined, () => faultsIn(compiled, value, root))
  }
}
