/**
 * Returns the hash that identifies a batch, as a signed 64-bit integer like those in SQLite. At a million batches a
 * day, a collision occurs once in 50,000 years.
 */
export function hashOf(key: string): bigint {
  return BigInt.asIntN(64, Bun.hash(key) as bigint)
}
