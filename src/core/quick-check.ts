import { Kind, OptionalKind, type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

type Fields = Record<string, unknown>

/**
 * What TypeBox's compiled check says of values that came from JSON, in less than half of its time (measured): to look for
 * fields that are not named costs TypeBox more than all the rest.
 */
export function quickCheck<T extends TObject>(schema: T): (value: unknown) => value is Static<T> {
  const open = TypeCompiler.Compile(opened(schema))
  const isClosed = closedCheck(schema)
  return (value): value is Static<T> => open.Check(value) && isClosed(value as Fields)
}

const isObject = (schema: TSchema): schema is TObject => schema[Kind] === 'Object'
const isClosedObject = (schema: TSchema): schema is TObject => isObject(schema) && schema.additionalProperties === false

/** The same, but that objects may have other fields; not within lists and unions. */
function opened(schema: TSchema): TSchema {
  if (schema[Kind] === 'OneOf')
    return optionalAs(schema, Type.Union(schema.enum.map((word: string) => Type.Literal(word))))
  if (!isObject(schema)) return schema
  const properties = Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, opened(field)]))
  const { additionalProperties, ...rest } = schema
  const others = additionalProperties ? { additionalProperties } : {}
  return { ...rest, ...others, properties } as TSchema
}

/** The other schema, optional if the first is. */
function optionalAs(schema: TSchema, other: TSchema): TSchema {
  return schema[OptionalKind] === undefined ? other : Type.Optional(other)
}

/** True for an object of which no field is unnamed, nor of the objects right within it, as far as they are closed. */
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
