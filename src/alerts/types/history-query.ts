import type { PhoneRegions } from '../../conditions/find-phone-numbers.ts'
import type { MembersOf } from '../../labels/label.ts'
import type { Query } from '../../warehouse/query.ts'
import type { Alert } from '../alert.ts'
import type { Window } from '../finding.ts'

/** Maximum number of rows in memory at once, for any number of windows and domains. */
export const MAX_ROWS_AT_ONCE = 100_000

/** Options for querying past events. */
export interface HistoryOptions {
  regions: PhoneRegions
  /** Sampling: one in this many sessions is read and represents all of them; 1 reads every event. */
  oneIn: number
}

/** The query for the rows of one alert in many past windows, with functions to read its result. */
export interface HistoryQuery<Row> {
  /** `rollup`: from counts by minute; `sql`: from the events. */
  method: 'rollup' | 'sql'
  query: Query
  /** Returns the rows to pass to `judge` for each window, in the order of the windows, from the result of `query`. */
  rowsOf(answer: readonly never[]): Row[][]
  /** Returns false when the result is incomplete. */
  isComplete(answer: readonly never[]): boolean
}

/** Past windows of one alert, measured from the stored events instead of the `violations` stored on arrival. */
export interface HistoryMeasure<Row> {
  /**
   * Maximum size of a query: events in scope, windows, and windows times domains. Larger requests are split. Infinity
   * means unlimited.
   */
  limits: { events: number; windows: number; rows: number }
  /** Returns one query for adjacent windows. */
  query(alert: Alert, windows: readonly Window[], options: HistoryOptions, membersOf?: MembersOf): HistoryQuery<Row>
}

export const UNLIMITED = Number.POSITIVE_INFINITY

/** `limit`: maximum number of events to return, newest first. */
export interface NewestOptions {
  regions: PhoneRegions
  limit: number
}
