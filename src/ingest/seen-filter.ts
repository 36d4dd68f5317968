import type { Clock, Instant } from '../core/clock.ts'

const FILTER_POWER = 25
const FILTER_BITS = 2 ** FILTER_POWER
const MASK = FILTER_BITS - 1

/**
 * A Bloom filter (https://doi.org/10.1145/362686.362692) of 4 MiB a period: says for sure that a hash was not added, or
 * that it may have been. It spares the database a look-up for almost every batch, because almost every one is new.
 */
export class SeenFilter {
  private current = new Uint32Array(FILTER_BITS / 32)
  private before = new Uint32Array(FILTER_BITS / 32)
  private begunAt: Instant

  /** What was added is held for `periodMs` at least, and for twice that at most. */
  constructor(
    private readonly clock: Clock,
    private readonly periodMs: number,
  ) {
    this.begunAt = clock.now()
  }

  /** Of the hash, 64 bits count. */
  add(hash: bigint): void {
    const now = this.clock.now()
    if (now - this.begunAt >= this.periodMs) {
      this.before = this.current
      this.current = new Uint32Array(FILTER_BITS / 32)
      this.begunAt = now
    }
    whole[0] = hash
    for (const half of halves) this.current[(half & MASK) >>> 5] = wordOf(this.current, half) | (1 << (half & 31))
  }

  mayHold(hash: bigint): boolean {
    whole[0] = hash
    const [first = 0, second = 0] = halves
    return holds(this.current, first, second) || holds(this.before, first, second)
  }
}

/** The two halves of a hash as numbers: arithmetic on bigints costs ten times as much. */
const whole = new BigInt64Array(1)
const halves = new Uint32Array(whole.buffer)

function holds(bits: Uint32Array, first: number, second: number): boolean {
  return (wordOf(bits, first) & (1 << (first & 31))) !== 0 && (wordOf(bits, second) & (1 << (second & 31))) !== 0
}

const wordOf = (bits: Uint32Array, hash: number) => bits[(hash & MASK) >>> 5] ?? 0
