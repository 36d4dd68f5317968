import { HOUR_MS } from '../core/clock.ts'
import { anscombe, inverseAnscombe } from './anscombe.ts'
import type { Compared, Spread } from './baseline.ts'
import type { Reading } from './series-statistics.ts'

/** Minimum time between alarms in the same direction. */
export const REST_MS = 12 * HOUR_MS
const ESCALATION = 2
const CALM_ROWS = 2
/** Additional deviations required of a single row, compared with two consecutive rows. */
const SINGLE_ROW_PENALTY = 3
/** Maximum level, as a fraction of a root; corresponds to 20 % of a count. */
const MAX_LEVEL = 0.1
const MAX_DROP_SHARE = 0.7
const MIN_RISE_SHARE = 1.5
const MIN_CHANGE = 5
/** Score of a row that belongs to an earlier alarm, as a fraction of the sensitivity. */
const REPEAT_SCORE = 0.99

/** The verdict on one row at one sensitivity. */
export interface Judgement {
  up: number
  down: number
  /**
   * The larger of the upward and downward deviations for a row that raises an alarm or is not an anomaly; slightly
   * below the sensitivity for other rows.
   */
  score: number
  anomaly: boolean
  alarm: boolean
  open: boolean
  /** True when the silence is the largest deviation. */
  silent: boolean
}

/** The part of a detector that depends on the sensitivity: raises alarms and decides when they end. */
export class Alarm {
  private isOpen = false
  private calm = 0
  private peak = 0
  private riseAt = Number.NEGATIVE_INFINITY
  private fallAt = Number.NEGATIVE_INFINITY
  private levels: readonly number[] = []
  private before = 0

  constructor(readonly sensitivity: number) {}

  get open(): boolean {
    return this.isOpen
  }

  judge(row: Reading): Judgement {
    // The level is not updated while an alarm is open.
    if (row.levels && !this.isOpen) this.levels = row.levels
    const { up, down, silent } = this.distances(row)
    const worst = Math.max(up, down)
    const anomaly = worst >= this.sensitivity
    const alarm = anomaly && this.raises(row, up, down)
    if (anomaly) {
      this.isOpen = true
      this.calm = 0
    } else if (this.isOpen) {
      this.calm = worst < this.sensitivity / 2 ? this.calm + 1 : 0
      this.isOpen = this.calm < CALM_ROWS
    }
    const score = anomaly && !alarm ? REPEAT_SCORE * this.sensitivity : worst
    return { up, down, score, anomaly, alarm, open: this.isOpen, silent }
  }

  /** Returns the band from the season: the counts that are not an anomaly; null while unknown. */
  band(row: Reading): { low: number; high: number } | null {
    const { scale, root, tolerable, clusters } = row
    const [spread] = scale?.spreads ?? []
    if (!scale || !spread || Number.isNaN(root)) return null
    const middle = root + this.levelOf(0, row, root)
    const ends = tolerable ?? { low: middle, high: middle }
    const [below, above] = [this.sensitivity * (scale.regular ? 1 : spread.heavy), this.sensitivity]
    const lower = spread.noise.around(ends.low, below, above)
    const upper = tolerable ? spread.noise.around(ends.high, below, above) : lower
    const [least, most] = [inverseAnscombe(tolerable?.low ?? root), inverseAnscombe(tolerable?.high ?? root)]
    const low = Math.min(
      inverseAnscombe(lower.low),
      clusters.countAt(ends.low, -below),
      MAX_DROP_SHARE * least,
      least - MIN_CHANGE,
    )
    const high = Math.max(
      inverseAnscombe(upper.high),
      clusters.countAt(ends.high, above),
      MIN_RISE_SHARE * most,
      most + MIN_CHANGE,
    )
    return { low: Math.max(0, low), high }
  }

  /**
   * Raises one alarm per deviation, and no further alarm in the same direction for half a day unless a burst becomes
   * much worse. Other measures grow without a new cause: silences and sums grow with every row, and deviations from the
   * season grow with the usual traffic of the hour.
   */
  private raises({ t, scale }: Reading, up: number, down: number): boolean {
    if (down > up) {
      if (t - this.fallAt <= REST_MS) return false
      this.fallAt = t
      return true
    }
    const isWorse = !scale?.regular && up >= this.peak + ESCALATION
    if (t - this.riseAt <= REST_MS && !isWorse) return false
    this.riseAt = t
    this.peak = up
    return true
  }

  private distances(row: Reading): { up: number; down: number; silent: boolean } {
    const regular = row.scale?.regular ?? false
    let rise = 0
    let fall = 0
    row.scale?.spreads.forEach((spread, at) => {
      if (!spread) return
      const deviations = this.deviationsAt(at, row, spread)
      rise = Math.max(rise, deviations)
      fall = Math.max(fall, -deviations / (regular ? 1 : spread.heavy))
    })
    const up = regular ? rise : Math.max(0, row.burst || 0)
    return { up, down: Math.max(fall, row.silence), silent: row.silence > fall && row.silence > up }
  }

  /**
   * Returns the deviations of the row or of one of the sums; 0 where the baseline is unknown or the change is too small
   * to matter.
   */
  private deviationsAt(at: number, row: Reading, { noise }: Spread): number {
    const { compared, afterGap, clusters } = row
    const one = compared[at]
    if (!one || Number.isNaN(one.residual)) return 0
    const root = anscombe(one.count)
    const expected = root - one.residual + this.levelOf(at, row, one.root)
    // Unusual both for this series and for Poisson clusters of events.
    const deviations = nearerToZero(noise.deviations(root, expected), clusters.deviations(root, expected))
    return ignoreSmallChange(at === 0 ? this.withBefore(deviations, afterGap) : deviations, one)
  }

  /** Requires two consecutive rows, or one row that deviates much more. A single sum is sufficient. */
  private withBefore(deviations: number, afterGap: boolean): number {
    const before = afterGap ? 0 : this.before
    this.before = deviations
    return deviations > 0
      ? Math.max(Math.min(deviations, before), deviations - SINGLE_ROW_PENALTY, 0)
      : Math.min(Math.max(deviations, before), deviations + SINGLE_ROW_PENALTY, 0)
  }

  /** Holidays have no level, because the last day says little about them. */
  private levelOf(at: number, { tolerable }: Reading, root: number): number {
    if (tolerable) return 0
    const most = MAX_LEVEL * root
    return Math.min(most, Math.max(-most, this.levels[at] ?? 0))
  }
}

/** Returns the value nearer to 0. */
const nearerToZero = (a: number, b: number) => (Math.abs(a) < Math.abs(b) ? a : b)

/** Returns 0 when the change is too small to matter, even if it is statistically significant. */
function ignoreSmallChange(deviations: number, { count, root }: Compared): number {
  const expected = inverseAnscombe(root)
  if (deviations < 0) {
    return count <= MAX_DROP_SHARE * expected && expected - count >= MIN_CHANGE ? deviations : 0
  }
  return count >= MIN_RISE_SHARE * expected && count - expected >= MIN_CHANGE ? deviations : 0
}
