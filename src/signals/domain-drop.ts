import { HOUR_MS, type Instant } from '../core/clock.ts'
import { anscombe } from '../detector/anscombe.ts'
import { tailDeviations } from '../detector/tail-deviations.ts'
import { rowStart, type Series, tickBefore } from './series.ts'
import type { Outcome } from './verdict-row.ts'

/**
 * A series has dropped at or below this share of its baseline, when the difference is at least this many deviations of
 * chance.
 */
const DROPPED_SHARE = 0.7
const MIN_DEVIATIONS = 1.5
/** The same for a domain without the signals that were down before. */
const MIN_DOMAIN_DEVIATIONS = 3
/** With a smaller baseline, even no event is within chance. */
const MIN_EXPECTED = 2
/** A silence this long is the domain's, whatever was down before. */
const LONG_SILENCE_MS = 2 * HOUR_MS
/** A fall found at the end of a row holds until the next one ends. */
const DROP_LASTS_MS = HOUR_MS
/** A signal that is still down this long after its domain recovered fell for another reason. */
const RECOVERY_MS = 2 * HOUR_MS
/** A signal's silence waits this long for the silence of its domain, which is known at each tick, to be found or to end. */
export const MAX_WAIT_MS = HOUR_MS
/** A silence is that of the domain as well when nothing came of the domain for at least this share of it. */
const SHARED_SILENCE = 0.5

/**
 * The end of a row or tick at which a domain had dropped; `alarm`: true when the fall is new, or must be reported again.
 */
export interface Drop {
  at: Instant
  alarm: boolean
}

/** True when it fell. */
export const isDown = ({ state }: Pick<Outcome, 'state'>) => state === 'low' || state === 'silent'

const isOpenDown = (outcome: Outcome) => outcome.open && isDown(outcome)

function hasDropped(observed: number, expected: number, beyond: number): boolean {
  return observed <= DROPPED_SHARE * expected && anscombe(expected) - anscombe(observed) >= beyond
}

/** True when it has dropped, whether as an anomaly or not. */
function isBelowBaseline({ state, row }: Outcome): boolean {
  return state === 'silent' || (row !== null && hasDropped(row.observed, row.expected ?? 0, MIN_DEVIATIONS))
}

/** True when a fall would be visible. */
const isJudged = ({ state, row }: Outcome) =>
  state === 'silent' || (state !== 'learning' && row !== null && (row.expected ?? 0) >= MIN_EXPECTED)

/** Sums over the signals of a domain at the end of a row or tick. */
interface Tally {
  /** Those that are not learning. */
  followed: number
  /** Among the signals that were not down before. */
  judged: number
  dropped: number
  /** Counts of the signals that were down before. */
  observed: number
  expected: number
  /** The baseline of the signals that are down now; at a tick, of those that were not down at the last row. */
  down: number
}

/**
 * Detects falls of a domain's whole traffic: when the domain is low together with more than half of its judged signals,
 * or when it is silent. Signals that were down before do not count: where the largest signal is dead, the others are
 * small, and often silent for a while. A fall of the domain explains the falls of its signals.
 */
export class DomainDropDetector {
  private readonly domainDownOutcomes: Outcome[] = []
  /** When the last event of the domain came, at the ends of rows and of ticks at which none had come. */
  private readonly lastEventAt = new Map<Instant, Instant>()
  private readonly expected = new Map<Instant, number>()
  private readonly tallies = new Map<Instant, Tally>()
  private cachedDrops: Drop[] | null = null

  /** `series`: the row length and offset of all signals. `sensitivity`: for the whole traffic. */
  constructor(
    private readonly series: Pick<Series, 'stepMs' | 'offsetMs'>,
    private readonly sensitivity: number,
  ) {}

  /** Takes the outcomes of all events together, lulls too, in the order of time. */
  addDomainOutcome(outcome: Outcome): void {
    if (outcome.lastEventAt !== null) this.lastEventAt.set(outcome.at, outcome.lastEventAt)
    if (outcome.row) this.expected.set(outcome.at, outcome.row.expected ?? 0)
    if (isOpenDown(outcome)) this.domainDownOutcomes.push(outcome)
  }

