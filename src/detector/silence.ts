import { Clusters } from './clusters.ts'
import { quantileOf } from './quantile.ts'
import { QuietSpells } from './quiet-spells.ts'
import { tailDeviations } from './tail-deviations.ts'

const MAX_ROW_SPELLS = 500
const MIN_ROW_SPELLS = 20
/** Real events come in clusters: this many times more of them must be missing than by Poisson's law. */
const MIN_GUARD = 1.5
const GUARD_MARGIN = 1.25
/** Of a lapse as much is learned as is this many times the factor: beyond it, it is an outage. */
const OUTAGE_FACTOR = 20

const scratch = new Float64Array(MAX_ROW_SPELLS)

/** Counts how many events are missing since the last one, and how unusual that is for this series. */
export class Silence {
  /** Events that were expected since the last one. */
  missing = 0
  private readonly spells = new QuietSpells()
  /** Lapses of whole rows, where minutes are unknown. */
  private readonly rowSpells = new Float32Array(MAX_ROW_SPELLS)
  private ended = 0
  /** Factor by which more events must be missing than by Poisson's law. */
  guard = MIN_GUARD
  /** How events cluster, as far as lapses show it. */
  clusters = new Clusters(1)

  /** `expected`: the baseline of the row; NaN when unknown, which adds nothing. */
  add(value: number, expected: number): void {
    if (value <= 0) {
      if (expected > 0) this.missing += expected
      return
    }
    if (this.missing > 0) this.rowSpells[this.ended++ % MAX_ROW_SPELLS] = this.missing
    this.missing = 0
  }

  /** Takes the minutes of a row, as `Lapses.take`. */
  takeMinutes(lulls: readonly number[], expected: number): void {
    this.spells.take(lulls, expected, OUTAGE_FACTOR * this.guard)
  }

  /** To be called for a row whose count is unknown. */
  interrupt(): void {
    this.spells.interrupt()
  }

  /** Returns the silence in deviations, k. */
  score(): number {
    return this.scoreOf(this.missing)
  }

  scoreOf(missing: number): number {
    return tailDeviations(missing / this.guard)
  }

  /** To be called once a day: a series that is often silent needs longer silences. */
  learn(): void {
    const size = this.spells.scale()
    if (size !== null) this.clusters = Clusters.of(Math.max(1, size))
    const scale = size ?? this.scaleOfRows()
    if (scale !== null) this.guard = Math.max(MIN_GUARD, GUARD_MARGIN * scale)
    this.spells.decay()
  }

  get bytes(): number {
    return this.spells.bytes + this.rowSpells.byteLength
  }

  /** Returns the scale of lapses that are whole rows long; null while there are too few. */
  private scaleOfRows(): number | null {
    const size = Math.min(this.ended, MAX_ROW_SPELLS)
    if (size < MIN_ROW_SPELLS) return null
    scratch.set(this.rowSpells.subarray(0, size))
    // Between these quantiles lie ln 5 scales of an exponential distribution, which Poisson's silences have.
    return (quantileOf(scratch, size, 0.9) - quantileOf(scratch, size, 0.5)) / Math.log(5)
  }
}
