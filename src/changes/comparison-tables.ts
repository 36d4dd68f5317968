/**
 * Sides of a change: `before` and `after`. When an old and a new version run concurrently, `old` and `new` replace
 * `after`. The tables below contain only production events, without library loads.
 */
const SIDES = ['before', 'after', 'old', 'new'] as const
export type Side = (typeof SIDES)[number]

/** Events with one name in one period. */
export interface VolumeRow {
  vendor: string
  event: string
  /** Number of days before the change; 0 on the day of the change. */
  lag: number
  side: 'before' | 'after'
  /** Number of stored events, and the sum of their weights. The weights account for sampling. */
  events: number
  weight: number
}

/** Sums over sessions for events with one name. An event without a session counts as a separate session. */
export interface SessionRow {
  vendor: string
  event: string
  side: Side
  /**
   * Block of the time after the change in which these sessions began, counted from 0; -1 for sessions before the
   * change.
   */
  block: number
  sessions: number
  /** Number of these sessions that are in no other row. The sum over all rows is the total number of sessions. */
  firsts: number
  events: number
  weight: number
  /** Sum over all sessions of the squared number of events, where one of the two factors is limited to 50. */
  squares: number
  /** Like `squares`, for weights. The squared total weight divided by this sum is the number of independent events. */
  weightSquares: number
  /** Weights of events with a known status, of failed events, and of events that broke a rule. */
  known: number
  failed: number
  violated: number
}

/** Events with one name that have a given parameter. */
export interface KeyRow {
  vendor: string
  event: string
  side: Side
  key: string
  /** Sums of the weights of all values, of numbers, and of the strings `true` and `false`. */
  weight: number
  numbers: number
  booleans: number
}

/** Number of sessions with a consent signal, for one vendor. */
export interface ConsentRow {
  vendor: string
  side: Side
  /** The parameter that contains the signal. */
  key: string
  denied: number
  /** Number of sessions in which consent was granted at least once. */
  granted: number
}

/** All data that is compared around a change. */
export interface Tables {
  volumes: readonly VolumeRow[]
  sessions: readonly SessionRow[]
  keys: readonly KeyRow[]
  consent: readonly ConsentRow[]
  /** Returns whether the day this many days before the change is of the same kind: a working day or a weekend day. */
  isLikeDay(lag: number): boolean
}

/**
 * Sums for events with one name in an earlier period: all events, events with a key, failed events, and events that
 * broke a rule.
 */
export interface EarlierPeriodRow {
  vendor: string
  event: string
  lag: number
  side: 'before' | 'after'
  events: number
  weightSquares: number
  weight: number
  known: number
  failed: number
  violated: number
  /** Weights of events with each requested key, in total and by type of value. */
  keys: Readonly<Record<string, { weight: number; numbers: number; booleans: number }>>
}
