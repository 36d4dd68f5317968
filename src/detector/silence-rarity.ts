import { ClusteredNoise } from './clustered-noise.ts'
import { quantileOf } from './quantile.ts'
import { QuietSpells } from './quiet-spells.ts'
import { tailDeviations } from './tail-deviations.ts'

const MAX_ROW_SPELLS = 500
const MIN_ROW_SPELLS = 20
/**
 * Minimum factor by which the number of missing events must exceed that of a Poisson process, because events occur in
 * clusters.
 */
const MIN_GUARD = 1.5
const GUARD_MARGIN = 1.25
/**
 * A spell with more missing events than this multiple of the factor is considered an outage and excluded from learning.
 */
const OUTAGE_FACTOR = 20

const scratch = new Float64Array(MAX_ROW_SPELLS)

/** Counts the missing events since the last event, and returns the rarity of this silence for the series. */
export class SilenceRarity {
  /** Number of events expected since the last one. */
  missing = 0
  private readonly spells = new QuietSpells()
  /** Quiet spells in whole rows, used when minutes are unknown. */
  private readonly rowSpells = new Float32Array(MAX_ROW_SPELLS)
  private ended = 0
  /** True when part of the silence was on a holiday. */
  private touchesHoliday = false
  /** Factor by which the number of missing events must exceed that of a Poisson process. */
  guard = MIN_GUARD
  /** The clustering of events, estimated from quiet spells. */
  clusters = new ClusteredNoise(1)

  /** `expected`: the baseline of the row; when it is NaN (unknown), no missing events are added. */
  add(value: number, expected: number): void {
    if (value <= 0) {
      if (expected > 0) this.missing += expected
      return
    }
    if (this.missing > 0 && !this.touchesHoliday) this.rowSpells[this.ended++ % MAX_ROW_SPELLS] = this.missing
    this.missing = 0
    this.touchesHoliday = false
  }

  /** Like `add`, for a row on a holiday. A silence that touches a holiday is excluded from learning. */
  addHoliday(value: number, expected: number): void {
    this.touchesHoliday = true
    this.spells.interrupt()
    this.add(value, expected)
  }

  /** Like `QuietSpells.take`. */
  takeMinutes(quietRuns: readonly number[], expected: number): void {
    this.spells.take(quietRuns, expected, OUTAGE_FACTOR * this.guard)
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

  /** Call once a day. A series that is often silent requires longer silences. */
  learn(): void {
    const size = this.spells.scale()
    if (size !== null) this.clusters = ClusteredNoise.of(Math.max(1, size))
    const scale = size ?? this.scaleOfRows()
    if (scale !== null) this.guard = Math.max(MIN_GUARD, GUARD_MARGIN * scale)
    this.spells.decay()
  }

  get bytes(): number {
    return this.spells.bytes + this.rowSpells.byteLength
  }

  /** Returns the scale of quiet spells in whole rows; null while there are too few spells. */
  private scaleOfRows(): number | null {
    const size = Math.min(this.ended, MAX_ROW_SPELLS)
    if (size < MIN_ROW_SPELLS) return null
    scratch.set(this.rowSpells.subarray(0, size))
    // Silences in a Poisson process have an exponential distribution, in which these quantiles are ln 5 scales apart.
    return (quantileOf(scratch, size, 0.9) - quantileOf(scratch, size, 0.5)) / Math.log(5)
  }
}
