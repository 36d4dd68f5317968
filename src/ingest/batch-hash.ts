/**
 * Returns the hash that identifies a batch: 64 bits, signed like integers in SQLite. With a million batches a day, a
 * collision occurs once in 50,000 years.
 */
export function hashOf(key: string): bigint {
  return BigInt.asIntN(64, Bun.hash(key) as bigint)
}

const whole = new BigInt64Array(1)
const halves = new Uint32Array(whole.buffer)

/** Returns the lower 32 bits of a hash as a number: arithmetic on bigints costs ten times as much. */
export function lowHalf(hash: bigint): number {
  whole[0] = hash
  return halves[0] ?? 0
}

/** Returns the upper 32 bits of a hash. */
export function highHalf(hash: bigint): number {
  whole[0] = hash
  return halves[1] ?? 0
}
