import { AppError } from '../core/error.ts'
import type { TObject, TSchema } from '../core/schema.ts'

function typed(schema: TSchema | undefined, text: string): unknown {
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
