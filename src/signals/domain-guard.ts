import { HOUR_MS, type Instant } from '../core/clock.ts'
import { deviationsOf } from '../detector/rarity.ts'
import { rootOf } from '../detector/root.ts'
import { rowStart, type Series, tickBefore } from './series.ts'
import type { Outcome } from './verdict-row.ts'

/** At or below this share of what was expected a series has fallen, when so many deviations of chance lie between. */
const FALLEN = 0.7
const BEYOND_CHANCE = 1.5
/** The same for what is left of a domain without the signals that were down before. */
const WELL_BEYOND_CHANCE = 3
/** Where fewer are expected, not even none is beyond chance. */
const FEWEST = 2
/** When nothing comes for so long, it is the domain, whatever was down before. */
const LONG_MS = 2 * HOUR_MS
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

const isOpenDown = (outcome: Outcome) => outcome.open && isDown(outcome)

function hasFallen(observed: number, expected: number, beyond: number): boolean {
  return observed <= FALLEN * expected && rootOf(expected) - rootOf(observed) >= beyond
}

/** True when it has fallen, whether that is an anomaly or not. */
function isFallen({ state, row }: Outcome): boolean {
  return state === 'silent' || (row !== null && hasFallen(row.observed, row.expected ?? 0, BEYOND_CHANCE))
}

/** True when a fall would show. */
const isJudged = ({ state, row }: Outcome) =>
  state === 'silent' || (state !== 'learning' && row !== null && (row.expected ?? 0) >= FEWEST)

/** What the signals of a domain were at the end of a row, or tick. */
interface Tally {
  /** Those that are not learning. */
  followed: number
  /** Of those that were not down before. */
  judged: number
  fallen: number
  /** Counts of those that were. */
  observed: number
  expected: number
  /** What is expected in a row of those that are down now; at a tick, of those that were not so at the last row. */
  down: number
}

/**
 * Knows when the whole traffic of a domain had fallen: when it is low, and with it more than half of the signals that are
 * judged; and when nothing comes at all. What was down before does not count: where the largest signal is dead, the
 * others are small, and often silent for a while. Then the domain is the trouble, and explains the falls of its signals.
 */
export class DomainGuard {
  private readonly whole: Outcome[] = []
  private readonly expected = new Map<Instant, number>()
  private readonly tallies = new Map<Instant, Tally>()
  private found: Fall[] | null = null

  /** `series`: how the rows of all of them are cut. `sensitivity`: of the whole. */
  constructor(
    private readonly series: Pick<Series, 'stepMs' | 'offsetMs'>,
    private readonly sensitivity: number,
  ) {}

  /** What is said of all events together, in the order of time. */
  takeWhole(outcome: Outcome): void {
    if (outcome.row) this.expected.set(outcome.at, outcome.row.expected ?? 0)
    if (isOpenDown(outcome)) this.whole.push(outcome)
  }

  /** What is said of one signal, and what was said of it before: last, and at the end of its last row. */
  takeSignal(outcome: Outcome, last: Outcome | null, lastRow: Outcome | null): void {
    const { row, at } = outcome
    const tally = this.tallyAt(at)
    if (!row) {
      if (!lastRow || !isOpenDown(lastRow)) tally.down += lastRow?.row?.expected ?? 0
      return
    }
    const expected = row.expected ?? 0
    if (outcome.state !== 'learning') tally.followed += 1
    if (isOpenDown(outcome)) tally.down += expected
    if (last && isOpenDown(last)) {
      tally.observed += row.observed
      tally.expected += expected
    } else if (isJudged(outcome)) {
      tally.judged += 1
      if (isFallen(outcome)) tally.fallen += 1
    }
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
    if (!isOpenDown(outcome)) return outcome
    const sinceMs = outcome.at - this.lastFall(outcome.at)
    if (sinceMs < HOLDS_MS) return { ...outcome, alarm: false, explained: true }
    // Said once: one row ends in this hour.
    const isDue = outcome.row !== null && sinceMs > LINGER_MS && sinceMs <= LINGER_MS + HOUR_MS
    const isOnItsOwn = isDue && isFallen(outcome)
    return isOnItsOwn ? { ...outcome, alarm: true } : outcome
  }

  private tallyAt(instant: Instant): Tally {
    let tally = this.tallies.get(instant)
    if (!tally) {
      tally = { followed: 0, judged: 0, fallen: 0, observed: 0, expected: 0, down: 0 }
      this.tallies.set(instant, tally)
    }
    return tally
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

  private isGeneral(outcome: Outcome): boolean {
    if (this.tallyAt(rowStart(this.series, outcome.at)).followed === 0) return false
    return outcome.state === 'silent' ? this.isAllSilent(outcome) : this.isMostLow(outcome)
  }

  private isMostLow({ at, row }: Outcome): boolean {
    const { judged, fallen, observed, expected } = this.tallyAt(at)
    if (!row || fallen * 2 <= judged) return false
    return hasFallen(row.observed - observed, (row.expected ?? 0) - expected, WELL_BEYOND_CHANCE)
  }

  private isAllSilent({ at, since, unlikely }: Outcome): boolean {
    if (at - since > LONG_MS) return true
    const tick = tickBefore(since)
    const row = rowStart(this.series, tick)
    const down = this.tallyAt(row).down + (tick === row ? 0 : this.tallyAt(tick).down)
    const expected = this.expected.get(row) ?? 0
    const left = expected > 0 ? Math.max(0, 1 - down / expected) : 1
    return deviationsOf(unlikely * left) >= this.sensitivity
  }
}
