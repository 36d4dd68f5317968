/** Milliseconds since the Unix epoch, UTC, an integer. */
export type Instant = number

/** The only source of time. Tests replace it; nothing else calls `Date.now()`. */
export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => Date.now() }

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A clock that moved by this much more or less than the time that passed was set by someone. */
export const CLOCK_STEP_MS = 10 * SECOND_MS

/**
 * Returns a function that is true when the clock was set forward or back by more than `CLOCK_STEP_MS` since its last
 * call. `elapsed` is a monotonic clock in milliseconds. A machine that was suspended may look like a step as well.
 */
export function clockSteps(clock = systemClock, elapsed = () => performance.now()): () => boolean {
  const difference = () => clock.now() - elapsed()
  let before = difference()
  return () => {
    const present = difference()
    const isStep = Math.abs(present - before) > CLOCK_STEP_MS
    before = present
    return isStep
  }
}

/** How late at most it is noticed that a clock was moved, or a wait called off. */
const LOOK_MS = 100

/** Resolves when the clock shows `at`, or was put back behind where it began. Fails as soon as the signal is aborted. */
export async function reach(clock: Clock, at: Instant, signal: AbortSignal): Promise<void> {
  const from = clock.now()
  for (let now = from; now < at && now >= from; now = clock.now()) {
    await Bun.sleep(Math.min(at - now, LOOK_MS))
    signal.throwIfAborted()
  }
}
