import { AppError } from '../../core/error.ts'
import { addressGuard } from './address-guard.ts'
import { connector } from './connection.ts'
import { headersOf, sendRequest } from './http-request.ts'
import { SEND_TIMEOUT_MS } from './transport.ts'

export interface OperatorFetchOptions {
  /** `TAGWARDEN_OUTBOUND_PROXY`; empty: none. */
  proxy: string
  /** `TAGWARDEN_OUTBOUND_CA`, PEM; empty: none. */
  ca: string
}

/** A larger answer is an error: documents, key sets and tokens have some kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024

interface Init {
  method: string
  headers: Record<string, string>
  /** Sent as its text; null or left out: none. */
  body?: unknown
  /** Left out: the request fails after 15 s. */
  signal?: AbortSignal
}

const ANYWHERE = addressGuard(['0.0.0.0/0', '::/0'])

/**
 * Returns a `fetch` for hosts that the operator of the server configured, such as the provider of sign-in. They may be
 * anywhere, so no guard judges their addresses; use `httpTransport` for every address that a user can name. Unlike the
 * runtime's `fetch` it ignores `HTTP_PROXY` and `NO_PROXY`, and follows no redirect.
 */
export function operatorFetch({ proxy, ca }: OperatorFetchOptions) {
  const ways = connector({ guard: ANYWHERE, proxy, ca })
  return (
    address: string,
    { method, headers, body, signal = AbortSignal.timeout(SEND_TIMEOUT_MS) }: Init,
  ): Promise<Response> => {
    const url = new URL(address)
    const request = { url, method, headers, body: body ? String(body) : '', within: SEND_TIMEOUT_MS }
    return sendRequest(ways, request, signal, async (incoming) => {
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of incoming as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        size += chunk.length
        if (size > MAX_ANSWER_BYTES)
          throw new AppError('tooLarge', `the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
      }
      const status = incoming.statusCode ?? 0
      return new Response(size > 0 ? Buffer.concat(chunks) : null, { status, headers: headersOf(incoming) })
    })
  }
}
