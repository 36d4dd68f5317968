import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { timeText } from '../core/text.ts'

/**
 * `down`: the program was not running. `refused`: the collector could not store events and rejected them. `clock`: the
 * clock showed this time twice, so counts include both periods.
 */
type GapCause = 'down' | 'refused' | 'clock'

/** A collection gap: counts in `fromAt <= t < toAt` are unreliable because of this server. */
export interface Gap {
  fromAt: Instant
  toAt: Instant
  /** The cause at the start of the gap. */
  cause: GapCause
}

export type TimeSpan = Pick<Gap, 'fromAt' | 'toAt'>

/**
 * Minimum length of a gap; shorter pauses are ignored, because senders retry. Gaps separated by less than this are
 * merged.
 */
export const MIN_GAP_MS = 2 * MINUTE_MS

/** A window is not evaluated when gaps cover at least this fraction of the window. */
const MAX_COVERED_SHARE = 0.05

/**
 * Returns the one-time message to the operator about a gap.
 * @param collector name of the collector that rejected events; empty for this server
 */
export function gapNotice({ fromAt, toAt, cause }: Gap, collector = ''): { subject: string; text: string } {
  const since = timeText(fromAt)
  if (cause === 'refused') {
    return {
      subject: `the collector ${collector === '' ? '' : `${collector} `}has been rejecting events since ${since}`,
      text: 'Events cannot be stored; check whether the disk is full. Senders receive 503 and retry. Counts are not evaluated until events can be stored again.',
    }
  }
  return {
    subject: `nothing was collected from ${since} to ${timeText(toAt)}`,
    text: 'Tagwarden was stopped or suspended, or the clock was set forward; check that the clock is correct. Counts from this period are not evaluated, and only the operator is notified. For 7 days, the period does not count towards the age of stored data, so that a wrong clock does not cause data to be deleted.',
  }
}

/** Returns the earlier gap extended by the later one; null when they remain separate. */
export function joinGaps(earlier: Gap, later: Gap): Gap | null {
  if (later.fromAt < earlier.fromAt || later.fromAt - earlier.toAt > MIN_GAP_MS) return null
  return { ...earlier, toAt: Math.max(earlier.toAt, later.toAt) }
}

/**
 * Returns gaps in order, with overlapping gaps merged. A gap recorded while the clock was wrong may overlap another
 * gap.
 */
export function mergeGaps(gaps: readonly Gap[]): Gap[] {
  const merged: Gap[] = []
  for (const gap of gaps) {
    const last = merged.at(-1)
    if (last && gap.fromAt <= last.toAt) merged.splice(-1, 1, { ...last, toAt: Math.max(last.toAt, gap.toAt) })
    else merged.push(gap)
  }
  return merged
}

/** A clock jump is included in the age of data only after the program has run this long since the jump. */
const CLOCK_TRUSTED_AFTER_MS = 7 * DAY_MS

/**
 * Returns the reference time for the age of data. A jump may be caused by a wrong clock, so it is ignored until the
 * program has run for 7 days after it. `jumps`: the clock jumps, in chronological order.
 */
export function retentionNow(jumps: readonly TimeSpan[], now: Instant): Instant {
  let at = now
  let ranMs = 0
  let ranUntil = now
  for (const { fromAt, toAt } of jumps.toReversed()) {
    // The clock has been set back since then, so the jump is void.
    if (toAt > ranUntil) continue
    ranMs += ranUntil - toAt
    if (ranMs >= CLOCK_TRUSTED_AFTER_MS) break
    at -= toAt - fromAt
    ranUntil = fromAt
  }
  return at
}

/** Returns the parts of a time range that none of the other ranges covers, in order. The others may be in any order. */
export function subtractSpans(time: TimeSpan, others: readonly TimeSpan[]): TimeSpan[] {
  let pieces = [time]
  for (const { fromAt, toAt } of others) {
    pieces = pieces
      .flatMap((piece) => [
        { fromAt: piece.fromAt, toAt: Math.min(piece.toAt, fromAt) },
        { fromAt: Math.max(piece.fromAt, toAt), toAt: piece.toAt },
      ])
      .filter((piece) => piece.toAt > piece.fromAt)
  }
  return pieces
}

/** True when gaps cover 5 % of the window or more, so that its count is not evaluated. The gaps must not overlap. */
export function exceedsMaxCoverage(gaps: readonly Gap[], window: { from: Instant; to: Instant }): boolean {
  const covered = coveredMs(gaps, window)
  return covered > 0 && covered >= (window.to - window.from) * MAX_COVERED_SHARE
}

/** Returns the number of milliseconds of the window that are covered by gaps. The gaps must not overlap. */
export function coveredMs(gaps: readonly Gap[], { from, to }: { from: Instant; to: Instant }): number {
  return gaps.reduce((sum, { fromAt, toAt }) => sum + Math.max(0, Math.min(toAt, to) - Math.max(fromAt, from)), 0)
}
