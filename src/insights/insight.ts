import type { Instant } from '../core/clock.ts'
import type { Static, TObject } from '../core/schema.ts'
import type { Principal } from '../http/principal.ts'
import type { Query } from '../warehouse/query.ts'

/** Puts a query to the warehouse; a row is an object. */
export type Ask = <T>(query: Query) => Promise<T[]>

/** Who asks, and when. */
export interface Asker {
  principal: Principal
  now: Instant
}

/**
 * A question to the event history. One value gives the REST route `GET /v1/<path>`, its entry in OpenAPI and
 * the tool for assistants.
 */
export interface Insight<I extends TObject = TObject, O extends TObject = TObject> {
  /** Unique, a verb and a noun in camel case: the route's. */
  id: string
  summary: string
  /** Below `/v1`, with its slash. */
  path: string
  input: I
  output: O
  /** Sees only the asker's organization: every query carries its `orgId`. */
  answer(ask: Ask, input: Static<I>, asker: Asker): Promise<Static<O>>
}

/** Keeps an insight's own types while it is written. */
export function insight<I extends TObject, O extends TObject>(value: Insight<I, O>): Insight<I, O> {
  return value
}
