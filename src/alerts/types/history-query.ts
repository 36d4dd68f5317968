import type { PhoneRegions } from '../../conditions/phone.ts'
import type { Query } from '../../warehouse/query.ts'

/** The most rows that are held in memory at once, however many windows and domains there are. */
export const MAX_ROWS_AT_ONCE = 100_000

/** How past events are queried. */
export interface HistoryOptions {
  regions: PhoneRegions
  /** One of this many events is read and counts for all of them; 1: every event is read. */
  oneIn: number
}

/** The query for what one alert would have judged in many windows of the past, and how to read its rows. */
export interface HistoryQuery<Row> {
  /** `rollup`: from counts by minute; `sql`: from the events themselves. */
  method: 'rollup' | 'sql'
  query: Query
  /** Returns the rows that `judge` gets for each window, in the order of the windows, from the result of `query`. */
  rowsOf(answer: readonly never[]): Row[][]
  /** Returns false when the result is incomplete. */
  isComplete(answer: readonly never[]): boolean
}

/** `limit`: the most events to return, newest first. */
export interface NewestOptions {
  regions: PhoneRegions
  limit: number
}
