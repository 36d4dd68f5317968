import type { PhoneRegions } from '../../conditions/phone.ts'
import type { Query } from '../../warehouse/query.ts'

/** Maximum number of rows in memory at once, for any number of windows and domains. */
export const MAX_ROWS_AT_ONCE = 100_000

/** Options for querying past events. */
export interface HistoryOptions {
  regions: PhoneRegions
  /** Sampling: one in this many events is read and represents all of them; 1 reads every event. */
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

/** `limit`: maximum number of events to return, newest first. */
export interface NewestOptions {
  regions: PhoneRegions
  limit: number
}
