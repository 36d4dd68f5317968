import { connect, type Socket } from 'node:net'

const WAIT_MS = 60_000

/** A response as received. */
interface RawAnswer {
  status: number
  /** Headers by lower-case name. */
  headers: Record<string, string>
  text: string
}

/** A raw connection, on which the test controls every byte. */
export interface Connection {
  socket: Socket
  /** Returns the next response with a `Content-Length`. Rejects when the connection is closed before its end. */
  answer(): Promise<RawAnswer>
  /** Resolves when the connection is closed. Rejects after a timeout. */
  closed(): Promise<void>
  isOpen(): boolean
  /**
   * Sends the same data repeatedly, as fast as the server accepts it, until the connection is closed. Returns the
   * number of bytes sent.
   */
  flood(piece: Buffer): Promise<number>
  [Symbol.dispose](): void
}

/** Connects to a server and sends the given data. */
export async function connectTo(url: string, first: string | Buffer = ''): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  let received: Buffer = Buffer.alloc(0)
  let ended = false
  const arrived = new EventTarget()
  const ending = Promise.withResolvers<void>()
  socket.on('data', (piece: Buffer) => {
    received = Buffer.concat([received, piece])
    arrived.dispatchEvent(new Event('piece'))
  })
  // A reset is handled like any other close.
  socket.on('error', () => {})
  socket.on('close', () => {
    ended = true
    ending.resolve()
    arrived.dispatchEvent(new Event('piece'))
  })
  await bounded('a connection', new Promise<void>((done) => socket.once('connect', done)))
  if (first.length > 0) socket.write(first)

  const answer = async (): Promise<RawAnswer> => {
    for (;;) {
      const parsed = parseAnswer(received)
      if (parsed) {
        received = received.subarray(parsed.length)
        return parsed.answer
      }
      if (ended) throw new Error(`the connection ended after ${JSON.stringify(received.toString('latin1'))}`)
      await new Promise((next) => arrived.addEventListener('piece', next, { once: true }))
    }
  }
  const flood = async (piece: Buffer) => {
    let bytes = 0
    for (; !ended; bytes += piece.length) {
      const taken = new Promise<void>((done) => socket.write(piece, () => done()))
      await Promise.race([taken, ending.promise])
      // Yields, because otherwise data that is accepted immediately would prevent the test from noticing the close.
      await new Promise<void>((done) => setImmediate(done))
    }
    return bytes
  }
  return {
    socket,
    answer: () => bounded('a response', answer()),
    closed: () => bounded('the connection to close', ending.promise),
    isOpen: () => !ended,
    flood: (piece) => bounded('the flood to end', flood(piece)),
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Returns the text of a request, with a `Content-Length` if it has a body. */
export function requestOf(method: string, path: string, headers: Record<string, string> = {}, body = ''): string {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host: 'tagwarden.example', ...length, ...headers })
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

function parseAnswer(received: Buffer): { answer: RawAnswer; length: number } | null {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [start = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const bodyAt = end + 4
  const length = bodyAt + Number(headers['content-length'] ?? 0)
  if (received.length < length) return null
  const text = received.subarray(bodyAt, length).toString()
  return { answer: { status: Number(start.split(' ')[1]), headers, text }, length }
}

async function bounded<T>(what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`timed out after ${WAIT_MS} ms waiting for ${what}`)), WAIT_MS)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
