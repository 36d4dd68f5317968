import { RANGE_HOURS, type Range } from './search-params.ts'

const HOUR_MS = 3_600_000

/** The search params of a time range. */
export interface AskedRange {
  range?: Range
  from?: number | null
  to?: number | null
}

/** Query fields of the API for a period. `hours` is its length up to now, or up to `to`. */
type PeriodQuery = { hours: number; to?: number } | { from: number; to?: number }

/** The period that a page covers. */
export interface Period {
  query: PeriodQuery
  /** Length in hours, rounded up. */
  hours: number
  /** Start; null for the last `hours` before now. */
  from: number | null
  /** End; null for now. */
  to: number | null
  /** Maximum length in hours, if the time range is longer; otherwise null. */
  limit: number | null
}

/** Returns the part of a time range that a page covers: its end, if it is longer than `maxHours`. */
export function periodOf(
  { range = '24h', from = null, to = null }: AskedRange,
  maxHours: number,
  now = Date.now(),
): Period {
  const end = to ?? now
  const asked = from === null ? RANGE_HOURS[range] : (end - from) / HOUR_MS
  const limit = asked > maxHours ? maxHours : null
  const hours = Math.max(1, Math.ceil(limit ?? asked))
  if (from === null || limit !== null) {
    const start = to === null ? null : to - hours * HOUR_MS
    return { query: { hours, ...(to !== null && { to }) }, hours, from: start, to, limit }
  }
  return { query: { from, ...(to !== null && { to }) }, hours, from, to, limit }
}
