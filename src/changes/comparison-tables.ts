/**
 * Sides of a change: `before` and `after`. When an old and a new version run concurrently, `old` and `new` replace
 * `after`. The tables below only contain production events, without library loads.
 */
const SIDES = ['before', 'after', 'old', 'new'] as const
export type Side = (typeof SIDES)[number]

/** Events with one name in one period. */
export interface VolumeRow {
  vendor: string
  event: string
  /** Number of days before the change; 0 for the day of the change. */
  lag: number
  side: 'before' | 'after'
  /** Number of stored events, and the sum of their weights, which accounts for sampling. */
  events: number
  weight: number
}

/** Events with one name, by session. An event without a session counts as its own session. */
export interface SessionRow {
  vendor: string
  event: string
  side: Side
  /** Block of the time after the change in which these sessions began, from 0; -1 for sessions before the change. */
  block: number
  sessions: number
  /** Number of these sessions that are not in any other row. Its sum over all rows is the total number of sessions. */
  firsts: number
  events: number
  weight: number
  /** Sum over all sessions of the squared number of events, with one of the two factors limited to 50. */
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
  /** Sessions in which consent was granted at least once. */
  granted: number
}

/** All data that is compared around a change. */
export interface Tables {
  volumes: readonly VolumeRow[]
  sessions: readonly SessionRow[]
  keys: readonly KeyRow[]
  consent: readonly ConsentRow[]
  /** Returns whether the day this many days earlier is of the same kind, working day or weekend. */
  isLikeDay(lag: number): boolean
}

/**
 * Data from an earlier period, for events with one name: how many there were, and how many had a key, failed, or broke
 * a rule.
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
