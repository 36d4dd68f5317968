import { gunzipSync } from 'node:zlib'

/**
 * How the proxy handles requests. `pass` forwards a request, and returns 502 when the server is down. `swallow`
 * forwards it but returns 500, so that the sender does not know that the batch was stored. A `Response` is cloned and
 * returned.
 */
export type Mode = 'pass' | 'swallow' | Response

interface SeenBatch {
  at: number
  /** Status that the sender received. */
  status: number
  batchId: string
  events: number
  /** Size before compression. */
  bytes: number
  envelope: Record<string, unknown>
}

/**
 * Starts a proxy between a client and the collector. `target` returns the URL of the server and is called for each
 * request.
 */
export function startFlakyProxy(target: () => string) {
  const seen: SeenBatch[] = []
  const state: { mode: Mode } = { mode: 'pass' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = Buffer.from(await request.arrayBuffer())
      const isGzip = request.headers.get('content-encoding') === 'gzip'
      const text = (isGzip ? gunzipSync(body) : body).toString()
      const { events, ...envelope } = JSON.parse(text)
      const response = await answer(request, body, state.mode)
      seen.push({
        at: performance.now(),
        status: response.status,
        batchId: envelope.batchId,
        events: events.length,
        bytes: Buffer.byteLength(text),
        envelope,
      })
      return response
    },
  })

  async function answer(request: Request, body: Buffer<ArrayBuffer>, mode: Mode): Promise<Response> {
    if (mode instanceof Response) return mode.clone()
    const { pathname } = new URL(request.url)
    const headers = new Headers(request.headers)
    headers.delete('host')
    try {
      const response = await fetch(target() + pathname, { method: request.method, headers, body, keepalive: false })
      const text = await response.text()
      if (mode === 'swallow') return new Response('the response was lost', { status: 500 })
      return new Response(text, { status: response.status })
    } catch {
      return new Response('the server is down', { status: 502 })
    }
  }

  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    setMode(mode: Mode) {
      state.mode = mode
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
