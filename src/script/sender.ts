import type { Batch } from './batch.ts'
import type { ErrorGuard } from './error-guard.ts'

/** The browser's functions for sending, before they were wrapped. */
export interface SendFunctions {
  fetch: typeof fetch | undefined
  beacon: ((url: string, body: string) => boolean) | undefined
  /**
   * True when the browser supports requests that outlive the page:
   * https://developer.mozilla.org/docs/Web/API/RequestInit#keepalive
   */
  canKeep: boolean
}

export interface Sender {
  send(batches: readonly Batch[]): void
  /**
   * Sends all remaining batches with requests that outlive the page. A batch in flight is sent again with the same id.
   */
  sendLast(): void
  /** Retries waiting batches immediately. */
  retryNow(): void
}

/** Maximum number of waiting batches. The oldest are dropped first. */
const MAX_WAITING = 30
const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 60_000
/**
 * Maximum size of this script's pending `keepalive` requests. All `keepalive` requests of a page are limited to 64 KiB
 * (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch). The rest is left to vendors.
 */
const MAX_KEPT_BYTES = 40_000

interface Waiting extends Batch {
  isUnderWay?: boolean
  /** True when the batch was sent with a request that outlives the page. */
  isKept?: boolean
}

export interface SenderDeps {
  url: string
  token: string
  ways: SendFunctions
  guard: ErrorGuard
  date(): number
  later(work: () => void, ms: number): void
}

/** Sends batches one after another, with retries. A retry uses the same id. */
export function makeSender({ url, token, ways, guard, date, later }: SenderDeps): Sender {
  let waiting: Waiting[] = []
  let tries = 0
  let isPaused = false
  let isBusy = false
  let keptBytes = 0

  // `sentAt` is set for each attempt, because the collector uses it to correct the page's clock.
  const textOf = ({ batchId, content }: Batch) => JSON.stringify({ token, batchId, sentAt: date(), ...content })

  /** Sent as plain text, which needs no preflight: https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
  const post = async (body: string, keepalive: boolean): Promise<Reply> => {
    if (!ways.fetch || (keepalive && !ways.canKeep)) {
      // `sendBeacon` returns only whether the request was queued.
      return { status: ways.beacon?.(url, body) ? 202 : 0 }
    }
    const reply = await ways.fetch(url, {
      method: 'POST',
      body,
      keepalive,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      priority: 'low',
    })
    // A request counts against the `keepalive` limit until its response has been read.
    if (keepalive) void reply.text().catch(() => '')
    return { status: reply.status, retryAfterMs: Number(reply.headers.get('retry-after')) * 1000 || 0 }
  }
  const answerOf = (body: string, keepalive: boolean) => post(body, keepalive).catch((): Reply => ({ status: 0 }))

  const finish = (batch: Waiting, { status, retryAfterMs = 0 }: Reply) => {
    batch.isUnderWay = false
    batch.isKept = false
    if (status === 401) {
      // The token was replaced after this page was loaded.
      waiting = []
      guard.stop()
    } else if (status === 0 || status === 429 || status >= 500) {
      tries++
      const backOffMs = Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LAST_RETRY_MS)
      pause(Math.max(backOffMs * (0.5 + Math.random() / 2), retryAfterMs))
    } else {
      tries = 0
      waiting = waiting.filter((one) => one !== batch)
      pump()
    }
  }

  const pause = (ms: number) => {
    isPaused = true
    later(() => {
      isPaused = false
      pump()
    }, ms)
  }

  const pump = () => {
    const batch = waiting.find(({ isUnderWay }) => !isUnderWay)
    if (!batch || isBusy || isPaused || guard.isOff()) return
    isBusy = true
    batch.isUnderWay = true
    void answerOf(textOf(batch), false).then((reply) => {
      isBusy = false
      guard.run(() => finish(batch, reply))
    })
  }

  const keep = (batch: Waiting) => {
    const body = textOf(batch)
    const bytes = new Blob([body]).size
    if (keptBytes + bytes > MAX_KEPT_BYTES) return
    keptBytes += bytes
    batch.isUnderWay = true
    batch.isKept = true
    void answerOf(body, true).then((reply) => {
      keptBytes -= bytes
      guard.run(() => finish(batch, reply))
    })
  }

  return {
    send(batches) {
      waiting = [...waiting, ...batches].slice(-MAX_WAITING)
      pump()
    },
    sendLast() {
      if (!guard.isOff()) for (const batch of waiting) if (!batch.isKept) keep(batch)
    },
    retryNow() {
      isPaused = false
      tries = 0
      pump()
    },
  }
}

interface Reply {
  status: number
  retryAfterMs?: number
}
