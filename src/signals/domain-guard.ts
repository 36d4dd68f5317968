import { HOUR_MS, type Instant } from '../core/clock.ts'
import { rowStart, type Series } from './series.ts'
import type { Outcome } from './verdict-row.ts'

/** At or below this share of what was expected a series has fallen. */
const FALLEN = 0.7
/** What is found of a domain at the end of a row holds until the next one ends. */
const HOLDS_MS = HOUR_MS
/** A signal that is down when its domain has been back for so long fell for reasons of its own. */
const LINGER_MS = 2 * HOUR_MS

/** The end of a row or tick at which a domain had fallen; `alarm`: when that is new, or to be told again. */
export interface Fall {
  at: Instant
  alarm: boolean
}

/** True when it fell. */
export const isDown = ({ state }: Pick<Outcome, 'state'>) => state === 'low' || state === 'silent'

/** True when it has fallen, whether that is an anomaly or not. */
function isFallen({ state, row }: Outcome): boolean {
  return state === 'silent' || (row !== null && row.expected !== null && row.observed <= FALLEN * row.expected)
}

/**
 * Knows when the whole traffic of a domain had fallen: when it is low, and with it more than half of the signals that are
 * judged; and when nothing comes at all. Then the domain is the trouble, and explains the falls of its signals.
 */
export class DomainGuard {
  private readonly whole: Outcome[] = []
  private readonly tallies = new Map<Instant, { judged: number; fallen: number }>()
  private found: Fall[] | null = null

  /** `series`: how the rows of all of them are cut. */
  constructor(private readonly series: Pick<Series, 'stepMs' | 'offsetMs'>) {}

  /** What is said of all events together, in the order of time. */
  takeWhole(outcome: Outcome): void {
    if (outcome.open && isDown(outcome)) this.whole.push(outcome)
  }

  /** What is said of one signal. */
  takeSignal(outcome: Outcome): void {
    if (!outcome.row || outcome.state === 'learning') return
    const tally = this.tallies.get(outcome.at) ?? { judged: 0, fallen: 0 }
    tally.judged += 1
    if (isFallen(outcome)) tally.fallen += 1
    this.tallies.set(outcome.at, tally)
  }

  /** The ends of rows and ticks at which the domain had fallen, in order. Everything must have been taken. */
  falls(): readonly Fall[] {
    if (this.found) return this.found
    const falls: Fall[] = []
    for (const outcome of this.whole) {
      if (!this.isGeneral(outcome)) continue
      const isNew = outcome.at - (falls.at(-1)?.at ?? Number.NEGATIVE_INFINITY) > LINGER_MS
      falls.push({ at: outcome.at, alarm: outcome.alarm || isNew })
    }
    this.found = falls
    return falls
  }

  /** What the domain makes of a signal's outcome. */
  explain(outcome: Outcome): Outcome {
    if (!outcome.open || !isDown(outcome)) return outcome
    const sinceMs = outcome.at - this.lastFall(outcome.at)
    if (sinceMs < HOLDS_MS) return { ...outcome, alarm: false, explained: true }
    // Said once: one row ends in this hour.
    const isDue = outcome.row !== null && sinceMs > LINGER_MS && sinceMs <= LINGER_MS + HOUR_MS
    const isOnItsOwn = isDue && isFallen(outcome)
    return isOnItsOwn ? { ...outcome, alarm: true } : outcome
  }

  /** The last one up to an instant; far in the past when there was none. */
  private lastFall(instant: Instant): Instant {
    const falls = this.falls()
    let [low, high] = [0, falls.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((falls[middle]?.at ?? 0) <= instant) low = middle + 1
      else high = middle
    }
    return falls[low - 1]?.at ?? Number.NEGATIVE_INFINITY
  }

  private isGeneral({ at, state }: Outcome): boolean {
    const { judged, fallen } = this.tallies.get(rowStart(this.series, at)) ?? { judged: 0, fallen: 0 }
    return judged > 0 && (state === 'silent' || fallen * 2 > judged)
  }
}
