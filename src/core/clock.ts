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
