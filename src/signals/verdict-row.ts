import type { Instant } from '../core/clock.ts'
import type { SeriesState } from '../detector/detector.ts'
import type { SeriesScope } from './series.ts'

/** The count for one row with its baseline and band. */
export interface RowNumbers {
  /** Weighted events. */
  observed: number
  /** The baseline; null when unknown. */
  expected: number | null
  /** The band: counts that are not an anomaly, inclusive; null when unknown. */
  low: number | null
  high: number | null
}

/** The state of a series at the end of a row or tick, at one sensitivity. */
export interface Outcome extends RowNumbers {
  /** The end of the row or tick. */
  at: Instant
  /** Start of the row, or of the silence. */
  since: Instant
  state: SeriesState
  /**
   * Estimated time at which the season of the series will be known; null when it is known, or before the first event.
   */
  learningUntil: Instant | null
  /** 0 during a silence. */
  observed: number
  /** During a silence: the baseline since its start. */
  expected: number | null
  /** True while an anomaly, or a silence above the sensitivity, is open: `high`, `low` or `silent`. */
  open: boolean
  /** True when the anomaly or silence is new. */
  alarm: boolean
  /** The end of the last minute with events, during a silence above the sensitivity; otherwise null. */
  silentSince: Instant | null
  /** The end of the last minute with events; null when there was none. */
  lastEventAt: Instant | null
  /** Distance from the baseline in deviations. */
  score: number
  /** −ln of the probability of such a silence; 0 when there is none. */
  unlikely: number
  /** The row itself, including during a silence; null for a tick inside a row. */
  row: RowNumbers | null
  /** True for a row that overlaps a collection gap: its count is unknown. */
  touchesGap: boolean
  /** True when the series dropped because all traffic of the domain dropped. */
  explained?: boolean
}

/** True for a tick inside a row at which a domain had no events, but not for long enough to be a silence. */
export const isQuietTick = ({ row, open }: Pick<Outcome, 'row' | 'open'>) => row === null && !open

/** The state of one series in one window, taken from its most significant row or tick. */
export interface VerdictRow extends Omit<Outcome, 'row' | 'touchesGap' | 'unlikely'> {
  /** One of the queried scopes. */
  scope: SeriesScope
  domainId: string
  /** Null for all vendors or events. */
  vendor: string | null
  event: string | null
  sensitivity: number
  /** True for a muted signal, which is monitored but causes no finding. */
  muted: boolean
  /** True when an anomaly or a silence was open at the end of a row or tick in the window. */
  open: boolean
  /**
   * True when a new anomaly or silence began in the window, or when one is still open at the first instant that is not
   * ignored.
   */
  alarm: boolean
  /** True when the state is low or silent. */
  down: boolean
  /** True when a deviation was open and always explained by the drop of the domain. */
  explained: boolean
  /** True for the row of a domain that dropped together with its signals. */
  explains: boolean
}

/** One row of a series, for a chart. */
export interface SeriesPoint extends RowNumbers {
  start: Instant
  /** True when the row was not evaluated, because it has not ended or overlaps a collection gap. */
  partial: boolean
}

/** A series over a range of time, and its state at the end of the range. */
export interface SeriesChart {
  /** Oldest first, without gaps. */
  points: SeriesPoint[]
  state: SeriesState
  learningUntil: Instant | null
}
