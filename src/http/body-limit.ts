import type { TSchema } from '../core/schema.ts'
import { MAX_BODY_BYTES } from './json-body.ts'
import type { Route } from './route.ts'

/** Minimum limit. A smaller one would gain nothing, because parsing this many bytes takes less than a millisecond. */
const LEAST_BYTES = 64 * 1024
/** Size of a UTF-16 code unit written as an escape, such as `\u00e9`. */
const CODE_UNIT_BYTES = 6
/** Size allowed for each number, `true`, `false` or `null`. */
const SCALAR_BYTES = 32
/** Factor that allows for white space between values. */
const BLANKS_FACTOR = 2

/** The JSON Schema keywords that limit the size of a value. */
interface Sized {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Sized[]
  maxLength?: number
  items?: Sized
  maxItems?: number
  properties?: Record<string, Sized>
  additionalProperties?: unknown
  patternProperties?: unknown
}

const limits = new WeakMap<TSchema, number>()

/**
 * Returns the maximum body size of a route in bytes: the route's own limit or, without one, the size of the largest
 * value that fits its schema, between 64 KiB and 8 MiB. Larger bodies are rejected with `tooLarge`.
 */
export function maxBodyBytesOf({ body, maxBodyBytes }: Pick<Route, 'body' | 'maxBodyBytes'>): number {
  if (maxBodyBytes !== undefined) return maxBodyBytes
  if (body === null) return LEAST_BYTES
  const known = limits.get(body)
  if (known !== undefined) return known
  const bytes = Math.min(MAX_BODY_BYTES, Math.max(LEAST_BYTES, BLANKS_FACTOR * largestOf(body as Sized)))
  limits.set(body, bytes)
  return bytes
}

/** Returns the size in bytes of the largest value that fits a schema; infinity when the schema sets no limit. */
function largestOf(schema: Sized): number {
  if (schema.anyOf) return Math.max(...schema.anyOf.map(largestOf))
  if (schema.enum) return Math.max(...schema.enum.map(bytesOf))
  if (schema.const !== undefined) return bytesOf(schema.const)
  switch (schema.type) {
    case 'string':
      return schema.maxLength === undefined ? Number.POSITIVE_INFINITY : 2 + CODE_UNIT_BYTES * schema.maxLength
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return SCALAR_BYTES
    case 'array':
      if (schema.maxItems === undefined || !schema.items) return Number.POSITIVE_INFINITY
      return 2 + schema.maxItems * (1 + largestOf(schema.items))
    case 'object':
      return largestObject(schema)
    default:
      return Number.POSITIVE_INFINITY
  }
}

function largestObject({ properties = {}, additionalProperties, patternProperties }: Sized): number {
  if (additionalProperties !== false || patternProperties !== undefined) return Number.POSITIVE_INFINITY
  return Object.entries(properties).reduce((sum, [name, value]) => sum + bytesOf(name) + 2 + largestOf(value), 2)
}

const bytesOf = (value: unknown) => CODE_UNIT_BYTES * JSON.stringify(value).length
