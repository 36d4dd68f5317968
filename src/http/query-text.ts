import { AppError } from '../core/error.ts'
import type { TObject, TSchema } from '../core/schema.ts'

/** Returns the values of a text that is a list in a query; any other value as it is. */
export function listed(schema: TSchema | undefined, value: unknown): unknown {
  return schema?.type === 'array' && typeof value === 'string' ? value.split(',') : value
}

function typed(schema: TSchema | undefined, text: string): unknown {
  if (schema?.type === 'array') return listed(schema, text)
  // `Number` accepts much more than decimal numbers: white space, hexadecimal, the empty text.
  if (schema?.type === 'number') return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text
  if (schema?.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/**
 * Returns the fields of a query string, converted to the types of the schema; a value that does not convert stays a
 * text, which the schema then refuses. Fails with `invalid` when a field occurs twice or is not well-formed text.
 */
export function readQuery(schema: TObject | null, search: URLSearchParams): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, text] of search) {
    if (name in fields) throw new AppError('invalid', `query.${name}: is there more than once`)
    if (text.includes('\0') || name.includes('\0')) throw new AppError('invalid', `query.${name}: has a NUL character`)
    fields[name] = typed(schema?.properties[name], text)
  }
  return fields
}
