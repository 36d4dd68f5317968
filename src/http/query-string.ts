import { AppError } from '../core/error.ts'
import type { TObject, TSchema } from '../core/schema.ts'

/** Splits a string into its values when the schema is a list. Any other value is returned unchanged. */
export function listed(schema: TSchema | undefined, value: unknown): unknown {
  return schema?.type === 'array' && typeof value === 'string' ? value.split(',') : value
}

function typed(schema: TSchema | undefined, text: string): unknown {
  if (schema?.type === 'array') return listed(schema, text)
  // `Number` also accepts white space, hexadecimal numbers and the empty string.
  if (schema?.type === 'number') return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text
  if (schema?.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/**
 * Returns the fields of a query string, converted to the types in the schema. Values that can't be converted remain
 * strings, which the schema then rejects. Throws `invalid` when a field is repeated or is not well-formed text.
 */
export function readQuery(schema: TObject | null, search: URLSearchParams): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, text] of search) {
    if (name in fields) throw new AppError('invalid', `query.${name}: is given more than once`)
    if (text.includes('\0') || name.includes('\0'))
      throw new AppError('invalid', `query.${name}: contains a NUL character`)
    fields[name] = typed(schema?.properties[name], text)
  }
  return fields
}
