import { AppError } from '../core/error.ts'
import { addressGuard } from './address-guard.ts'
import { headersOf, sendRequest } from './http-request.ts'
import { connector } from './outbound-connection.ts'
import { SEND_TIMEOUT_MS } from './transport.ts'

interface OperatorFetchOptions {
  /** `TAGWARDEN_OUTBOUND_PROXY`. Empty if no proxy is used. */
  proxy: string
  /** `TAGWARDEN_OUTBOUND_CA` as PEM. Empty if there are no additional certificates. */
  ca: string
}

/** Maximum size of a response. Documents, key sets and tokens are only a few kilobytes in size. */
const MAX_ANSWER_BYTES = 1024 * 1024

interface Init {
  method: string
  headers: Record<string, string>
  /** Body, which is sent as a string. Null or absent for no body. */
  body?: unknown
  /** Default: a signal that times out after 15 s. */
  signal?: AbortSignal
}

const ANYWHERE = addressGuard(['0.0.0.0/0', '::/0'])

/**
 * Returns a `fetch` for hosts configured by the server's operator, such as an identity provider. Addresses are not
 * checked, so use `httpTransport` for addresses that users can enter. Unlike the runtime's `fetch`, it ignores
 * `HTTP_PROXY` and `NO_PROXY` and does not follow redirects.
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
          throw new AppError('tooLarge', `the response is larger than ${MAX_ANSWER_BYTES} bytes`)
      }
      const status = incoming.statusCode ?? 0
      return new Response(size > 0 ? Buffer.concat(chunks) : null, { status, headers: headersOf(incoming) })
    })
  }
}
