import { HOUR_MS, type Instant } from '../core/clock.ts'
import { REST_MS } from './alarm.ts'
import type { Verdict } from './detector.ts'

/**
 * A drop that recurs within this time is considered the same drop. Longer than any row, so that rows alone can continue
 * it.
 */
const QUIET_MS = 2 * HOUR_MS

/** A verdict on a silence between rows depends on data from this time before it. */
export const EPISODE_MEMORY_MS = REST_MS + QUIET_MS

/** Number of expected events that the rows showing a recovery must cover: at least two rows, at most half a day. */
const MIN_RECOVERY_EVENTS = 30
const MIN_RECOVERY_ROWS = 2
const MAX_RECOVERY_ROWS = 12
/** Fractions of the baseline at which a series has recovered. At `DEVIATING`, it deviates again. */
const RECOVERED = { low: 0.85, high: 1.2 }
const DEVIATING = { low: 0.7, high: 1.5 }

/** The state of an episode at the end of a row or tick. */
export interface DropEpisodeState {
  alarm: boolean
  /** The open deviation according to the rows so far; null when no deviation is open. */
  deviation: 'high' | 'low' | null
}

/**
 * Combines the verdicts on rows and the silences detected between them into one incident. A dead tag is reported before
 * its hour ends, and not again when the hour's count confirms it. The episode ends when the last rows are normal again,
 * even if sums over half a day still contain the outage.
 */
export class DropEpisode {
  private isOpen = false
  private direction: 'high' | 'low' = 'high'
  /** True when the latest rows show that the deviation has ended, regardless of the sums. */
  private hasRecovered = false
  private readonly rows: { count: number; expected: number }[] = []
  private fellAt = Number.NEGATIVE_INFINITY
  /** Time at which a silence reported this drop. */
  private reportedAt = Number.NEGATIVE_INFINITY

  /** `row`: the row that ends now, with its verdict. Null inside a row, and for an unknown row. */
  judge(at: Instant, row: (Verdict & { count: number }) | null, isSilent: boolean): DropEpisodeState {
    const isRaised = row !== null && this.takeRow(row)
    const deviation = this.isOpen && !this.hasRecovered ? this.direction : null
    const isFallen = isSilent || deviation === 'low'
    const isNew = isFallen && at - this.fellAt > QUIET_MS
    if (isNew) this.reportedAt = Number.NEGATIVE_INFINITY
    if (isFallen) this.fellAt = at
    const byRow = isRaised && !(deviation === 'low' && at - this.reportedAt <= REST_MS)
    const bySilence = isSilent && isNew && !isRaised
    if (bySilence) this.reportedAt = at
    return { alarm: byRow || bySilence, deviation }
  }

  /** Returns true when an alarm is raised. */
  private takeRow(row: Verdict & { count: number }): boolean {
    const { anomaly, open, alarm, up, down } = row
    this.remember(row)
    if (anomaly && !this.hasRecovered) this.direction = down > up ? 'low' : 'high'
    this.isOpen = open
    if (!open) this.hasRecovered = false
    else if (this.hasRecovered) this.hasRecovered = !this.isLike(DEVIATING)
    else this.hasRecovered = !alarm && this.isLike(RECOVERED)
    return alarm && !this.hasRecovered
  }

  private remember({ count, expected }: { count: number; expected: number | null }): void {
    if (this.rows.length >= MAX_RECOVERY_ROWS) this.rows.shift()
    this.rows.push({ count, expected: expected ?? Number.NaN })
  }

  /** True when enough of the last rows are on the given side of their baseline. */
  private isLike(share: typeof RECOVERED): boolean {
    const sum = { count: 0, expected: 0 }
    for (let rows = 1; rows <= this.rows.length; rows++) {
      const row = this.rows.at(-rows)
      sum.count += row?.count ?? 0
      sum.expected += row?.expected ?? Number.NaN
      if (Number.isNaN(sum.expected)) return false
      if (rows < MIN_RECOVERY_ROWS || sum.expected < MIN_RECOVERY_EVENTS) continue
      const isAbove = sum.count >= share[this.direction] * sum.expected
      return (share === RECOVERED) === (this.direction === 'low') ? isAbove : !isAbove
    }
    return false
  }
}
