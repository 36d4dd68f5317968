import { HOUR_MS, type Instant } from '../core/clock.ts'
import { REST_MS } from './alarm.ts'
import type { Verdict } from './detector.ts'

/** A fall that returns within this time is the same one. Longer than any row, so that rows alone carry it on. */
const QUIET_MS = 2 * HOUR_MS

/** Silences between rows are judged by what happened within this time before. */
export const EPISODE_MEMORY_MS = REST_MS + QUIET_MS

/**
 * The baseline of the rows that show a recovery must have this many events; at least two rows, and at most half a day.
 */
const ENOUGH = 30
const FEWEST_ROWS = 2
const MOST_ROWS = 12
/** Shares of the baseline: from here a series has recovered, and from `GONE` it deviates again. */
const BACK = { low: 0.85, high: 1.2 }
const GONE = { low: 0.7, high: 1.5 }

/** The state of an episode at the end of a row or tick. */
export interface Judged {
  alarm: boolean
  /** The open deviation by the rows so far; null: none. */
  trouble: 'high' | 'low' | null
}

/**
 * Combines the verdicts on rows and the silences found between them into one incident. A dead tag is reported before
 * its hour ends, and not again when the hour's count confirms it. The episode ends when the last rows are normal again,
 * although sums of half a day still contain the outage.
 */
export class Episode {
  private isOpen = false
  private direction: 'high' | 'low' = 'high'
  /** True when the rows since show that it is over, whatever the sums show. */
  private isBack = false
  private readonly rows: { count: number; expected: number }[] = []
  private fellAt = Number.NEGATIVE_INFINITY
  /** When a silence reported this fall. */
  private namedAt = Number.NEGATIVE_INFINITY

  /** `row`: the row that ends now with its verdict; null inside a row, and for an unknown row. */
  judge(at: Instant, row: (Verdict & { count: number }) | null, isSilent: boolean): Judged {
    const isRaised = row !== null && this.takeRow(row)
    const trouble = this.isOpen && !this.isBack ? this.direction : null
    const isFallen = isSilent || trouble === 'low'
    const isNew = isFallen && at - this.fellAt > QUIET_MS
    if (isNew) this.namedAt = Number.NEGATIVE_INFINITY
    if (isFallen) this.fellAt = at
    const byRow = isRaised && !(trouble === 'low' && at - this.namedAt <= REST_MS)
    const bySilence = isSilent && isNew && !isRaised
    if (bySilence) this.namedAt = at
    return { alarm: byRow || bySilence, trouble }
  }

  /** Returns true when an alarm is raised. */
  private takeRow(row: Verdict & { count: number }): boolean {
    const { anomaly, open, alarm, up, down } = row
    this.remember(row)
    if (anomaly && !this.isBack) this.direction = down > up ? 'low' : 'high'
    this.isOpen = open
    if (!open) this.isBack = false
    else if (this.isBack) this.isBack = !this.isLike(GONE)
    else this.isBack = !alarm && this.isLike(BACK)
    return alarm && !this.isBack
  }

  private remember({ count, expected }: { count: number; expected: number | null }): void {
    if (this.rows.length >= MOST_ROWS) this.rows.shift()
    this.rows.push({ count, expected: expected ?? Number.NaN })
  }

  /** True when enough of the last rows are on this side of their baseline. */
  private isLike(share: typeof BACK): boolean {
    const sum = { count: 0, expected: 0 }
    for (let rows = 1; rows <= this.rows.length; rows++) {
      const row = this.rows.at(-rows)
      sum.count += row?.count ?? 0
      sum.expected += row?.expected ?? Number.NaN
      if (Number.isNaN(sum.expected)) return false
      if (rows < FEWEST_ROWS || sum.expected < ENOUGH) continue
      const isAbove = sum.count >= share[this.direction] * sum.expected
      return (share === BACK) === (this.direction === 'low') ? isAbove : !isAbove
    }
    return false
  }
}
