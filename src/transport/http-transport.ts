import type { IncomingMessage } from 'node:http'
import { AppError } from '../core/error.ts'
import { headersOf, sendRequest } from './http-request.ts'
import { type ConnectorOptions, codeOf, connector } from './outbound-connection.ts'
import { type HttpOutbound, type Reply, SEND_TIMEOUT_MS } from './transport.ts'

export interface HttpTransportOptions extends ConnectorOptions {
  timeoutMs?: number
}

/** Maximum number of response bytes that are read if the caller sets no limit. */
export const MAX_REPLY_BYTES = 64 * 1024

/**
 * Transport for HTTP requests to addresses approved by the guard. It connects to the checked address, verifies the
 * certificate for the host name, and does not follow redirects.
 * @throws Error if `proxy` is not an http URL.
 */
export function httpTransport({ timeoutMs = SEND_TIMEOUT_MS, ...options }: HttpTransportOptions) {
  const { guard } = options
  const ways = connector(options)

  async function exchange(outbound: HttpOutbound, within: number, signal: AbortSignal): Promise<Reply> {
    const url = guard.checkUrl(outbound.url)
    const { method, headers, body, maxAnswerBytes } = outbound
    const request = { url, target: targetOf(outbound.url, url), method, headers, body, within }
    return sendRequest(ways, request, signal, (answer) => readReply(answer, maxAnswerBytes))
  }

  return async function sendHttp(outbound: HttpOutbound, signal: AbortSignal): Promise<Reply> {
    const within = outbound.timeoutMs ?? timeoutMs
    const timeout = AbortSignal.timeout(within)
    const either = AbortSignal.any([signal, timeout])
    try {
      return await abortable(exchange(outbound, within, either), either)
    } catch (error) {
      if (timeout.aborted) return { ...failure(`no response within ${within / 1000} s`), hung: true }
      if (signal.aborted) return failure('stopped before a response was received')
      if (error instanceof AppError)
        return failure(error.message, error.code === 'invalid' || error.code === 'tooLarge')
      // Only the error code is used because the message may contain sent data.
      return failure(`the connection failed: ${codeOf(error)}`)
    }
  }
}

/**
 * Path and query exactly as written, because a signature may cover them. Only characters that are not allowed in a
 * request are encoded.
 */
function targetOf(text: string, url: URL): string {
  const written = /^https?:\/\/[^/?#\\]+(\/[!-~]*)$/i.exec(text)?.[1]
  return written && !/[#\\]/.test(written) ? written : `${url.pathname}${url.search}`
}

const failure = (message: string, permanent = false) => ({ kind: 'error', message, permanent }) as const

/**
 * Settles as `work` does, or fails as soon as the signal is aborted. This is needed because a DNS query cannot be
 * cancelled.
 */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/**
 * Reads the response. Fails with `tooLarge` if it exceeds the caller's limit. Without a limit, the rest of a long
 * response is not read.
 */
async function readReply(incoming: IncomingMessage, maxAnswerBytes: number | undefined): Promise<Reply> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    chunks.push(chunk)
    size += chunk.length
    if (maxAnswerBytes === undefined && size >= MAX_REPLY_BYTES) break
    if (maxAnswerBytes !== undefined && size > maxAnswerBytes) {
      throw new AppError('tooLarge', `the response is larger than ${maxAnswerBytes} bytes`)
    }
  }
  const body = Buffer.concat(chunks)
    .subarray(0, maxAnswerBytes ?? MAX_REPLY_BYTES)
    .toString('utf8')
  return { kind: 'status', status: incoming.statusCode ?? 0, headers: headersOf(incoming), body }
}
