import { createHash, randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type ConnectorOptions, codeOf, connector } from './outbound-connection.ts'
import { SEND_TIMEOUT_MS, type WebSocketLine } from './transport.ts'
import { clientFrame, type Frame, FrameReader, MessageReader, OPCODES } from './web-socket-frames.ts'

export interface WebSocketOptions extends ConnectorOptions {
  /**
   * Time without incoming data after which the connection is considered broken. Responses to pings count as incoming
   * data. Default 30 s.
   */
  quietMs?: number
  timeoutMs?: number
}

const QUIET_MS = 30 * SECOND_MS
const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_HEAD_BYTES = 16 * 1024
/** Maximum number of unread messages. Reading pauses when it is reached. */
const MAX_WAITING = 32
/** GUID for the handshake (RFC 6455, section 1.3). */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/**
 * Opens WebSockets (RFC 6455) to addresses approved by the guard, through the proxy if there is one. `wss:` is treated
 * like `https:`, and `ws:` like `http:`.
 * @throws Error if `proxy` is not an http URL.
 */
export function webSockets({ quietMs = QUIET_MS, timeoutMs = SEND_TIMEOUT_MS, ...options }: WebSocketOptions) {
  const { guard } = options
  const { open } = connector(options)

  return async function openSocket(address: string, signal: AbortSignal): Promise<WebSocketLine> {
    const url = guard.checkUrl(address.replace(/^ws(s?):/i, 'http$1:'))
    const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    try {
      const socket = await open(url, { within: timeoutMs, signal: within, tunnel: true })
      const rest = await shakeHands(socket, url, within)
      return new OpenLine(socket, { rest, quietMs, signal })
    } catch (error) {
      if (error instanceof AppError) throw error
      if (within.aborted) throw new AppError('unavailable', `not connected within ${timeoutMs / SECOND_MS} s`)
      throw new AppError('upstream', `the connection failed: ${codeOf(error)}`)
    }
  }
}

/**
 * Performs the handshake and returns the data received after the response. If the handshake is rejected, destroys the
 * socket.
 */
async function shakeHands(socket: Socket, url: URL, signal: AbortSignal): Promise<Buffer> {
  const key = randomBytes(16).toString('base64')
  const heading = readHead(socket, signal)
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const { head, rest } = await heading
  const [status = '', ...fields] = head.split('\r\n')
  const code = /^HTTP\/1\.1 (\d{3})/.exec(status)?.[1]
  const accept = createHash('sha1')
    .update(key + MAGIC)
    .digest('base64')
  const isAccepted = fields.some((field) => /^sec-websocket-accept:/i.test(field) && field.slice(21).trim() === accept)
  if (code === '101' && isAccepted) return rest
  socket.destroy()
  throw new AppError('upstream', `the WebSocket handshake was refused: HTTP ${code ?? 'error'}`)
}

/** Reads the head of a response, without its empty line, and the data received after it. Leaves the socket paused. */
function readHead(socket: Socket, signal: AbortSignal): Promise<{ head: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const done = () => {
      for (const [event, listener] of listeners) socket.removeListener(event, listener)
      signal.removeEventListener('abort', stop)
      // Later errors are handled by the connection or can be ignored.
      socket.on('error', () => undefined)
    }
    const fail = (reason: unknown) => {
      done()
      socket.destroy()
      reject(reason)
    }
    const take = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const end = received.indexOf('\r\n\r\n')
      if (end === -1 && received.length > MAX_HEAD_BYTES)
        return fail(new AppError('upstream', 'the response head is too long'))
      if (end === -1) return
      done()
      socket.pause()
      resolve({ head: received.subarray(0, end).toString('latin1'), rest: received.subarray(end + 4) })
    }
    const stop = () => fail(signal.reason)
    const closed = () => fail(new AppError('upstream', 'the connection was closed'))
    const listeners = [
      ['error', fail],
      ['close', closed],
      ['data', take],
    ] as const
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    for (const [event, listener] of listeners) socket.on(event, listener)
  })
}

interface Opened {
  /** Data received together with the handshake. */
  rest: Buffer
  quietMs: number
  signal: AbortSignal
}

class OpenLine implements WebSocketLine {
  private readonly frames = new FrameReader(MAX_MESSAGE_BYTES)
  private readonly messages = new MessageReader(MAX_MESSAGE_BYTES)
  private readonly waiting: string[] = []
  private wake = Promise.withResolvers<void>()
  /** Reason why the connection ended. Null while it is open. */
  private end: { fault: AppError | null } | null = null
  private heard = true
  private readonly timer: ReturnType<typeof setInterval>

  constructor(
    private readonly socket: Socket,
    { rest, quietMs, signal }: Opened,
  ) {
    const stop = () => this.finish(new AppError('unavailable', 'the connection was stopped'))
    signal.addEventListener('abort', stop, { once: true })
    socket.on('data', (chunk: Buffer) => this.take(chunk))
    socket.on('error', (error) => this.finish(new AppError('upstream', `the connection failed: ${codeOf(error)}`)))
    socket.on('close', () => {
      signal.removeEventListener('abort', stop)
      this.finish(new AppError('upstream', 'the connection was closed'))
    })
    let quietTurns = 0
    this.timer = setInterval(() => {
      quietTurns = this.heard ? 0 : quietTurns + 1
      this.heard = false
      if (quietTurns >= 3) this.finish(new AppError('upstream', `no data received for ${quietMs / SECOND_MS} s`))
      else this.write(OPCODES.ping, '')
    }, quietMs / 3)
    if (signal.aborted) stop()
    else if (rest.length > 0) this.take(rest)
    socket.resume()
  }

  private take(chunk: Buffer): void {
    this.heard = true
    if (this.end) return
    try {
      for (const frame of this.frames.read(chunk)) this.act(frame)
    } catch (error) {
      this.finish(
        error instanceof AppError ? error : new AppError('upstream', 'the received data could not be decoded'),
      )
    }
    if (this.waiting.length > MAX_WAITING) this.socket.pause()
  }

  private act(frame: Frame): void {
    if (frame.opcode === OPCODES.ping) return this.write(OPCODES.pong, frame.payload)
    if (frame.opcode === OPCODES.pong) return
    if (frame.opcode === OPCODES.close) {
      this.write(OPCODES.close, frame.payload.subarray(0, 2))
      return this.finish(null)
    }
    const text = this.messages.read(frame)
    if (text === null) return
    this.waiting.push(text)
    this.wake.resolve()
  }

  private write(opcode: number, payload: string | Buffer): void {
    if (!this.end) this.socket.write(clientFrame(opcode, Buffer.from(payload)))
  }

  private finish(fault: AppError | null): void {
    if (this.end) return
    this.end = { fault }
    clearInterval(this.timer)
    this.socket.destroySoon()
    this.wake.resolve()
  }

  send(text: string): void {
    this.write(OPCODES.text, text)
  }

  close(): void {
    this.write(OPCODES.close, Buffer.from([0x03, 0xe8]))
    this.finish(null)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const text = this.waiting.shift()
      if (text !== undefined) {
        if (this.waiting.length === 0 && !this.end) this.socket.resume()
        yield text
      } else if (this.end) {
        if (this.end.fault) throw this.end.fault
        return
      } else {
        this.wake = Promise.withResolvers()
        await this.wake.promise
      }
    }
  }
}
