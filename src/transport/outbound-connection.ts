import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, createSecureContext } from 'node:tls'
import { AppError } from '../core/error.ts'
import type { AddressGuard, Resolve } from './address-guard.ts'
import { trustedWith } from './trusted-certificates.ts'

export interface ConnectorOptions {
  guard: AddressGuard
  /** Default: the system's resolver. */
  resolve?: Resolve
  /**
   * URL of the proxy: `http://[user:password@]host:port`. Uses CONNECT for https and absolute-form requests for http.
   * The proxy resolves names and decides which addresses they may resolve to. Therefore only the URL itself is checked
   * here: scheme, port, names and literal addresses.
   */
  proxy?: string | null
  /** PEM certificates of additional trusted authorities. */
  ca?: string
}

export interface Connector {
  /** Null if no proxy is used. */
  proxy: Proxy | null
  /**
   * Connects to one of the URL's addresses that the guard approved. For https, uses TLS and verifies the certificate
   * against the host name. With a proxy, plain http connects to the proxy itself unless a tunnel is requested. `within`
   * is the time limit in ms. `signal` aborts the connection.
   */
  open(url: URL, how: { within: number; signal: AbortSignal; tunnel?: true }): Promise<Socket>
}

/** @throws Error if `proxy` is not an http URL. */
export function connector({ guard, resolve, proxy: given = null, ca }: ConnectorOptions): Connector {
  const proxy = given === null || given === '' ? null : parseProxy(given)
  // Read once because reading the system's certificates takes 12 ms.
  const tls: ConnectionOptions = ca ? { secureContext: createSecureContext({ ca: trustedWith(ca) }) } : {}
  return {
    proxy,
    async open(url, { within, signal, tunnel }) {
      const isSecure = url.protocol === 'https:'
      if (proxy) {
        const socket = await connectAny([proxy], proxy.port, within, signal)
        if (!isSecure && !tunnel) return socket
        await openTunnel(socket, url, proxy.authorization, signal)
        return isSecure ? secure(socket, url.hostname, tls, signal) : socket
      }
      const { host, port, addresses } = await guard.vet(url, resolve)
      const socket = await connectAny(addresses, port, within, signal)
      return isSecure ? secure(socket, host, tls, signal) : socket
    },
  }
}

/**
 * Connects to a proxy, sends nothing, and disconnects. Returns the error code; null if the connection succeeded.
 * @throws Error if `proxy` is not an http URL.
 */
export async function probeProxy(proxy: string, timeoutMs: number): Promise<string | null> {
  const { address, port } = parseProxy(proxy)
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const socket = await connectAny([{ address }], port, timeoutMs, timeout)
    socket.destroy()
    return null
  } catch (error) {
    return timeout.aborted ? 'ETIMEDOUT' : codeOf(error)
  }
}

/**
 * Error code of a network failure (ECONNREFUSED, CERT_HAS_EXPIRED). The error's message is not used because it may
 * contain sent data.
 */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'unknown error'
}

export interface Proxy {
  address: string
  port: number
  authorization: string | null
}

function parseProxy(text: string): Proxy {
  const url = URL.parse(text)
  if (url?.protocol !== 'http:') throw new Error('TAGWARDEN_OUTBOUND_PROXY: must be http://[user:password@]host:port')
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return {
    address: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 80),
    authorization: login === ':' ? null : `Basic ${Buffer.from(login).toString('base64')}`,
  }
}

/** Connects to the first address that responds. The time limit is divided equally among the addresses. */
async function connectAny(
  addresses: readonly { address: string }[],
  port: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown
  for (const { address } of addresses) {
    const share = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs / addresses.length)])
    try {
      const socket = connectTcp({ host: address, port })
      return await ready(socket, 'connect', share)
    } catch (error) {
      if (signal.aborted) throw error
      last = error
    }
  }
  throw last
}

/**
 * Resolves to the socket once `event` occurs. If the socket fails or the signal is aborted first, destroys the socket.
 */
function ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const finishOnce = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort)
      socket.removeListener('error', onError)
      finish()
    }
    const fail = (reason: unknown) =>
      finishOnce(() => {
        // Ignore errors emitted by `destroy`.
        socket.on('error', () => undefined)
        socket.destroy()
        reject(reason)
      })
    const onError = (error: Error) => fail(error)
    const onAbort = () => fail(signal.reason)
    if (signal.aborted) return onAbort()
    socket.once('error', onError)
    socket.once(event, () => finishOnce(() => resolve(socket)))
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Starts TLS on a connected socket and verifies the certificate for `host`, which is a name or an address. */
function secure(socket: Socket, host: string, options: ConnectionOptions, signal: AbortSignal): Promise<Socket> {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  // TLS does not allow an address as the server name (RFC 6066, section 3).
  const identity = isIP(name) ? { host: name } : { servername: name, host: name }
  return ready(connectTls({ ...options, ...identity, socket }), 'secureConnect', signal)
}

const MAX_TUNNEL_REPLY_BYTES = 8192

/** Opens a tunnel through the proxy (RFC 9110, section 9.3.6). Fails unless the proxy responds with 2xx. */
async function openTunnel(socket: Socket, url: URL, authorization: string | null, signal: AbortSignal): Promise<void> {
  const authority = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`
  const login = authorization ? `Proxy-Authorization: ${authorization}\r\n` : ''
  const head = await new Promise<string>((resolve, reject) => {
    let received = ''
    const done = (finish: () => void) => {
      socket.removeAllListeners()
      signal.removeEventListener('abort', onAbort)
      finish()
    }
    const fail = (reason: unknown) =>
      done(() => {
        socket.on('error', () => undefined)
        socket.destroy()
        reject(reason)
      })
    const onAbort = () => fail(signal.reason)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    socket.on('error', fail)
    socket.on('close', () => fail(new AppError('upstream', 'the proxy closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (received.includes('\r\n\r\n') || received.length > MAX_TUNNEL_REPLY_BYTES) done(() => resolve(received))
    })
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${login}\r\n`)
  })
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]
  if (status?.startsWith('2') && head.endsWith('\r\n\r\n')) return
  socket.destroy()
  throw new AppError('upstream', `the proxy refused the connection: HTTP ${status ?? 'error'}`)
}
