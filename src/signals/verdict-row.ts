import type { Instant } from '../core/clock.ts'
import type { SeriesState } from '../detector/detector.ts'
import type { SeriesScope } from './series.ts'

/** The count of one row beside what was expected of it. */
export interface RowNumbers {
  /** Weighted events. */
  observed: number
  /** Null where it isn't known. */
  expected: number | null
  /** The counts that are no anomaly, ends included; null where they aren't known. */
  low: number | null
  high: number | null
}

/** How a series stood at the end of a row or of a tick, at one sensitivity. */
export interface Outcome extends RowNumbers {
  /** The end of the row or tick. */
  at: Instant
  /** Where what this is about begins: the start of the row, or of the silence. */
  since: Instant
  state: SeriesState
  /** When the shape of the series is known, as far as that can be said; null when it is, or nothing came yet. */
  learningUntil: Instant | null
  /** Of a silence none. */
  observed: number
  /** Of a silence: since it began. */
  expected: number | null
  /** True while an anomaly is open, or a silence above the sensitivity: `high`, `low` or `silent`. */
  open: boolean
  /** True when it is a new one. */
  alarm: boolean
  /** The end of the last minute with events, when there is a silence above the sensitivity; else null. */
  silentSince: Instant | null
  /** The end of the last minute with events; null when none was seen. */
  lastEventAt: Instant | null
  /** How far out, in deviations. */
  score: number
  /** −ln of the chance of such a silence; 0 of what is none. */
  unlikely: number
  /** The row itself, also in a silence; null of a tick within it. */
  row: RowNumbers | null
  /** True of a row that a gap of our own lies in: its count isn't known. */
  isHurt: boolean
  /** True when it fell because the whole domain did. */
  explained?: boolean
}

/** How one series stood in one window, in the words of the row or tick that says most. */
export interface VerdictRow extends Omit<Outcome, 'row' | 'isHurt' | 'unlikely'> {
  /** One of the scopes that were asked for. */
  scope: SeriesScope
  domainId: string
  /** Null: all. */
  vendor: string | null
  event: string | null
  sensitivity: number
  /** True when somebody muted the signal: it is followed, and is no finding. */
  muted: boolean
  /** True when an anomaly, or a silence, was open at the end of a row or tick of the window. */
  open: boolean
  /** True when a new one was raised in the window, or when one goes on at the first instant that counts again. */
  alarm: boolean
  /** True when it fell: it is low or silent. */
  down: boolean
  /** True when it was open, and wherever it was the fall of the whole domain explains it. */
  explained: boolean
  /** True of the row about a whole domain in whose fall its signals fell with it. */
  explains: boolean
}

/** One row of a series, for a chart. */
export interface SeriesPoint extends RowNumbers {
  start: Instant
  /** True when the row still runs, or a gap of our own lies in it: it was not judged. */
  partial: boolean
}

/** A series over some time, and how it stands at the end of that. */
export interface SeriesChart {
  /** Oldest first, without gaps. */
  points: SeriesPoint[]
  state: SeriesState
  learningUntil: Instant | null
}
