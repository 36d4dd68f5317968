/**
 * Properties by which events are divided into segments, from coarse to fine. If two dimensions explain the violations
 * equally well, the earlier one is named.
 */
export const DIMENSIONS = [
  'browser',
  'browserVersion',
  'os',
  'device',
  'country',
  'language',
  'consent',
  'release',
  'account',
  'pageGroup',
  'hour',
] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** One dimension, or two whose values must both match. */
export type DimensionSet = readonly [Dimension] | readonly [Dimension, Dimension]

/** Dimensions and the value of each, in the same order. */
export interface SegmentKey {
  dimensions: DimensionSet
  values: readonly string[]
}

/**
 * Sums over the events of a segment. The capped sums count each session as at most `SESSION_CAP` events (or the cap of the scope), so that one
 * session can't decide the result. An event without a session counts as one session.
 */
export interface Tally {
  /** Weighted number of violating events and of all events. */
  violating: number
  total: number
  /** The same, capped. */
  cappedViolating: number
  cappedTotal: number
  /**
   * Sums over sessions of products of capped counts: violating × violating, violating × total and total × total. They
   * state how strongly the events of a session depend on each other, and how uneven their weights are.
   */
  violatingSquares: number
  products: number
  totalSquares: number
}

/** Maximum number of events that one session contributes to capped sums. */
export const SESSION_CAP = 8

export interface SegmentTally extends SegmentKey, Tally {}

export const EMPTY_TALLY: Readonly<Tally> = {
  violating: 0,
  total: 0,
  cappedViolating: 0,
  cappedTotal: 0,
  violatingSquares: 0,
  products: 0,
  totalSquares: 0,
}

/** Returns the sums over the events of `whole` that are not in `part`. */
export function remainder(whole: Tally, part: Tally): Tally {
  const rest = (field: keyof Tally) => Math.max(0, whole[field] - part[field])
  return {
    violating: rest('violating'),
    total: rest('total'),
    cappedViolating: rest('cappedViolating'),
    cappedTotal: rest('cappedTotal'),
    violatingSquares: rest('violatingSquares'),
    products: rest('products'),
    totalSquares: rest('totalSquares'),
  }
}
