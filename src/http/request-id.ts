import { randomUUID } from 'node:crypto'

/** Name of the header with the id of a request. Every response has it, except those of accepted batches. */
export const REQUEST_ID = 'x-request-id'

/** Ids of proxies and clients, such as UUIDs and hexadecimal or base64 strings. They are safe in headers and logs. */
const VALID_ID = /^[\w.:+/=-]{1,128}$/

const ids = new WeakMap<Request, string>()

/**
 * Returns the id of a request, by which its response is found in the logs: the one that the proxy or client sent in
 * `X-Request-Id` if it is valid, otherwise a new UUID. Further calls return the same id.
 */
export function requestIdOf(request: Request): string {
  const known = ids.get(request)
  if (known !== undefined) return known
  const sent = request.headers.get(REQUEST_ID)
  const id = sent !== null && VALID_ID.test(sent) ? sent : randomUUID()
  ids.set(request, id)
  return id
}
