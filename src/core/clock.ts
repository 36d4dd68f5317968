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

/** A clock that differs from the time that passed by so much was set. */
export const CLOCK_STEP_MS = 10 * SECOND_MS

/**
 * Answers a question that may be asked again and again: was the clock set since it was last asked, on or back, by more
 * than `CLOCK_STEP_MS`? `elapsed`: milliseconds that never go back. After the machine slept it may seem so too.
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
