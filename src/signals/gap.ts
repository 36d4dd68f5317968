import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/**
 * `down`: the program did not run. `refused`: the collector could not store events and rejected them. `clock`: the clock
 * showed this time twice, so counts include both.
 */
type GapCause = 'down' | 'refused' | 'clock'

/** A collection gap: counts of `fromAt <= t < toAt` are unreliable because of this server. */
export interface Gap {
  fromAt: Instant
  toAt: Instant
  /** The cause at its beginning. */
  cause: GapCause
}

export type TimeSpan = Pick<Gap, 'fromAt' | 'toAt'>

/** A shorter pause is not a gap, because senders retry. Gaps closer to each other than this are merged. */
export const MIN_GAP_MS = 2 * MINUTE_MS

/** A window is not judged when gaps cover this share of it or more. */
const MAX_COVERED_SHARE = 0.05

/** Returns the message to the operator about a gap, sent once. */
export function gapNotice({ fromAt, toAt, cause }: Gap): { subject: string; text: string } {
  const since = new Date(fromAt).toISOString()
  if (cause === 'refused') {
    return {
      subject: `the collector has been rejecting events since ${since}`,
      text: 'Events can not be stored; check whether the disk is full. Senders receive 503 and retry. Counts are not evaluated until events can be stored again.',
    }
  }
  return {
    subject: `nothing was collected from ${since} to ${new Date(toAt).toISOString()}`,
    text: 'The program was stopped or suspended, or the clock was set forward; check that the clock is right. Counts of that time are not evaluated, and only the operator is notified. For 7 days this time does not count towards the age of stored data, so that a wrong clock deletes nothing.',
  }
}

/** Returns the earlier gap extended by the later one; null when they stay separate. */
export function joinGaps(earlier: Gap, later: Gap): Gap | null {
  if (later.fromAt < earlier.fromAt || later.fromAt - earlier.toAt > MIN_GAP_MS) return null
  return { ...earlier, toAt: Math.max(earlier.toAt, later.toAt) }
}

/** Returns gaps in order, overlapping ones merged: gaps recorded while the clock was wrong may overlap others. */
export function mergeGaps(gaps: readonly Gap[]): Gap[] {
  const merged: Gap[] = []
  for (const gap of gaps) {
    const last = merged.at(-1)
    if (last && gap.fromAt <= last.toAt) merged.splice(-1, 1, { ...last, toAt: Math.max(last.toAt, gap.toAt) })
    else merged.push(gap)
  }
  return merged
}

/** A clock jump counts towards the age of data only after the program has run this long since. */
const CLOCK_TRUSTED_AFTER_MS = 7 * DAY_MS

/**
 * Returns the time by which the age of data is judged: a jump may be a wrong clock, so it does not count until the
 * program has run for 7 days after it. `jumps`: of the clock, in order.
 */
export function retentionNow(jumps: readonly TimeSpan[], now: Instant): Instant {
  let at = now
  let ranMs = 0
  let ranUntil = now
  for (const { fromAt, toAt } of jumps.toReversed()) {
    // The clock was set back since: the jump is void.
    if (toAt > ranUntil) continue
    ranMs += ranUntil - toAt
    if (ranMs >= CLOCK_TRUSTED_AFTER_MS) break
    at -= toAt - fromAt
    ranUntil = fromAt
  }
  return at
}

/** Returns the parts of a time range that none of the others covers, in order. The others may be in any order. */
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

/** True when gaps cover 5 % of the window or more, so that its count is not judged. The gaps do not overlap. */
export function exceedsMaxCoverage(gaps: readonly Gap[], window: { from: Instant; to: Instant }): boolean {
  const covered = coveredMs(gaps, window)
  return covered > 0 && covered >= (window.to - window.from) * MAX_COVERED_SHARE
}

/** Returns how many milliseconds of the window lie in gaps, which do not overlap. */
export function coveredMs(gaps: readonly Gap[], { from, to }: { from: Instant; to: Instant }): number {
  return gaps.reduce((sum, { fromAt, toAt }) => sum + Math.max(0, Math.min(toAt, to) - Math.max(fromAt, from)), 0)
}
