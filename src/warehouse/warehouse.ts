import type { Query } from './query.ts'

/** The seam to the event history. Asynchronous, so never used inside a SQLite transaction. */
export interface Warehouse {
  /**
   * Answers a query with one object a row, columns as named in its SQL, 64-bit integers as numbers, or with what its `read`
   * makes of them. `signal` is that of whoever asks, and ends the query; without it a job asks, which waits for no question.
   * Fails with `unavailable` when the engine does, or the signal ends.
   */
  query<T>(query: Query, signal?: AbortSignal): Promise<T[]>
}

/** The same history for one caller: its queries end with the signal. */
export function withSignal(warehouse: Pick<Warehouse, 'query'>, signal: AbortSignal): Pick<Warehouse, 'query'> {
  return { query: (query) => warehouse.query(query, signal) }
}
