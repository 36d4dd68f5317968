import type { Clock, Instant } from '../core/clock.ts'
import { highHalf, lowHalf } from './batch-hash.ts'

const FILTER_POWER = 25
const FILTER_BITS = 2 ** FILTER_POWER
const MASK = FILTER_BITS - 1

/**
 * A Bloom filter (https://doi.org/10.1145/362686.362692) of 4 MiB a period: tells that a hash was certainly not added,
 * or that it may have been. It saves a database look-up for almost every batch, because almost every one is new.
 */
export class SeenFilter {
  private current = new Uint32Array(FILTER_BITS / 32)
  private before = new Uint32Array(FILTER_BITS / 32)
  private begunAt: Instant

  /** A hash is kept for at least `periodMs`, and at most twice that. */
  constructor(
    private readonly clock: Clock,
    private readonly periodMs: number,
  ) {
    this.begunAt = clock.now()
  }

  /** Adds the lowest 64 bits of a hash. */
  add(hash: bigint): void {
    const now = this.clock.now()
    // The clock was set back: the period starts again.
    if (now < this.begunAt) this.begunAt = now
    if (now - this.begunAt >= this.periodMs) {
      this.before = this.current
      this.current = new Uint32Array(FILTER_BITS / 32)
      this.begunAt = now
    }
    mark(this.current, lowHalf(hash))
    mark(this.current, highHalf(hash))
  }

  mayHold(hash: bigint): boolean {
    const [first, second] = [lowHalf(hash), highHalf(hash)]
    return holds(this.current, first, second) || holds(this.before, first, second)
  }
}

function mark(bits: Uint32Array, hash: number): void {
  bits[(hash & MASK) >>> 5] = wordOf(bits, hash) | (1 << (hash & 31))
}

function holds(bits: Uint32Array, first: number, second: number): boolean {
  return (wordOf(bits, first) & (1 << (first & 31))) !== 0 && (wordOf(bits, second) & (1 << (second & 31))) !== 0
}

const wordOf = (bits: Uint32Array, hash: number) => bits[(hash & MASK) >>> 5] ?? 0
