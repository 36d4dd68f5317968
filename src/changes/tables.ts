/**
 * What is counted around a change, as tables. Sides: `before` the change; `after` it, all of it; where two versions send at
 * once, what is after it is instead `old` and `new`. Only production events count, and no loads of code.
 */
const SIDES = ['before', 'after', 'old', 'new'] as const
export type Side = (typeof SIDES)[number]

/** Events of one name in one stretch of time. */
export interface VolumeRow {
  vendor: string
  event: string
  /** How many days earlier than the change: 0 is the change itself. */
  lag: number
  side: 'before' | 'after'
  /** Rows, each once however it was sampled, and the sum of their weights. */
  events: number
  weight: number
}

/** Events of one name by the sessions they came in; an event without a session is one of its own. */
export interface SessionRow {
  vendor: string
  event: string
  side: Side
  /** In which part of the time after the change these sessions began, from 0; -1: before it. */
  block: number
  sessions: number
  /** Of these the ones that stand in no other row: the sum over all rows is the number of sessions. */
  firsts: number
  events: number
  weight: number
  /** Sum over sessions of the square of their events, of which at most 50 count as a factor. */
  squares: number
  /** The same of their weights: the square of its weight by it is how many independent events there are. */
  weightSquares: number
  /** Weights: of events whose status is known, of failed ones among them, of those that broke a rule. */
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
  /** Sums of weights: of all, of those whose value is a number, of those where it is `true` or `false`. */
  weight: number
  numbers: number
  booleans: number
}

/** Sessions of a vendor that say something of consent. */
export interface ConsentRow {
  vendor: string
  side: Side
  /** The parameter that says it. */
  key: string
  denied: number
  /** Granted at least once. */
  granted: number
}

/** Everything around a change at one look. */
export interface Tables {
  volumes: readonly VolumeRow[]
  sessions: readonly SessionRow[]
  keys: readonly KeyRow[]
  consent: readonly ConsentRow[]
  /** Which weekday it is: whether a lag of so many days falls on the same kind, working day or weekend. */
  isLikeDay(lag: number): boolean
}

/** A share at earlier times: of events of one name, those that have a key, failed, or broke a rule. */
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
  /** Weights of events that have each of the asked keys, by key; and of their values' types. */
  keys: Readonly<Record<string, { weight: number; numbers: number; booleans: number }>>
}
