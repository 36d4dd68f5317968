import type { Batch } from './batch.ts'
import type { Guard } from './guard.ts'

/** The page's own ways out as they were before anybody watched them. */
export interface WaysOut {
  fetch: typeof fetch | undefined
  beacon: ((url: string, body: string) => boolean) | undefined
  /** True where a request can outlive its page: https://developer.mozilla.org/docs/Web/API/RequestInit#keepalive */
  canKeep: boolean
}

export interface Sender {
  send(batches: readonly Batch[]): void
  /** Sends what is left in a way that outlives the page; what was under way is sent again under the same id. */
  sendLast(): void
  /** Tries at once what waits for its next try. */
  retryNow(): void
}

/** Batches that wait; the oldest go first when there are more. */
const MAX_WAITING = 30
const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 60_000
/**
 * Of the 64 KiB that all requests of a page together may leave behind (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch),
 * so much is ours: the rest is the vendors'.
 */
const MAX_KEPT_BYTES = 40_000

interface Waiting extends Batch {
  isUnderWay: boolean
  /** True when it was sent in a way that outlives the page. */
  isKept: boolean
}

export interface SenderParts {
  url: string
  token: string
  ways: WaysOut
  guard: Guard
  date(): number
  later(work: () => void, ms: number): void
}

/** Sends batches one after the other, until each was answered; repeats have the id of the first try. */
export function makeSender({ url, token, ways, guard, date, later }: SenderParts): Sender {
  let waiting: Waiting[] = []
  let tries = 0
  let isPaused = false
  let isBusy = false
  let keptBytes = 0

  // `sentAt` belongs to the try: the collector corrects our clock by it.
  const textOf = ({ batchId, content }: Batch) => JSON.stringify({ token, batchId, sentAt: date(), ...content })
  const drop = (batch: Waiting) => {
    waiting = waiting.filter((one) => one !== batch)
  }

  /** https://fetch.spec.whatwg.org/#cors-safelisted-request-header: as plain text it needs no preflight. */
  const post = async (body: string, keepalive: boolean): Promise<Reply> => {
    if (!ways.fetch || (keepalive && !ways.canKeep)) {
      // It does not tell more than that it was queued.
      return { status: ways.beacon?.(url, body) ? 202 : 0, retryAfterMs: 0 }
    }
    const reply = await ways.fetch(url, {
      ...{ method: 'POST', body, keepalive },
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      priority: 'low',
    })
    // Until an answer is read, its request counts among those that may outlive the page.
    void reply.text().catch(() => '')
    return { status: reply.status, retryAfterMs: Number(reply.headers.get('retry-after')) * 1000 || 0 }
  }
  const answerOf = (body: string, keepalive: boolean) => post(body, keepalive).catch(() => NO_ANSWER)

  const finish = (batch: Waiting, { status, retryAfterMs }: Reply) => {
    batch.isUnderWay = false
    batch.isKept = false
    if (status === 401) {
      // The token was replaced: this page is too old.
      waiting = []
      guard.stop()
    } else if (status === 0 || status === 429 || status >= 500) {
      tries++
      const backOffMs = Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LAST_RETRY_MS)
      pause(Math.max(backOffMs * (0.5 + Math.random() / 2), retryAfterMs))
    } else {
      tries = 0
      drop(batch)
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
      waiting = [...waiting, ...batches.map((batch) => ({ ...batch, isUnderWay: false, isKept: false }))].slice(
        -MAX_WAITING,
      )
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
  retryAfterMs: number
}

const NO_ANSWER: Reply = { status: 0, retryAfterMs: 0 }
