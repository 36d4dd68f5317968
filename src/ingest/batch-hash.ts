/**
 * What a batch is recognised by: 64 bits, signed, as SQLite keeps integers. Among a million batches a day, two meet on
 * one hash once in 50,000 years.
 */
export function hashOf(key: string): bigint {
  return BigInt.asIntN(64, Bun.hash(key) as bigint)
}

const whole = new BigInt64Array(1)
const halves = new Uint32Array(whole.buffer)

/** The lower half of a hash as a number: arithmetic on bigints costs ten times as much. */
export function lowHalf(hash: bigint): number {
  whole[0] = hash
  return halves[0] ?? 0
}

/** The upper half of a hash. */
export function highHalf(hash: bigint): number {
  whole[0] = hash
  return halves[1] ?? 0
}
