import { AppError } from '../core/error.ts'
import { type TSchema, Type } from '../core/schema.ts'
import type { AlertInput } from './alert.ts'
import type { AlertType, Configuration } from './types/alert-type.ts'
import { alertTypes } from './types/index.ts'

/** An alert type with a type-specific field. */
interface Configured {
  kind: string
  configuration: Configuration
}

/** The types with a type-specific field, by name of the field. */
const byField = Map.groupBy(
  alertTypes.flatMap(({ kind, form: { configuration } }): Configured[] =>
    configuration ? [{ kind, configuration }] : [],
  ),
  ({ configuration: { field } }) => field,
)

/**
 * The schemas of the type-specific fields by name. Each field is optional, because whether it is required depends on
 * the type.
 */
export const configurationFields: Readonly<Record<string, TSchema>> = Object.fromEntries(
  [...byField].map(([field, types]) => [field, Type.Optional(schemaOf(types))]),
)

/** Names of the fields whose shape depends on the alert type. */
export const FIELDS_SHAPED_BY_TYPE: readonly string[] = Object.entries(configurationFields).flatMap(
  ([field, { anyOf }]) => (anyOf ? [field] : []),
)

function schemaOf(types: readonly Configured[]): TSchema {
  const [first, ...others] = types.map(({ configuration }) => configuration)
  if (first && others.length === 0) return first.schema
  const schemas = types.map(({ configuration: { schema } }) => schema)
  const shapes = types.map(({ kind, configuration: { schema } }) => {
    const needed = requiredIn(schema).map((name) => `\`${name}\``)
    return `${needed.join(' and ')} for \`${kind}\``
  })
  return Type.Union(schemas, {
    description: `${first?.about ?? 'Depends on the type'}: ${shapes.join(', ')}. Not allowed for other types`,
    examples: schemas.flatMap(({ examples = [] }) => examples),
  })
}

/**
 * Returns the required fields of a shape. For a shape with alternatives, returns the fields that all alternatives
 * require.
 */
function requiredIn({ required = [], anyOf }: TSchema): string[] {
  if (!anyOf) return required
  const [first = [], ...others] = (anyOf as TSchema[]).map(requiredIn)
  return first.filter((name) => others.every((names) => names.includes(name)))
}

/**
 * Throws `AppError('invalid')`, naming the first field, when `input` has a field of another type, or when the type's
 * own field is absent or invalid.
 */
export function checkConfiguration({ kind, form: { configuration } }: AlertType, input: AlertInput): void {
  const foreign = Object.keys(configurationFields).find(
    (field) => field !== configuration?.field && input[field] !== undefined,
  )
  if (foreign !== undefined) throw new AppError('invalid', `${foreign}: not allowed in a ${kind} alert`)
  if (!configuration) return
  const { field, schema } = configuration
  const value = input[field]
  const needs = requiredIn(schema).join(' and ')
  if (value === undefined) throw new AppError('invalid', `${field}: a ${kind} alert requires ${needs}`)
  refuseOtherShape({ kind, configuration }, value, needs)
  configuration.read(value, field)
}

/**
 * Throws when the value has the shape of another type, and names that type. A schema error would only list the missing
 * fields.
 */
function refuseOtherShape({ kind, configuration: { field, schema } }: Configured, value: unknown, needs: string): void {
  const types = byField.get(field) ?? []
  const has = (name: string) => typeof value === 'object' && value !== null && name in value
  const other = types.find((type) => type.kind !== kind && distinctiveFields(type).some(has))
  const own = types.find((type) => type.kind === kind)
  if (!other || !own || distinctiveFields(own).some(has)) return
  const theirs = distinctiveFields(other).filter(has)
  throw new AppError(
    'invalid',
    `${field}.${requiredIn(schema)[0]}: a ${kind} alert requires ${needs}; ${theirs.join(' and ')} ${theirs.length === 1 ? 'is' : 'are'} for ${other.kind}`,
  )
}

/** Returns the property names of the field that only this type uses; they identify its shape. */
function distinctiveFields({ kind, configuration: { field, schema } }: Configured): string[] {
  const others = (byField.get(field) ?? []).filter((type) => type.kind !== kind)
  const theirs = new Set(others.flatMap((type) => Object.keys(type.configuration.schema.properties ?? {})))
  return Object.keys(schema.properties ?? {}).filter((name) => !theirs.has(name))
}
