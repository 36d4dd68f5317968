import { type Instant, MINUTE_MS } from '../core/clock.ts'

/** `down`: the program did not run; `refused`: the collector could not store what came, and said so to its senders. */
export const GAP_CAUSES = ['down', 'refused'] as const
export type GapCause = (typeof GAP_CAUSES)[number]

/** A time of which events are missing because of us: `fromAt <= t < toAt`. */
export interface Gap {
  fromAt: Instant
  toAt: Instant
  /** Why it began. */
  cause: GapCause
}

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
    text: 'The program was stopped, or stood still. Counts of that time are not judged, and nobody else is told of it.',
  }
}

/** The earlier gap with the later one added to it; null when they are two. */
export function joined(earlier: Gap, later: Gap): Gap | null {
  if (later.fromAt - earlier.toAt > PAUSE_MS) return null
  return { ...earlier, toAt: Math.max(earlier.toAt, later.toAt) }
}

/** True when gaps cover 5 % of the window or more, so that its count is not judged. The gaps do not overlap. */
export function isCovered(gaps: readonly Gap[], { from, to }: { from: Instant; to: Instant }): boolean {
  const coveredMs = gaps.reduce(
    (sum, { fromAt, toAt }) => sum + Math.max(0, Math.min(toAt, to) - Math.max(fromAt, from)),
    0,
  )
  return coveredMs > 0 && coveredMs >= (to - from) * MAX_COVERED_SHARE
}
