import type { DecodedEvent } from './decoder.ts'
import { objectsOf, type Params, scalarOrNull, scalarText, sharedOf } from './params.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Abbreviations of the call types in the browser library's paths. */
const TYPES = new Map([
  ['t', 'track'],
  ['p', 'page'],
  ['i', 'identify'],
  ['g', 'group'],
  ['a', 'alias'],
  ['s', 'screen'],
])

/**
 * Calls in Segment's format, which several vendors have adopted: one call, or `{batch: [call, …]}`, where the batch's
 * key applies to calls that have none. The account is the write key from the call or the query. A key in a header is
 * not available. https://segment.com/docs/connections/spec/
 */
export function* readCalls({ path, query, json }: VendorRequest): Iterable<DecodedEvent> {
  const { batch, ...rest } = json
  if (batch === undefined) yield toEvent(json, path, query)
  const shared = sharedOf(rest)
  for (const call of objectsOf(batch)) yield toEvent({ ...shared, ...call }, path, query)
}

/** Only `track` calls have event names. Other calls are named after their type. */
export function toEvent(call: Record<string, unknown>, path: string, query: Params): DecodedEvent {
  const last = path.replace(/\/$/, '').split('/').at(-1) ?? ''
  const type = scalarText(call.type) || (TYPES.get(last) ?? last)
  const event = type === 'track' ? scalarText(call.event) : type
  return { event, account: scalarOrNull(call.writeKey ?? query.writeKey), params: call }
}
