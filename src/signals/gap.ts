import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/**
 * `down`: the program did not run; `refused`: the collector could not store what came, and said so to its senders;
 * `clock`: the clock showed this time twice, and counts are of both.
 */
export type GapCause = 'down' | 'refused' | 'clock'

/** A time whose counts say nothing because of us: `fromAt <= t < toAt`. */
export interface Gap {
  fromAt: Instant
  toAt: Instant
  /** Why it began. */
  cause: GapCause
}

export type Span = Pick<Gap, 'fromAt' | 'toAt'>

/** A shorter standstill is none: senders repeat what they could not send. Gaps nearer to each other are one. */
export const PAUSE_MS = 2 * MINUTE_MS

/** From this share on a gap hides too much of a window for its count to be judged. */
const MAX_COVERED_SHARE = 0.05

/** What an operator is told of a gap, once: a sentence for the subject, and what follows from it. */
export function gapNotice({ fromAt, toAt, cause }: Gap): { subject: string; text: string } {
  const since = new Date(fromAt).toISOString()
  if (cause === 'refused') {
    return {
      subject: `the collector has been refusing what comes in since ${since}`,
      text: 'It could not store it; is the disk full? Senders are answered 503 and repeat. Until it can store again, counts are not judged.',
    }
  }
  return {
    subject: `nothing was collected from ${since} to ${new Date(toAt).toISOString()}`,
    text: 'The program was stopped, or stood still, or the clock was set on: is it right? Counts of that time are not judged, and nobody else is told of it. Nothing grows old by it for 7 days, so that a wrong clock deletes nothing.',
  }
}

/** The earlier gap with the later one added to it; null when they are two. */
export function joined(earlier: Gap, later: Gap): Gap | null {
  if (later.fromAt < earlier.fromAt || later.fromAt - earlier.toAt > PAUSE_MS) return null
  return { ...earlier, toAt: Math.max(earlier.toAt, later.toAt) }
}

/** Gaps in order, those that overlap as one: what was recorded while the clock was wrong may lie in others. */
export function apart(gaps: readonly Gap[]): Gap[] {
  const kept: Gap[] = []
  for (const gap of gaps) {
    const last = kept.at(-1)
    if (last && gap.fromAt <= last.toAt) kept.splice(-1, 1, { ...last, toAt: Math.max(last.toAt, gap.toAt) })
    else kept.push(gap)
  }
  return kept
}

/** So long the clock must have run on before what it jumped over counts for how old things are. */
export const BELIEVED_AFTER_MS = 7 * DAY_MS

/**
 * The time by which it is judged what is too old to be kept: a jump may be no more than a wrong clock, so it does not count
 * until the program ran for 7 days after it. `jumps`: of the clock, in order.
 */
export function agedAt(jumps: readonly Span[], now: Instant): Instant {
  let at = now
  let ranMs = 0
  let ranUntil = now
  for (const { fromAt, toAt } of jumps.toReversed()) {
    // The clock was put back since: it is not there.
    if (toAt > ranUntil) continue
    ranMs += ranUntil - toAt
    if (ranMs >= BELIEVED_AFTER_MS) break
    at -= toAt - fromAt
    ranUntil = fromAt
  }
  return at
}

/** What of a time lies outside of others: pieces in order. The others are in any order. */
export function outside(time: Span, others: readonly Span[]): Span[] {
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
export function isCovered(gaps: readonly Gap[], window: { from: Instant; to: Instant }): boolean {
  const covered = coveredMs(gaps, window)
  return covered > 0 && covered >= (window.to - window.from) * MAX_COVERED_SHARE
}

/** How much of the window lies in gaps, which do not overlap. */
export function coveredMs(gaps: readonly Gap[], { from, to }: { from: Instant; to: Instant }): number {
  return gaps.reduce((sum, { fromAt, toAt }) => sum + Math.max(0, Math.min(toAt, to) - Math.max(fromAt, from)), 0)
}
