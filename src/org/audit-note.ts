import { isJsonObject } from '../core/parse-json-object.ts'
import type { TSchema } from '../core/schema.ts'
import type { Call, Route } from '../http/route.ts'

/** Text fields that name something and never contain a secret. */
const NAMES: ReadonlySet<string> = new Set([
  'name',
  'label',
  'title',
  'vendor',
  'event',
  'hostname',
  'ref',
  'kind',
  'key',
])
const NAME_LENGTH_MAX = 200
const ID = /^[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}$/
/** Maximum number of ids of a list. */
const IDS_MAX = 50

type Fields = Record<string, unknown>
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {})

const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value)

/** Returns a value that can be stored, in a list; an empty list for one that may contain a secret or is too long. */
function storable(name: string, value: unknown, schema: TSchema | undefined): unknown[] {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || isId(value)) return [value]
  if (typeof value === 'string') {
    const isOneOf = Array.isArray(schema?.enum) && schema.enum.includes(value)
    return isOneOf || (NAMES.has(name) && value.length <= NAME_LENGTH_MAX) ? [value] : []
  }
  return Array.isArray(value) && value.length > 0 && value.every(isId) ? [value.slice(0, IDS_MAX)] : []
}

/**
 * Returns the details of a call for the audit log, for a route without its own. They are the parts of the path, the
 * fields of the body that can't contain a secret (numbers, switches, ids, names, values of a fixed set), and the name of
 * the result. For `PATCH`, they include the names of all fields. Lists of ids have at most 50 entries.
 */
export function noteOfCall(route: Route, { params, body }: Call, answer: unknown): Record<string, unknown> {
  // An unparsed body consists of bytes, possibly millions of them.
  const given = route.unparsed ? {} : fieldsOf(body)
  const properties = fieldsOf(route.body?.properties) as Record<string, TSchema>
  const { id: _, ...parts } = fieldsOf(params)
  const shown = Object.entries(given).flatMap(([name, value]) =>
    storable(name, value, properties[name]).map((stored) => [name, stored]),
  )
  const { name } = fieldsOf(answer)
  return {
    ...parts,
    ...Object.fromEntries(shown),
    ...(route.method === 'PATCH' ? { fields: Object.keys(given) } : {}),
    ...(typeof name === 'string' ? { name: name.slice(0, NAME_LENGTH_MAX) } : {}),
  }
}
