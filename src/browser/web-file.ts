import { SECOND_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { trustedBeside } from '../integrations/transport/authorities.ts'
import type { Browsing } from './browsing.ts'

/** What a host answered for an address. */
export interface WebFile {
  /** Where it was in the end, after redirects. */
  url: string
  status: number
  /** `Retry-After`; null: it named none. */
  retryAfter: string | null
  /** As it is behind `Content-Encoding`; cut at the limit. */
  body: Uint8Array
}

export interface WebFileOptions {
  browsing: Pick<Browsing, 'proxy' | 'faultOf'>
  /** Authorities that are trusted beside the usual ones, as PEM; empty: none. */
  ca: string
  userAgent: string
  maxBytes: number
  /** For all of it, redirects included. */
  limitMs: number
}

/** RFC 9309 asks for five at least. */
const REDIRECTS_MAX = 5

/**
 * Returns what a host answers for an address, asked for by the guard's proxy as the browser's requests are. Fails with a
 * reason in words when no answer comes, and as soon as `stopping` is aborted.
 */
export async function readWebFile(url: string, options: WebFileOptions, stopping: AbortSignal): Promise<WebFile> {
  const limit = AbortSignal.timeout(options.limitMs)
  const signal = AbortSignal.any([stopping, limit])
  let at = url
  try {
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const response = await ask(at, options, signal)
      const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      const target = next === null ? null : URL.parse(next, at)
      if (target === null || !/^https?:$/.test(target.protocol)) {
        const retryAfter = response.headers.get('retry-after')
        return { url: at, status: response.status, retryAfter, body: await bodyOf(response, options.maxBytes) }
      }
      await response.body?.cancel()
      at = target.href
    }
  } catch (error) {
    stopping.throwIfAborted()
    const late = limit.aborted ? `no answer within ${options.limitMs / SECOND_MS} s` : null
    throw new Error(options.browsing.faultOf(at) ?? late ?? messageOf(error), { cause: error })
  }
  throw new Error(`more than ${REDIRECTS_MAX} redirects`)
}

function ask(
  url: string,
  { browsing: { proxy }, ca, userAgent }: WebFileOptions,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    ...{ proxy, signal, redirect: 'manual', keepalive: false },
    headers: { 'user-agent': userAgent, accept: '*/*' },
    ...(ca === '' ? {} : { tls: { ca: trustedBeside(ca) } }),
  })
}

async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (response.body) {
    for await (const chunk of response.body) {
      chunks.push(chunk)
      size += chunk.length
      // Leaving the loop closes the connection.
      if (size >= maxBytes) break
    }
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}
