import { AppError } from '../core/error.ts'

/** How long a body may take. */
export interface ArrivalLimits {
  /** Time for every body, however small. */
  leastMs: number
  /** On average over all of a body; big ones get more time accordingly. */
  bytesPerSecond: number
  /** How often is looked; a body may take this much longer. */
  lookEveryMs: number
}

/**
 * What holds unless others are set. The rate is also what Bun asks of a body while it arrives, measured over the
 * server's idle timeout.
 */
export const ARRIVAL_LIMITS: ArrivalLimits = { leastMs: 30_000, bytesPerSecond: 16 * 1024, lookEveryMs: 1000 }

/** A body that is too large is let through to nowhere up to here, so that its sender gets to read the answer. */
const LARGEST_IGNORED_BYTES = 32 * 1024 * 1024

interface Arrival {
  startedAt: number
  /** What was promised, or has come so far. */
  bytes: number
  giveUp(): void
}

/** Bodies that are on their way. One timer looks after them all: one for each would cost more than most requests. */
const arrivals = new Map<Request, Arrival>()
const abortedError = new WeakSet<Request>()
let limits = ARRIVAL_LIMITS
let watching = false

/** Replaces the time limits, for all servers of the process. */
export function limitArrivals(other: ArrivalLimits): void {
  limits = other
}

/** True while a body is being read and has not come to its end. */
export function isArriving(request: Request): boolean {
  return arrivals.has(request)
}

/** True when what a refused request may still send is not waited for: its connection can't carry another request. */
export function endsConnection(request: Request): boolean {
  const { headers } = request
  if (abortedError.has(request) || headers.has('transfer-encoding')) return true
  return Number(headers.get('content-length')) > LARGEST_IGNORED_BYTES
}

/**
 * The body as text; empty when there is none. Fails with `tooLarge` beyond `max` bytes, of which it never holds more in
 * memory, and with `invalid` when the body stops half-way or takes too long.
 */
export function receiveText(request: Request, max: number): Promise<string> {
  const length = lengthOf(request)
  if (length === null) return gather(request, max).then((bytes) => new TextDecoder().decode(bytes))
  return length > max ? Promise.reject(tooLarge(max)) : arrival(request, length, request.text())
}

/** The body as bytes; else like `receiveText`. */
export function receiveBytes(request: Request, max: number): Promise<Uint8Array> {
  const length = lengthOf(request)
  if (length === null) return gather(request, max)
  return length > max ? Promise.reject(tooLarge(max)) : arrival(request, length, request.bytes())
}

/** As the request says, null when it doesn't; the server takes no body for longer than it is said to be. */
function lengthOf({ headers }: Request): number | null {
  const length = headers.get('content-length')
  return length === null ? null : Number(length)
}

const tooLarge = (max: number) => new AppError('tooLarge', `body: is larger than ${max} bytes`)

/** The same promise, but that it is given up when it takes too long. */
function arrival<T>(request: Request, bytes: number, body: Promise<T>, cancel?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      arrivals.delete(request)
      abortedError.add(request)
      cancel?.()
      reject(new AppError('invalid', 'body: did not arrive in time'))
    }
    arrivals.set(request, { startedAt: performance.now(), bytes, giveUp })
    if (!watching) watch()
    body.then(
      (value) => {
        arrivals.delete(request)
        resolve(value)
      },
      (error) => {
        arrivals.delete(request)
        reject(isDisconnect(error) ? new AppError('invalid', 'body: stopped before its end') : error)
      },
    )
  })
}

/** What Bun says when the other side went away. */
function isDisconnect(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function look(): void {
  const now = performance.now()
  for (const { startedAt, bytes, giveUp } of arrivals.values()) {
    if (now - startedAt > limits.leastMs + (bytes / limits.bytesPerSecond) * 1000) giveUp()
  }
  watching = false
  if (arrivals.size > 0) watch()
}

function watch(): void {
  watching = true
  setTimeout(look, limits.lookEveryMs).unref()
}

/** A body that does not say how long it is. */
function gather(request: Request, max: number): Promise<Uint8Array> {
  if (request.body === null) return Promise.resolve(new Uint8Array())
  const reader = request.body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  return arrival(request, 0, readAll(request, reader, max), cancel)
}

async function readAll(request: Request, reader: ReadableStreamDefaultReader<Uint8Array>, max: number) {
  // Not a list of pieces: somebody may send each byte by itself.
  let held = new Uint8Array(Math.min(max, FIRST_BYTES))
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const end = bytes + value.length
    if (end > held.length && end <= max) held = grown(held, bytes, Math.min(max, Math.max(end, 2 * held.length)))
    if (end <= max) held.set(value, bytes)
    bytes = end
    const known = arrivals.get(request)
    if (known) known.bytes = bytes
    if (bytes > max + LARGEST_IGNORED_BYTES) {
      void reader.cancel().catch(() => {})
      throw tooLarge(max)
    }
  }
  if (bytes > max) throw tooLarge(max)
  return held.subarray(0, bytes)
}

const FIRST_BYTES = 16 * 1024

function grown(held: Uint8Array, used: number, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length)
  larger.set(held.subarray(0, used))
  return larger
}
