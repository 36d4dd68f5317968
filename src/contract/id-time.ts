import { fromBase32 } from '../core/base32.ts'

/**
 * Returns the creation time that an id with this prefix contains, in milliseconds since the epoch; NaN for any other
 * text.
 */
export function timeOfId(prefix: string, id: string): number {
  const [, time] = RegExp(`^${prefix}_(.{10})`).exec(id) ?? []
  return time === undefined ? Number.NaN : fromBase32(time)
}
