import { Agent, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import type { Connector } from './outbound-connection.ts'

interface HttpRequest {
  url: URL
  /** Path and query exactly as sent. Default: those of `url`. */
  target?: string
  method: string
  headers: Readonly<Record<string, string>>
  /** Request body. Empty for no body. */
  body: string | Buffer
  /** Time limit for connecting, in ms. */
  within: number
}

/**
 * Sends a request over a new connection, returns the result of `read`, and closes the connection. Does not follow
 * redirects or decode content. Fails if the connection or `read` fails, or if `signal` is aborted.
 */
export async function sendRequest<T>(
  { open, proxy }: Connector,
  { url, target = `${url.pathname}${url.search}`, method, headers: own, body, within }: HttpRequest,
  signal: AbortSignal,
  read: (answer: IncomingMessage) => Promise<T>,
): Promise<T> {
  const socket = await open(url, { within, signal })
  const isAbsolute = proxy !== null && url.protocol === 'http:'
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const headers = {
    ...own,
    host: url.host,
    connection: 'close',
    'content-length': String(bytes.length),
    ...(isAbsolute && proxy.authorization ? { 'proxy-authorization': proxy.authorization } : {}),
  }
  const path = isAbsolute ? `${url.origin}${target}` : target
  return new Promise<T>((resolve, reject) => {
    const outgoing = request({ agent: new OneSocket(socket), method, path, headers })
    const stop = () => outgoing.destroy()
    outgoing.once('error', reject)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    outgoing.once('response', (incoming) => read(incoming).then(resolve, reject))
    outgoing.once('close', () => signal.removeEventListener('abort', stop))
    outgoing.end(bytes)
  }).finally(() => socket.destroy())
}

/** HTTP agent that always returns the same existing connection. */
class OneSocket extends Agent {
  constructor(private readonly socket: Socket) {
    super({ keepAlive: false })
  }
  override createConnection(): Socket {
    return this.socket
  }
}

/** Response headers by lower-case name. Repeated headers are joined with commas. */
export function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
