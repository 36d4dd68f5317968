import { Kind, OptionalKind, type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

type Fields = Record<string, unknown>

/**
 * Returns a function that checks values against the schema. The function takes less than half the time of TypeBox's
 * compiled check (measured), and returns the same result for values parsed from JSON. TypeBox spends more time on
 * finding unknown fields than on all other checks.
 */
export function compileCheck<T extends TObject>(schema: T): (value: unknown) => value is Static<T> {
  const open = TypeCompiler.Compile(opened(schema))
  const isClosed = closedCheck(schema)
  return (value): value is Static<T> => open.Check(value) && isClosed(value as Fields)
}

const isObject = (schema: TSchema): schema is TObject => schema[Kind] === 'Object'
const isClosedObject = (schema: TSchema): schema is TObject => isObject(schema) && schema.additionalProperties === false

/** Returns the same schema, but with unknown fields allowed. Objects within lists and unions stay closed. */
function opened(schema: TSchema): TSchema {
  if (schema[Kind] === 'OneOf')
    return optionalAs(schema, Type.Union(schema.enum.map((word: string) => Type.Literal(word))))
  if (!isObject(schema)) return schema
  const properties = Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, opened(field)]))
  const { additionalProperties, ...rest } = schema
  const others = additionalProperties ? { additionalProperties } : {}
  return { ...rest, ...others, properties } as TSchema
}

/** Returns `other`, which is made optional if `schema` is optional. */
function optionalAs(schema: TSchema, other: TSchema): TSchema {
  return schema[OptionalKind] === undefined ? other : Type.Optional(other)
}

/** Returns a function that checks an object and its nested closed objects for unknown fields. */
function closedCheck(schema: TObject): (value: Fields) => boolean {
  const names = isClosedObject(schema) ? new Set(Object.keys(schema.properties)) : null
  const within = Object.entries(schema.properties).flatMap(([name, field]) =>
    isObject(field) ? [{ name, isClosed: closedCheck(field) }] : [],
  )
  return (value) => {
    if (names) for (const name in value) if (!names.has(name)) return false
    for (const { name, isClosed } of within) {
      const inner = value[name]
      if (inner !== undefined && !isClosed(inner as Fields)) return false
    }
    return true
  }
}
