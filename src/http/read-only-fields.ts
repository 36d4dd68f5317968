import { isDeepStrictEqual } from 'node:util'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../core/error.ts'
import type { TSchema } from '../core/schema.ts'
import type { Route } from './route.ts'

type Fields = Record<string, unknown>

/** Read-only fields that change with the traffic or with time. Their values in a request are ignored. */
const VOLATILE: ReadonlySet<string> = new Set([
  'available',
  'eligible',
  'events24h',
  'inForceUntil',
  'lastEventAt',
  'lateShare',
  'nextDays',
  'nextOccurrences',
  'pageViewsPerHour',
  'prodVersion',
  'vendorCount',
])

/**
 * Returns the routes with `current` set for each PUT and PATCH whose path also has a GET, so that a response of the GET
 * can be sent back.
 */
export function acceptReadOnlyFields(routes: readonly Route[]): Route[] {
  const gets = new Map(routes.filter(({ method }) => method === 'GET').map((route) => [route.path, route]))
  return routes.map((route) => {
    const current = ['PUT', 'PATCH'].includes(route.method) && route.body && !route.unparsed && gets.get(route.path)
    // A list is not the object that a PUT on its path replaces a part of.
    return current && !current.produces && !current.query?.properties.cursor ? { ...route, current } : route
  })
}

/** True when a value has fields of the response that the schema of the request does not have. */
export function hasReadOnlyFields(input: TSchema, output: TSchema, value: unknown): boolean {
  if (Array.isArray(value)) {
    return Boolean(input.items) && value.some((item) => hasReadOnlyFields(input.items, output.items ?? {}, item))
  }
  if (typeof value !== 'object' || value === null || !input.properties) return false
  return Object.entries(value).some(([name, field]) =>
    isField(input, name)
      ? hasReadOnlyFields(input.properties[name], output.properties?.[name] ?? {}, field)
      : isField(output, name),
  )
}

/**
 * Returns the value of a request without its read-only fields, and without fields that are unchanged but not accepted
 * in a request, such as null for an absent value. Throws `invalid` for a read-only field with another value than at
 * present.
 * @param present The response of the GET.
 */
export function omitReadOnlyFields(
  input: TSchema,
  output: TSchema,
  { value, present, path = '' }: { value: unknown; present: unknown; path?: string },
): unknown {
  if (Array.isArray(value) && input.items) {
    return value.map((item, index) => {
      const parts = { value: item, present: presentItem(present, item, index), path: `${path}[${index}]` }
      return omitReadOnlyFields(input.items, output.items ?? {}, parts)
    })
  }
  if (typeof value !== 'object' || value === null || !input.properties) return value
  const before = typeof present === 'object' && present !== null ? (present as Fields) : {}
  const kept: [string, unknown][] = []
  for (const [name, field] of Object.entries(value)) {
    const at = path ? `${path}.${name}` : name
    const isSame = Object.hasOwn(before, name) && isDeepStrictEqual(field, before[name])
    if (isField(input, name)) {
      const schema: TSchema = input.properties[name]
      if (isSame && !Value.Check(schema, field)) continue
      const parts = { value: field, present: before[name], path: at }
      kept.push([name, omitReadOnlyFields(schema, output.properties?.[name] ?? {}, parts)])
    } else if (!isField(output, name)) kept.push([name, field])
    else if (!isSame && !VOLATILE.has(name)) throw new AppError('invalid', `${at}: is read-only and cannot be changed`)
  }
  return Object.fromEntries(kept)
}

const isField = ({ properties }: TSchema, name: string) => properties !== undefined && Object.hasOwn(properties, name)

/** Returns the item with the same id; without ids, the item at the same position. */
function presentItem(present: unknown, item: unknown, index: number): unknown {
  if (!Array.isArray(present)) return undefined
  const { id } = (item ?? {}) as Fields
  return id === undefined ? present[index] : present.find((one) => one?.id === id)
}
