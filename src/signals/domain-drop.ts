import { HOUR_MS, type Instant } from '../core/clock.ts'
import { anscombe } from '../detector/anscombe.ts'
import { tailDeviations } from '../detector/tail-deviations.ts'
import { rowStart, type Series, tickBefore } from './series.ts'
import type { Outcome } from './verdict-row.ts'

/**
 * A series has dropped when it is at or below this fraction of its baseline and the difference is at least this many
 * Poisson deviations.
 */
const DROPPED_SHARE = 0.7
const MIN_DEVIATIONS = 1.5
/** Minimum number of deviations for the domain's traffic, excluding signals that were already down. */
const MIN_DOMAIN_DEVIATIONS = 3
/** Minimum baseline; below it, a count of 0 may be due to chance. */
const MIN_EXPECTED = 2
/** A longer silence is attributed to the whole domain, even if signals were already down. */
const LONG_SILENCE_MS = 2 * HOUR_MS
/** A drop detected at the end of a row lasts until the next row ends. */
const DROP_LASTS_MS = HOUR_MS
/** A signal that is still down this long after the recovery of its domain has another cause. */
const RECOVERY_MS = 2 * HOUR_MS
/**
 * Maximum time by which the alarm for a silent signal is delayed while the silence of its domain may still be detected.
 */
export const MAX_WAIT_MS = HOUR_MS
/**
 * A signal's silence is attributed to the domain only if the domain had no events for at least this fraction of the
 * silence.
 */
const SHARED_SILENCE = 0.5

/**
 * The end of a row or tick at which a domain had dropped. `alarm`: true when the drop is new or must be reported again.
 */
export interface Drop {
  at: Instant
  alarm: boolean
}

/** True when the state is low or silent. */
export const isDown = ({ state }: Pick<Outcome, 'state'>) => state === 'low' || state === 'silent'

const isOpenDown = (outcome: Outcome) => outcome.open && isDown(outcome)

function hasDropped(observed: number, expected: number, beyond: number): boolean {
  return observed <= DROPPED_SHARE * expected && anscombe(expected) - anscombe(observed) >= beyond
}

/** True when the series has dropped, whether or not the drop is an anomaly. */
function isBelowBaseline({ state, row }: Outcome): boolean {
  return state === 'silent' || (row !== null && hasDropped(row.observed, row.expected ?? 0, MIN_DEVIATIONS))
}

/** True when a drop in the series would be detectable. */
const isJudged = ({ state, row }: Outcome) =>
  state === 'silent' || (state !== 'learning' && row !== null && (row.expected ?? 0) >= MIN_EXPECTED)

/** Sums over the signals of a domain at the end of a row or tick. */
interface Tally {
  /** Number of signals that have finished learning. */
  followed: number
  /** Number of signals that were not already down, and of those that have dropped. */
  judged: number
  dropped: number
  /** Sums over the signals that were already down. */
  observed: number
  expected: number
  /** Baseline of the signals that are down. At a tick: only of signals that were not down at the last row. */
  down: number
}

/**
 * Detects drops in all traffic of a domain: the domain is low together with more than half of its evaluated signals, or
 * the domain is silent. Signals that were already down are ignored: when the largest signal is dead, the others are
 * small and often silent for a while. A drop of the domain explains the drops of its signals.
 */
export class DomainDropDetector {
  private readonly domainDownOutcomes: Outcome[] = []
  /** Time of the domain's last event, by the end of the row, or of the tick without events. */
  private readonly lastEventAt = new Map<Instant, Instant>()
  private readonly expected = new Map<Instant, number>()
  private readonly tallies = new Map<Instant, Tally>()
  private cachedDrops: Drop[] | null = null

  /** `series`: row length and offset of all signals. `sensitivity`: the sensitivity for the domain's total traffic. */
  constructor(
    private readonly series: Pick<Series, 'stepMs' | 'offsetMs'>,
    private readonly sensitivity: number,
  ) {}

  /** Adds an outcome of the domain's total traffic, including quiet ticks, in chronological order. */
  addDomainOutcome(outcome: Outcome): void {
    if (outcome.lastEventAt !== null) this.lastEventAt.set(outcome.at, outcome.lastEventAt)
    if (outcome.row) this.expected.set(outcome.at, outcome.row.expected ?? 0)
    if (isOpenDown(outcome)) this.domainDownOutcomes.push(outcome)
  }

  /** Adds an outcome of one signal. `last`: the signal's previous outcome; `lastRow`: the outcome of its last row. */
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

  /** Returns the drops of the domain in chronological order. To be called after all outcomes have been added. */
  drops(): readonly Drop[] {
    if (this.cachedDrops) return this.cachedDrops
    const drops: Drop[] = []
    for (const outcome of this.domainDownOutcomes) {
      if (!this.isDomainWide(outcome)) continue
      const isNew = outcome.at - (drops.at(-1)?.at ?? Number.NEGATIVE_INFINITY) > RECOVERY_MS
      drops.push({ at: outcome.at, alarm: outcome.alarm || isNew })
    }
    this.cachedDrops = drops
    return drops
  }

  /**
   * Returns a signal's open outcomes, given in chronological order. Outcomes during a drop of the domain are marked as
   * explained. A signal that stays down after the drop raises an alarm. The alarm for a silence that may be the
   * domain's silence is delayed until the domain has an event, at most by `MAX_WAIT_MS`. The size of event clusters is
   * estimated separately for each series, so the silence of a signal may be detected some minutes before the silence of
   * its domain.
   */
  explain(outcomes: readonly Outcome[]): Outcome[] {
    let waiting: Outcome | null = null
    return outcomes.map((outcome) => {
      const judged = this.explained(outcome)
      if (judged.explained || !isOpenDown(judged)) waiting = null
      else if (judged.alarm) waiting = judged
      // When the last outcome was long ago, the signal has recovered, and its next drop raises a new alarm.
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
    // Reported only once, because exactly one row ends within this hour.
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

  /** Returns the time of the last drop at or before an instant; −Infinity when there was none. */
  private lastDrop(instant: Instant): Instant {
    const drops = this.drops()
    let [low, high] = [0, drops.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((drops[middle]?.at ?? 0) <= instant) low = middle + 1
      else high = middle
    }
    return drops[low - 1]?.at ?? Number.NEGATIVE_INFINITY
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
