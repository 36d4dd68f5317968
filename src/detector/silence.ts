import { quantileOf } from './order.ts'
import { deviationsOf } from './rarity.ts'

const REMEMBERED = 500
const NEEDED = 20
/** Real events come in clusters: this many times more of them must be missing than by Poisson's law. */
const GUARD = 1.5
const ROOM = 1.25

const scratch = new Float64Array(REMEMBERED)

/** Counts how many events are missing since the last one, and how unusual that is for this series. */
export class Silence {
  /** Events that were expected since the last one. */
  missing = 0
  private readonly lapses = new Float32Array(REMEMBERED)
  private ended = 0
  /** Factor by which more events must be missing than by Poisson's law. */
  guard = GUARD

  /** `expected`: the baseline of the row; NaN when unknown, which adds nothing. */
  add(value: number, expected: number): void {
    if (value <= 0) {
      if (expected > 0) this.missing += expected
      return
    }
    if (this.missing > 0) this.lapses[this.ended++ % REMEMBERED] = this.missing
    this.missing = 0
  }

  /** Returns the silence in deviations, k. */
  score(): number {
    return this.scoreOf(this.missing)
  }

  scoreOf(missing: number): number {
    return deviationsOf(missing / this.guard)
  }

  /** To be called once a day: a series that is often silent needs longer silences. */
  learn(): void {
    const size = Math.min(this.ended, REMEMBERED)
    if (size < NEEDED) return
    scratch.set(this.lapses.subarray(0, size))
    // Between these quantiles lie ln 5 scales of an exponential distribution, which Poisson's silences have.
    const scale = (quantileOf(scratch, size, 0.9) - quantileOf(scratch, size, 0.5)) / Math.log(5)
    this.guard = Math.max(GUARD, ROOM * scale)
  }

  get bytes(): number {
    return this.lapses.byteLength
  }
}
