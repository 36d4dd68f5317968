import { createServer, type Socket } from 'node:net'
import { SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { AddressGuard, Resolve } from '../transport/address-guard.ts'
import { type Connector, codeOf, connector } from '../transport/outbound-connection.ts'
import { type DetectedProtocol, detectProtocol } from './detect-protocol.ts'
import { RequestReader } from './proxy-request-reader.ts'

/** An HTTP proxy on this machine that restricts a browser to the addresses allowed by the guard. */
export interface GuardProxy extends AsyncDisposable {
  /** Port on 127.0.0.1. */
  port: number
  /**
   * Returns why the last connection to the URL's host and port failed, without a full stop. Null when that connection
   * succeeded or none was attempted.
   */
  faultOf(url: string): string | null
}

export interface GuardProxyOptions {
  /**
   * Checks each address when a connection is made. A host name is checked by the address to which it resolves at that
   * time.
   */
  guard: AddressGuard
  /** Value of `TAGWARDEN_OUTBOUND_PROXY`. Empty for none. */
  outboundProxy?: string
  /** Replaced in tests. By default, the system's resolver is used. */
  resolve?: Resolve | undefined
  /** Called with `host:port` for each requested connection, before the guard checks it. */
  onAsked?: ((place: string) => void) | undefined
  /**
   * Returns whether to block a web socket. A blocked connection is closed before any data is sent. For `wss:`, only the
   * host and port are known.
   */
  keepsIn?: ((socketUrl: string) => boolean) | undefined
}

/** Timeout for establishing a connection. */
const CONNECT_MS = 15 * SECOND_MS
/** Maximum number of cached connection errors. */
const MAX_FAULTS = 1000

/** Starts the proxy. Disposing of the proxy closes all its connections. */
export async function openGuardProxy(options: GuardProxyOptions): Promise<GuardProxy> {
  const { guard, outboundProxy = '', resolve, onAsked, keepsIn } = options
  const ways = connector({ guard, proxy: outboundProxy, ...(resolve ? { resolve } : {}) })
  const faults = new Map<string, string>()
  const closing = new AbortController()
  const sockets = new Set<Socket>()

  /**
   * Connects to the host and port of `url`, whose scheme is always `http`. When the connection fails, records the error
   * and returns null.
   */
  const open = async (url: URL, tunnel: boolean): Promise<Socket | null> => {
    const place = placeOf(url)
    onAsked?.(place)
    try {
      const vetted = guard.checkUrl(`http://${place}/`)
      const how = { within: CONNECT_MS, signal: AbortSignal.any([closing.signal, AbortSignal.timeout(CONNECT_MS)]) }
      const socket = await ways.open(vetted, tunnel ? { ...how, tunnel } : how)
      faults.delete(place)
      keep(socket)
      return socket
    } catch (error) {
      if (faults.size >= MAX_FAULTS) faults.clear()
      faults.set(place, faultFrom(error))
      return null
    }
  }
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    if (closing.signal.aborted) socket.destroy()
  }

  const server = createServer((client) => {
    keep(client)
    client.setNoDelay(true)
    serve(client, { open, outboundProxy: ways.proxy, keepsIn })
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', listening)
  })
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    faultOf: (url) => {
      const parsed = URL.parse(url)
      return (parsed && faults.get(placeOf(parsed))) ?? null
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      const closed = new Promise((done) => server.close(done))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const DEFAULT_PORTS: Record<string, number> = { 'https:': 443, 'wss:': 443 }

/** Returns `host:port`, with an IPv6 address in brackets. */
const placeOf = (url: URL) => `${url.hostname}:${url.port || (DEFAULT_PORTS[url.protocol] ?? 80)}`

function faultFrom(error: unknown): string {
  if (error instanceof AppError) return error.message
  if (error instanceof DOMException) return `no connection within ${CONNECT_MS / SECOND_MS} s`
  return `the connection failed: ${codeOf(error)}`
}

interface Ways {
  open(url: URL, tunnel: boolean): Promise<Socket | null>
  outboundProxy: Connector['proxy']
  keepsIn: GuardProxyOptions['keepsIn']
}

/** Serves one connection from the browser, which is either a single tunnel or a sequence of plain requests. */
function serve(client: Socket, { open, outboundProxy, keepsIn }: Ways): void {
  /** Destination of plain requests. Responses are forwarded unchanged. */
  let upstream: { place: string; socket: Socket } | null = null
  const reader = new RequestReader()
  let work = Promise.resolve()

  const leave = () => upstream?.socket.destroy()
  const joined = (socket: Socket) => {
    socket.setNoDelay(true)
    socket.pipe(client)
    socket.once('close', () => {
      if (upstream?.socket === socket || upstream === null) client.destroySoon()
    })
    client.once('close', () => socket.destroy())
  }

  const upstreamOf = async (url: URL): Promise<Socket | null> => {
    const place = placeOf(url)
    if (upstream?.place === place && !upstream.socket.destroyed) return upstream.socket
    const socket = await open(url, false)
    if (!socket) return null
    const before = upstream?.socket
    upstream = { place, socket }
    before?.unpipe(client)
    before?.destroy()
    joined(socket)
    return socket
  }

  const take = async (chunk: Buffer): Promise<void> => {
    for (const part of reader.read(chunk)) {
      if (part.kind === 'tunnel') {
        const socket = await open(part.url, true)
        if (!socket) return refuse(client)
        client.removeListener('data', onData)
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        joined(socket)
        const first = keepsIn
          ? await firstOf(client, part.rest, (spoken) => !staysInBrowser(spoken, part.url, keepsIn))
          : part.rest
        if (first === null) return void client.destroy()
        if (first.length > 0) socket.write(first)
        client.pipe(socket)
        return
      }
      if (part.kind === 'head') {
        const socket = await upstreamOf(part.url)
        if (!socket) return client.destroySoon()
        socket.write(part.headFor(outboundProxy))
      } else upstream?.socket.write(part.bytes)
    }
  }
  const onData = (chunk: Buffer) => {
    client.pause()
    work = work
      .then(() => take(chunk))
      .then(
        () => void client.resume(),
        () => void client.destroy(),
      )
  }
  client.on('data', onData)
  client.once('close', leave)
}

/**
 * Returns the first bytes that the client has sent through its tunnel, once they reveal the protocol. Null when `isLet`
 * returns false or the client disconnects.
 */
function firstOf(client: Socket, begun: Buffer, isLet: (spoken: DetectedProtocol) => boolean): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>()
  let bytes = Buffer.alloc(0)
  const onClose = () => resolve(null)
  const onBytes = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    const spoken = detectProtocol(bytes)
    if (spoken === null) return
    client.pause()
    client.removeListener('data', onBytes)
    client.removeListener('close', onClose)
    resolve(isLet(spoken) ? bytes : null)
  }
  client.on('data', onBytes)
  client.once('close', onClose)
  if (begun.length > 0) onBytes(begun)
  client.resume()
  return promise
}

/**
 * Returns whether to block the connection. Browsers use tunnels without TLS, and TLS that offers only HTTP/1.1, only
 * for web sockets.
 */
function staysInBrowser(spoken: DetectedProtocol, { host }: URL, keepsIn: (socketUrl: string) => boolean): boolean {
  if (spoken.kind === 'http') return keepsIn(`ws://${host}${spoken.target}`)
  return spoken.kind === 'tls' && spoken.protocols.join() === 'http/1.1' && keepsIn(`wss://${host}/`)
}

function refuse(client: Socket): void {
  client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
}