  /** Takes an outcome of one signal; `last`: its previous outcome, `lastRow`: that at the end of its last row. */
  addSignalOutcome(outcome: Outcome, last: Outcome | null, lastRow: Outcome | null): void {
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
      if (isBelowBaseline(outcome)) tally.dropped += 1
    }
  }

  /** Returns the ends of rows and ticks at which the domain had dropped, in order. All outcomes must have been taken. */
  drops(): readonly Drop[] {
    if (this.cachedDrops) return this.cachedDrops
    const falls: Drop[] = []
    for (const outcome of this.domainDownOutcomes) {
      if (!this.isDomainWide(outcome)) continue
      const isNew = outcome.at - (falls.at(-1)?.at ?? Number.NEGATIVE_INFINITY) > RECOVERY_MS
      falls.push({ at: outcome.at, alarm: outcome.alarm || isNew })
    }
    this.cachedDrops = falls
    return falls
  }

  /**
   * Returns a signal's open outcomes, which must be in the order of time: those during a fall of the domain are marked as
   * explained, and an outcome is an alarm when the signal stays down after it. A silence that may be the domain's is an alarm
   * once the domain has an event, or after `MAX_WAIT_MS`: how many events come together is estimated for each series by itself,
   * so the silence of a signal may be found some minutes before that of its domain.
   */
  explain(outcomes: readonly Outcome[]): Outcome[] {
    let waiting: Outcome | null = null
    return outcomes.map((outcome) => {
      const judged = this.explained(outcome)
      if (judged.explained || !isOpenDown(judged)) waiting = null
      else if (judged.alarm) waiting = judged
      // Where the last outcome was long ago, the signal had recovered, and its next fall has an alarm of its own.
      if (waiting === null || judged.at - waiting.at > RECOVERY_MS) return judged
      const isHeld = judged.at - waiting.at < MAX_WAIT_MS && this.isSharedSilence(judged)
      if (!isHeld) waiting = null
      return { ...judged, alarm: !isHeld }
    })
  }

  private explained(outcome: Outcome): Outcome {
    if (!isOpenDown(outcome)) return outcome
    const sinceMs = outcome.at - this.lastDrop(outcome.at)
    if (sinceMs < DROP_LASTS_MS) return { ...outcome, alarm: false, explained: true }
    // Reported once: one row ends in this hour.
    const isDue = outcome.row !== null && sinceMs > RECOVERY_MS && sinceMs <= RECOVERY_MS + HOUR_MS
    const isOnItsOwn = isDue && isBelowBaseline(outcome)
    return isOnItsOwn ? { ...outcome, alarm: true } : outcome
  }

  private isSharedSilence({ state, at, since }: Outcome): boolean {
    const wholeSince = this.lastEventAt.get(at)
    return state === 'silent' && wholeSince !== undefined && at - wholeSince >= SHARED_SILENCE * (at - since)
  }

  private tallyAt(instant: Instant): Tally {
    let tally = this.tallies.get(instant)
    if (!tally) {
      tally = { followed: 0, judged: 0, dropped: 0, observed: 0, expected: 0, down: 0 }
      this.tallies.set(instant, tally)
    }
    return tally
  }

  /** Returns the last fall up to an instant; −Infinity when there was none. */
  private lastDrop(instant: Instant): Instant {
    const falls = this.drops()
    let [low, high] = [0, falls.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((falls[middle]?.at ?? 0) <= instant) low = middle + 1
      else high = middle
    }
    return falls[low - 1]?.at ?? Number.NEGATIVE_INFINITY
  }

  private isDomainWide(outcome: Outcome): boolean {
    if (this.tallyAt(rowStart(this.series, outcome.at)).followed === 0) return false
    return outcome.state === 'silent' ? this.isAllSilent(outcome) : this.isMostLow(outcome)
  }

  private isMostLow({ at, row }: Outcome): boolean {
    const { judged, dropped, observed, expected } = this.tallyAt(at)
    if (!row || dropped * 2 <= judged) return false
    return hasDropped(row.observed - observed, (row.expected ?? 0) - expected, MIN_DOMAIN_DEVIATIONS)
  }

  private isAllSilent({ at, since, unlikely }: Outcome): boolean {
    if (at - since > LONG_SILENCE_MS) return true
    const tick = tickBefore(since)
    const row = rowStart(this.series, tick)
    const down = this.tallyAt(row).down + (tick === row ? 0 : this.tallyAt(tick).down)
    const expected = this.expected.get(row) ?? 0
    const left = expected > 0 ? Math.max(0, 1 - down / expected) : 1
    return tailDeviations(unlikely * left) >= this.sensitivity
  }
}
