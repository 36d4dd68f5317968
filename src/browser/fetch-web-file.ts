import type { IncomingMessage } from 'node:http'
import { pipeline, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { SECOND_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { addressGuard } from '../transport/address-guard.ts'
import { sendRequest } from '../transport/http-request.ts'
import { type Connector, connector } from '../transport/outbound-connection.ts'
import type { Browsing } from './browsing.ts'

/** Response to a request for a file on a website. */
export interface WebFile {
  /** Final URL after redirects. */
  url: string
  status: number
  /** Value of the `Retry-After` header; null when absent. */
  retryAfter: string | null
  /** Body, decoded according to `Content-Encoding` and truncated to the maximum size. */
  body: Uint8Array
}

export interface WebFileOptions {
  browsing: Pick<Browsing, 'proxy' | 'faultOf'>
  /** Additional trusted certificate authorities in PEM format. Empty for none. */
  ca: string
  userAgent: string
  maxBytes: number
  /** Timeout of the whole request in milliseconds, including redirects. */
  limitMs: number
}

type AskOptions = Pick<WebFileOptions, 'userAgent' | 'maxBytes' | 'limitMs'> & { ways: Connector }

/** RFC 9309 requires support for at least five redirects. */
const REDIRECTS_MAX = 5

/**
 * Returns the response for a URL after redirects. Like the browser's requests, the request is made through the guard's
 * proxy. Rejects with a readable reason when there is no response, and as soon as `stopping` is aborted.
 */
export async function readWebFile(url: string, options: WebFileOptions, stopping: AbortSignal): Promise<WebFile> {
  const limit = AbortSignal.timeout(options.limitMs)
  const signal = AbortSignal.any([stopping, limit])
  // The address guard of this connector does nothing, because the proxy checks the requests.
  const ways = connector({ guard: addressGuard([]), proxy: options.browsing.proxy, ca: options.ca })
  let at = url
  try {
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const { redirect, file } = await ask(at, { ...options, ways }, signal)
      const target = redirect === null ? null : URL.parse(redirect, at)
      if (target === null || !/^https?:$/.test(target.protocol)) return file
      at = target.href
    }
  } catch (error) {
    stopping.throwIfAborted()
    const late = limit.aborted ? `no response within ${options.limitMs / SECOND_MS} s` : null
    throw new Error(options.browsing.faultOf(at) ?? late ?? messageOf(error), { cause: error })
  }
  throw new Error(`more than ${REDIRECTS_MAX} redirects`)
}

/** Returns the response of one host, which may be a redirect. */
function ask(
  address: string,
  { ways, userAgent, maxBytes, limitMs }: AskOptions,
  signal: AbortSignal,
): Promise<{ redirect: string | null; file: WebFile }> {
  const headers = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': Object.keys(DECODERS).join(', ') }
  const request = { url: new URL(address), method: 'GET', headers, body: '', within: limitMs }
  return sendRequest(ways, request, signal, async (incoming) => {
    const { statusCode: status = 0, headers } = incoming
    const redirect = status >= 300 && status < 400 ? (headers.location ?? null) : null
    const body = redirect === null ? await bodyOf(incoming, maxBytes) : new Uint8Array()
    return { redirect, file: { url: address, status, retryAfter: headers['retry-after'] ?? null, body } }
  })
}

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

async function bodyOf(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const decoder = DECODERS[incoming.headers['content-encoding']?.trim().toLowerCase() ?? '']?.()
  // A broken connection must also end the decoder. Otherwise, its reader would wait forever.
  const plain: AsyncIterable<Buffer> = decoder ? pipeline(incoming, decoder, () => undefined) : incoming
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of plain) {
    chunks.push(chunk)
    size += chunk.length
    // Leaving the loop closes the connection.
    if (size >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}
