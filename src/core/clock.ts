/** Milliseconds since the Unix epoch (UTC), as an integer. */
export type Instant = number

/** The only source of time. Tests replace it. No other code calls `Date.now()`. */
export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => Date.now() }

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** If the clock differs from the elapsed time by more than this, the clock was set. */
export const CLOCK_STEP_MS = 10 * SECOND_MS

/**
 * Returns a function that returns true if the clock was set forward or back by more than `CLOCK_STEP_MS` since its last
 * call. Suspending the machine may look like a step.
 * @param elapsed a monotonic clock in milliseconds
 */
export function clockStepDetector(clock = systemClock, elapsed = () => performance.now()): () => boolean {
  const difference = () => clock.now() - elapsed()
  let before = difference()
  return () => {
    const present = difference()
    const isStep = Math.abs(present - before) > CLOCK_STEP_MS
    before = present
    return isStep
  }
}

/** Maximum delay before an abort or a clock change is noticed. */
const POLL_MS = 100

/**
 * Resolves when the clock reaches `at`, or is set back to a time before the wait began. Throws if the signal aborts.
 */
export async function waitUntil(clock: Clock, at: Instant, signal: AbortSignal): Promise<void> {
  const from = clock.now()
  for (let now = from; now < at && now >= from; now = clock.now()) {
    await Bun.sleep(Math.min(at - now, POLL_MS))
    signal.throwIfAborted()
  }
}

/** Start of the process. */
export const processStartedAt = (): Instant => Math.round(performance.timeOrigin)
