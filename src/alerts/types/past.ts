import type { PhoneRegions } from '../../conditions/phone.ts'
import type { Query } from '../../warehouse/query.ts'

/** So many rows are held in memory at once, however many windows and domains there are. */
export const ROWS_AT_ONCE = 100_000

/** How the past is asked. */
export interface PastOptions {
  regions: PhoneRegions
  /** Of so many events one is looked at, and counts for all of them; 1: all are. */
  oneIn: number
}

/** What one alert would have been given to judge in windows of the past, asked in one go. */
export interface Past<Row> {
  /** `rollup`: from counts by minute; `sql`: from the events themselves. */
  method: 'rollup' | 'sql'
  query: Query
  /** The rows that `judge` is given for each window, in the order of the windows, from the answer to `query`. */
  rowsOf(answer: readonly never[]): Row[][]
  /** False when the answer does not hold all there is. */
  isWhole(answer: readonly never[]): boolean
}

/** How many of the newest are wanted, at most. */
export interface NewestOptions {
  regions: PhoneRegions
  limit: number
}
