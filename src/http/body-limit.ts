import type { TSchema } from '../core/schema.ts'
import { MAX_BODY_BYTES } from './body.ts'
import type { Route } from './route.ts'

/** A smaller limit protects nothing: this much is parsed in less than a millisecond. */
const LEAST_BYTES = 64 * 1024
/** Of a UTF-16 code unit, written as `\u00e9`. */
const CODE_UNIT_BYTES = 6
/** Of a number, `true`, `false` or `null`. */
const SCALAR_BYTES = 32
/** Allows for blanks and line breaks between values. */
const BLANKS_FACTOR = 2

/** The part of JSON Schema that limits the size of a value. */
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
 * Returns the largest body that a route takes, in bytes: what the route says, else what the largest value that fits its schema
 * may take, from 64 KiB to 8 MiB. A larger body is refused with `tooLarge`.
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

/** Returns the bytes of the largest value that fits a schema; infinite where the schema sets no limit. */
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
