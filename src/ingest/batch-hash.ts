/**
 * Returns the hash that identifies a batch, as a signed 64-bit integer like those in SQLite. At a million batches a
 * day, a collision occurs once in 50,000 years.
 */
export function hashOf(key: string): bigint {
  return BigInt.asIntN(64, Bun.hash(key) as bigint)
}

const whole = new BigInt64Array(1)
const halves = new Uint32Array(whole.buffer)

/** Returns the lower 32 bits of a hash as a number, because arithmetic on bigints is ten times slower. */
export function lowHalf(hash: bigint): number {
  whole[0] = hash
  return halves[0] ?? 0
}

/** Returns the upper 32 bits of a hash. */
export function highHalf(hash: bigint): number {
  whole[0] = hash
  return halves[1] ?? 0
}
