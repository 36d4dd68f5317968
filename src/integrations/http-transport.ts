import { Agent, type IncomingMessage, request } from 'node:http'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, createSecureContext } from 'node:tls'
import { AppError } from '../core/error.ts'
import type { AddressGuard, Resolve } from './address-guard.ts'
import { trustedBeside } from './authorities.ts'
import { type HttpOutbound, type Reply, SEND_TIMEOUT_MS } from './transport.ts'

export interface HttpTransportOptions {
  guard: AddressGuard
  /** Replaced in tests; the system's resolver by default. */
  resolve?: Resolve
  /**
   * `http://[user:password@]host:port`. https goes through it by CONNECT, http by absolute-form requests. The proxy
   * resolves names, so only what the URL itself shows is checked here: scheme, port, names and spelled addresses.
   * Which addresses a name may lead to is the proxy's to decide.
   */
  proxy?: string | null
  timeoutMs?: number
  /** Certificates of authorities, PEM, trusted beside those that every system trusts. */
  ca?: string
}

/** More of an answer is not read where nobody says how much they want. */
export const MAX_REPLY_BYTES = 64 * 1024

/**
 * Sends one HTTP request to an address that the guard has vetted and to no other: the connection is made to that
 * address, the certificate is checked for the host's name, and a redirect is an answer like any other.
 * @throws Error when `proxy` is not an http URL.
 */
export function httpTransport({ guard, resolve, proxy = null, timeoutMs = SEND_TIMEOUT_MS, ca }: HttpTransportOptions) {
  const way = proxy === null || proxy === '' ? null : parseProxy(proxy)
  // Once: to read all that every system trusts takes 12 ms.
  const tls: ConnectionOptions = ca ? { secureContext: createSecureContext({ ca: trustedBeside(ca) }) } : {}

  async function open(url: URL, within: number, signal: AbortSignal): Promise<Socket> {
    if (way) {
      const socket = await connectAny([way], way.port, within, signal)
      if (url.protocol === 'http:') return socket
      await openTunnel(socket, url, way.authorization, signal)
      return secure(socket, url.hostname, tls, signal)
    }
    const { host, port, addresses } = await guard.vet(url, resolve)
    const socket = await connectAny(addresses, port, within, signal)
    return url.protocol === 'https:' ? secure(socket, host, tls, signal) : socket
  }

  async function exchange(outbound: HttpOutbound, within: number, signal: AbortSignal): Promise<Reply> {
    const url = guard.checkUrl(outbound.url)
    const socket = await open(url, within, signal)
    const absolute = way !== null && url.protocol === 'http:'
    const headers: Record<string, string> = { ...outbound.headers, host: url.host, connection: 'close' }
    if (absolute && way.authorization) headers['proxy-authorization'] = way.authorization
    const target = targetOf(outbound.url, url)
    const path = absolute ? `${url.origin}${target}` : target
    const { method, body, maxAnswerBytes } = outbound
    return ask(socket, { method, path, headers, body, maxAnswerBytes }, signal)
  }

  return async function sendHttp(outbound: HttpOutbound, signal: AbortSignal): Promise<Reply> {
    const within = outbound.timeoutMs ?? timeoutMs
    const timeout = AbortSignal.timeout(within)
    const either = AbortSignal.any([signal, timeout])
    try {
      return await abortable(exchange(outbound, within, either), either)
    } catch (error) {
      if (timeout.aborted) return { ...failure(`no answer within ${within / 1000} s`), hung: true }
      if (signal.aborted) return failure('stopped before an answer came')
      if (error instanceof AppError)
        return failure(error.message, error.code === 'invalid' || error.code === 'tooLarge')
      // Codes only (ECONNREFUSED, CERT_HAS_EXPIRED): a message may repeat what was sent.
      return failure(`the connection failed: ${codeOf(error)}`)
    }
  }
}

/** Path and query letter by letter, since a signature may be over them; only what no request can carry is spelled anew. */
function targetOf(text: string, url: URL): string {
  const written = /^https?:\/\/[^/?#\\]+(\/[!-~]*)$/i.exec(text)?.[1]
  return written && !/[#\\]/.test(written) ? written : `${url.pathname}${url.search}`
}

const failure = (message: string, permanent = false) => ({ kind: 'error', message, permanent }) as const

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'unknown error'
}

interface Proxy {
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

/** Settles as `work` does, or fails as soon as the signal is aborted: a DNS question can't be called back. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Connects to the first address that answers, each having its share of the time. */
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

/** The socket once it has emitted `event`; it is destroyed when it fails or the signal is aborted before. */
function ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const finishOnce = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort)
      socket.removeListener('error', onError)
      finish()
    }
    const fail = (reason: unknown) =>
      finishOnce(() => {
        // Destroying may report another error, which has nobody left to tell.
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

/** TLS over a connected socket; the certificate must be for `host`, a name or an address. */
function secure(socket: Socket, host: string, options: ConnectionOptions, signal: AbortSignal): Promise<Socket> {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  // A server name that is an address is not allowed in TLS (RFC 6066, section 3).
  const identity = isIP(name) ? { host: name } : { servername: name, host: name }
  return ready(connectTls({ ...options, ...identity, socket }), 'secureConnect', signal)
}

const MAX_TUNNEL_REPLY_BYTES = 8192

/** Asks the proxy for a way to the URL's host (RFC 9110, section 9.3.6). Fails when it doesn't answer 2xx. */
async function openTunnel(socket: Socket, url: URL, authorization: string | null, signal: AbortSignal): Promise<void> {
  const authority = `${url.hostname}:${url.port || 443}`
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

/** Hands out one connection that was made beforehand. */
class OneSocket extends Agent {
  constructor(private readonly socket: Socket) {
    super({ keepAlive: false })
  }
  override createConnection(): Socket {
    return this.socket
  }
}

interface Question {
  method: string
  path: string
  headers: Record<string, string>
  body: string
  maxAnswerBytes: number | undefined
}

function ask(
  socket: Socket,
  { method, path, headers, body, maxAnswerBytes }: Question,
  signal: AbortSignal,
): Promise<Reply> {
  const bytes = Buffer.from(body)
  return new Promise<Reply>((resolve, reject) => {
    const length = { 'content-length': String(bytes.length) }
    const outgoing = request({ agent: new OneSocket(socket), method, path, headers: { ...headers, ...length } })
    const stop = () => outgoing.destroy()
    outgoing.once('error', reject)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    outgoing.once('response', (incoming) => readReply(incoming, maxAnswerBytes).then(resolve, reject))
    outgoing.once('close', () => signal.removeEventListener('abort', stop))
    outgoing.end(bytes)
  }).finally(() => socket.destroy())
}

/** Fails with `tooLarge` where more comes than is wanted; without a wish the rest of a long answer is left unread. */
async function readReply(incoming: IncomingMessage, maxAnswerBytes: number | undefined): Promise<Reply> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    chunks.push(chunk)
    size += chunk.length
    if (maxAnswerBytes === undefined && size >= MAX_REPLY_BYTES) break
    if (maxAnswerBytes !== undefined && size > maxAnswerBytes) {
      throw new AppError('tooLarge', `the answer is larger than ${maxAnswerBytes} bytes`)
    }
  }
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
  const body = Buffer.concat(chunks)
    .subarray(0, maxAnswerBytes ?? MAX_REPLY_BYTES)
    .toString('utf8')
  return { kind: 'status', status: incoming.statusCode ?? 0, headers, body }
}
