import { AppError } from '../core/error.ts'

/** Time limits for receiving a request body. */
export interface BodyTimeLimits {
  /** Time allowed for any body, regardless of its size. */
  baseMs: number
  /** Minimum average rate. Each byte adds 1 / `bytesPerSecond` seconds to the allowed time. */
  bytesPerSecond: number
  /** Interval between checks. A body may exceed its time limit by up to this interval. */
  checkEveryMs: number
}

/**
 * The default limits. Bun also closes connections that send a body more slowly than this rate, measured over the
 * server's idle timeout.
 */
export const BODY_TIME_LIMITS: BodyTimeLimits = { baseMs: 30_000, bytesPerSecond: 16 * 1024, checkEveryMs: 1000 }

/** A body that is too large is read and discarded up to this size, so that the client can read the response. */
const LARGEST_IGNORED_BYTES = 32 * 1024 * 1024

interface Arrival {
  startedAt: number
  limits: BodyTimeLimits
  /** The content length; without one, the number of bytes received so far. */
  bytes: number
  abort(): void
}

/**
 * Bodies being received. A single timer checks all of them, because one timer per body would cost more than most
 * requests.
 */
const arrivals = new Map<Request, Arrival>()
const aborted = new WeakSet<Request>()
/** Limits of requests to servers whose limits are not the default. */
const otherLimits = new WeakMap<Request, BodyTimeLimits>()
let watching = false

/** Sets the time limits for the body of a request. Must be called before the body is read. */
export function limitBodyTime(request: Request, limits: BodyTimeLimits): void {
  if (limits !== BODY_TIME_LIMITS) otherLimits.set(request, limits)
}

/** True while the body of the request is being read. */
export function isReadingBody(request: Request): boolean {
  return arrivals.has(request)
}

/** True when the rest of a rejected body is not read, so that the connection can't be reused for another request. */
export function endsConnection(request: Request): boolean {
  const { headers } = request
  if (aborted.has(request) || headers.has('transfer-encoding')) return true
  return Number(headers.get('content-length')) > LARGEST_IGNORED_BYTES
}

/**
 * Returns the body as a string; empty without a body. Throws `tooLarge` for more than `max` bytes, without loading more
 * than that into memory. Throws `invalid` when the body is incomplete or takes too long.
 */
export function receiveText(request: Request, max: number): Promise<string> {
  const length = lengthOf(request)
  if (length === null) return gather(request, max).then((bytes) => new TextDecoder().decode(bytes))
  return length > max ? Promise.reject(tooLarge(max)) : arrival(request, length, request.text())
}

/** Returns the body as bytes. Otherwise like `receiveText`. */
export function receiveBytes(request: Request, max: number): Promise<Uint8Array> {
  const length = lengthOf(request)
  if (length === null) return gather(request, max)
  return length > max ? Promise.reject(tooLarge(max)) : arrival(request, length, request.bytes())
}

/** Returns the content length from the header; null without one. The server reads at most this number of bytes. */
function lengthOf({ headers }: Request): number | null {
  const length = headers.get('content-length')
  return length === null ? null : Number(length)
}

const tooLarge = (max: number) => new AppError('tooLarge', `body: is larger than ${max} bytes`)

/** Returns a promise with the outcome of `body`, but rejects with `invalid` when the body takes too long. */
function arrival<T>(request: Request, bytes: number, body: Promise<T>, cancel?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      arrivals.delete(request)
      aborted.add(request)
      cancel?.()
      reject(new AppError('invalid', 'body: was not received in time'))
    }
    const limits = otherLimits.get(request) ?? BODY_TIME_LIMITS
    arrivals.set(request, { startedAt: performance.now(), limits, bytes, abort })
    if (!watching) watch()
    body.then(
      (value) => {
        arrivals.delete(request)
        resolve(value)
      },
      (error) => {
        arrivals.delete(request)
        reject(isDisconnect(error) ? new AppError('invalid', 'body: ended prematurely') : error)
      },
    )
  })
}

/** True for the error that Bun throws when the client disconnects. */
function isDisconnect(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function checkAll(): void {
  const now = performance.now()
  for (const { startedAt, limits, bytes, abort } of arrivals.values()) {
    if (now - startedAt > limits.baseMs + (bytes / limits.bytesPerSecond) * 1000) abort()
  }
  watching = false
  if (arrivals.size > 0) watch()
}

function watch(): void {
  watching = true
  const checkEveryMs = Math.min(...arrivals.values().map(({ limits }) => limits.checkEveryMs))
  setTimeout(checkAll, checkEveryMs).unref()
}

/** Reads a body without a content length. */
function gather(request: Request, max: number): Promise<Uint8Array> {
  if (request.body === null) return Promise.resolve(new Uint8Array())
  const reader = request.body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  return arrival(request, 0, readAll(request, reader, max), cancel)
}

async function readAll(request: Request, reader: ReadableStreamDefaultReader<Uint8Array>, max: number) {
  // A list of chunks would take too much memory when the client sends the body byte by byte.
  let held = new Uint8Array(Math.min(max, FIRST_BYTES))
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const end = bytes + value.length
    if (end > held.length && end <= max) held = grown(held, bytes, Math.min(max, Math.max(end, 2 * held.length)))
    if (end <= max) held.set(value, bytes)
    bytes = end
    const arriving = arrivals.get(request)
    if (arriving) arriving.bytes = bytes
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
