import { Kind, type Static, type TObject, type TSchema, type TString, Type, TypeRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { AppError } from './error.ts'

/** What people read about a field. */
export interface FieldNotes {
  /** Its name in a form; when left out, made from its name in JSON. */
  title?: string
  description?: string
  /** What its number is counted in, for forms: `s`, `%`. */
  'x-unit'?: string
}

/** A whole number. `Type.Integer()` is avoided because Elysia doesn't convert query text for it. */
export const Int = (
  options: FieldNotes & { minimum?: number; maximum?: number; default?: number; examples?: number[] } = {},
) => Type.Number({ multipleOf: 1, ...options })

/** Milliseconds since the Unix epoch. */
export const InstantSchema = Int({
  description: 'Milliseconds since the Unix epoch, UTC',
  examples: [1_767_614_400_000],
})

/** Not in JSON, so that no schema that is published has it. */
const IS_INSTANT = Symbol('instant')

/** Milliseconds since the Unix epoch in a request. Tools take an ISO 8601 text in its place. */
export const InstantInput = (options: FieldNotes & { minimum?: number }) =>
  Int({ examples: [1_767_614_400_000], ...options, ...{ [IS_INSTANT]: true } })

/** True for a schema of an instant in a request. */
export const isInstant = (schema: TSchema): boolean => IS_INSTANT in schema

export const Nullable = <T extends TSchema>(schema: T, notes: FieldNotes = {}) =>
  Type.Union([schema, Type.Null()], { ...notes })

TypeRegistry.Set(
  'OneOf',
  (schema: { enum: string[] }, value) => typeof value === 'string' && schema.enum.includes(value),
)

/** A closed choice of words: plain `enum` in OpenAPI. */
export const OneOf = <const T extends readonly string[]>(
  words: T,
  options: FieldNotes & { default?: T[number]; examples?: T[number][] } = {},
) => Type.Unsafe<T[number]>({ [Kind]: 'OneOf', type: 'string', enum: [...words], ...options })

/** What the API documentation shows of a schema; with `$id`, the schema is a named component there. */
export interface SchemaNotes {
  $id?: string
  /** What people call it; only forms show it. */
  title?: string
  description?: string
  /** The first is shown. */
  examples?: readonly object[]
}

TypeRegistry.Set(
  'SeveralOf',
  ({ items }: { items: { enum: string[] } }, value) =>
    Array.isArray(value) && value.length > 0 && value.every((one) => items.enum.includes(one)),
)

/** One or several words of a closed choice; in an address separated by commas: `status=open,acknowledged`. */
export const SeveralOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number][]>({
    [Kind]: 'SeveralOf',
    type: 'array',
    items: { type: 'string', enum: [...words] },
    minItems: 1,
  })

/** One or several texts; in an address separated by commas. */
export const SeveralTexts = (options: { description?: string } = {}) =>
  Type.Array(Type.String(), { minItems: 1, maxItems: 100, ...options })

/** An object that refuses fields it does not name. */
export const Closed = <T extends Parameters<typeof Type.Object>[0]>(fields: T, notes: SchemaNotes = {}) =>
  Type.Object(fields, { additionalProperties: false, ...notes })

export const Text = (minLength: number, maxLength: number, notes: FieldNotes & { examples?: string[] } = {}): TString =>
  Type.String({ minLength, maxLength, ...notes })

export type { Static, TObject, TSchema, TString }
export { Type }

/** Field names come from callers, and error messages with them are stored in the ledger. */
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
  // A failed union says only "expected union value". The caller most likely meant a branch whose constants fit, and of
  // those the one whose first error is deepest.
  const branches = error.errors.map((branch) => [...branch])
  const likely = branches.filter((errors) => errors.every(({ type }) => type !== ValueErrorType.Literal))
  const inner = (likely.length > 0 ? likely : branches).flat().map(deepest)
  if (inner.length === 0) return error
  const wrongKind = (e: ValueError) => (e.path === error.path ? 1 : 0)
  return inner.reduce((best, e) => (wrongKind(e) < wrongKind(best) || e.path.length > best.path.length ? e : best))
}

const characters = (count: number) => `${count} ${count === 1 ? 'character' : 'characters'}`

/** Returns what is wrong with the field; TypeBox's own message for checks that no schema here uses. */
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
      return `name at least ${schema.minItems === 1 ? 'one' : schema.minItems}`
    case ValueErrorType.ArrayMaxItems:
      return `name at most ${schema.maxItems}`
    case ValueErrorType.String:
      return 'must be a text'
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1 ? 'must not be empty' : `must have at least ${characters(schema.minLength)}`
    case ValueErrorType.StringMaxLength:
      return `must have at most ${characters(schema.maxLength)}`
    case ValueErrorType.StringPattern:
      return schema.examples ? `must be like ${schema.examples[0]}` : message
    case ValueErrorType.Number:
      return schema.multipleOf === 1 ? 'must be a whole number' : 'must be a number'
    case ValueErrorType.NumberMultipleOf:
      return schema.multipleOf === 1 ? 'must be a whole number' : `must be a multiple of ${schema.multipleOf}`
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema.minimum}`
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema.maximum}`
    case ValueErrorType.NumberExclusiveMinimum:
      return `must be more than ${schema.exclusiveMinimum}`
    case ValueErrorType.Boolean:
      return 'must be true or false'
    case ValueErrorType.Literal:
      return `must be ${JSON.stringify(schema.const)}`
    case ValueErrorType.Union:
      return 'has none of the shapes that it may have'
    default:
      return message
  }
}

/** Returns one sentence that names the field: `alerts[3].name: must not be empty`. */
export function describeError(error: ValueError, root = ''): string {
  const cause = deepest(error)
  return `${fieldName(cause.path, root)}: ${faultOf(cause)}`
}

const MAX_FAULTS = 20
/** Errors of a larger value are not searched: a megabyte takes 0.1 s. */
const MAX_SEARCHED = 20_000

/** True for a value with at most `most` values in it. */
function isSmall(value: unknown, most: number): boolean {
  let left = most
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
  // An absent field has two errors: that it is missing, and that it is not of its type.
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
 * Returns a function that returns the value when it fits the schema, or throws `AppError('invalid')` naming the first
 * bad field; its `faults` name the others, up to 20. The schema is compiled at the first call.
 */
export function parser<T extends TSchema>(schema: T): (value: unknown, root?: string) => Static<T> {
  let check: TypeCheck<T> | null = null
  return (value, root = '') => {
    check ??= TypeCompiler.Compile(schema)
    if (check.Check(value)) return value
    const compiled = check
    const first = compiled.Errors(value).First()
    const message = first ? describeError(first, root) : `${root || 'body'}: does not fit its schema`
    throw new AppError('invalid', message, undefined, () => faultsIn(compiled, value, root))
  }
}
