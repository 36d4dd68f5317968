/**
 * Tables of counts around a change. Sides: `before` and `after` the change; when two versions are concurrent, `old` and
 * `new` replace `after`. Only production events count, without library loads.
 */
const SIDES = ['before', 'after', 'old', 'new'] as const
export type Side = (typeof SIDES)[number]

/** Events of one name in one time interval. */
export interface VolumeRow {
  vendor: string
  event: string
  /** Days before the change; 0 is the change itself. */
  lag: number
  side: 'before' | 'after'
  /** Number of rows without regard to sampling, and the sum of their weights. */
  events: number
  weight: number
}

/** Events of one name by session; an event without a session is a session. */
export interface SessionRow {
  vendor: string
  event: string
  side: Side
  /** Part of the time after the change in which these sessions began, from 0; -1: before the change. */
  block: number
  sessions: number
  /** Those of them that appear in no other row, so that the sum over all rows is the number of sessions. */
  firsts: number
  events: number
  weight: number
  /** Sum over sessions of the square of their events, of which at most 50 count as a factor. */
  squares: number
  /** The same for their weights; the squared weight divided by it is the number of independent events. */
  weightSquares: number
  /** Weights: events with a known status, failed events, and events that broke a rule. */
  known: number
  failed: number
  violated: number
}

/** Events of one name that have a parameter. */
export interface KeyRow {
  vendor: string
  event: string
  side: Side
  key: string
  /** Sums of weights: all values, numbers, and the texts `true` or `false`. */
  weight: number
  numbers: number
  booleans: number
}

/** Sessions of a vendor with a consent signal. */
export interface ConsentRow {
  vendor: string
  side: Side
  /** The parameter with the signal. */
  key: string
  denied: number
  /** Granted at least once. */
  granted: number
}

/** All data around a change. */
export interface Tables {
  volumes: readonly VolumeRow[]
  sessions: readonly SessionRow[]
  keys: readonly KeyRow[]
  consent: readonly ConsentRow[]
  /** Returns whether a lag in days leads to the same kind of day, working day or weekend. */
  isLikeDay(lag: number): boolean
}

/** A share at an earlier time: of events of one name, those that have a key, failed, or broke a rule. */
export interface PastRow {
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
  /** Weights of events that have each requested key, by key, and by type of value. */
  keys: Readonly<Record<string, { weight: number; numbers: number; booleans: number }>>
}
