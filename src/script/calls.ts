import type { Frame } from './frame.ts'

/** The outcome of a request: its HTTP status, or a status word of the collector where the browser hides it. */
export type Outcome = number | 'ok' | 'failure' | 'exception' | 'timeout' | 'blocked'

/** One captured request. */
export interface Call {
  frame: Frame
  /** Start on the page's monotonic clock, ms; a resource timing entry that began earlier belongs to another request. */
  at: number
  /** Ms since the epoch. */
  ts: number
  url: string
  /** The host when it belongs to another site; else null. */
  foreignHost: string | null
  method: string
  type: string
  /** The body; absent when there was none, or it may not be read. */
  content?: string | Uint8Array | null
  /** True while the body is being read. */
  isReading?: boolean
  /** True once it is certain that the browser makes the request: not of a script that is not in the page yet. */
  isConfirmed?: boolean
  /** Absent while it is not known. */
  outcome?: Outcome | undefined
  /** False when the browser was offline at the time. */
  isOnline: boolean
  /** True when it may have failed: an image error can also be an empty response. */
  isOdd?: boolean
  durMs?: number | undefined
  bytes?: number
  /** True once it has a resource timing entry. */
  isTimed?: boolean
  /**
   * Looks how it ended, which costs less than listening to every request: called in a task after its resource timing
   * entry arrived, so that its promise has settled, and before it is sent without an outcome. Removes itself when
   * there is nothing more to see.
   */
  look?: ((isSettled: boolean) => void) | undefined
}

/** The fields of a resource timing entry that are used. */
export interface Timing {
  startTime: number
  duration: number
  responseStatus?: number
  transferSize?: number
  encodedBodySize?: number
  /** 0 when the other site does not expose timing: then sizes are meaningless. */
  requestStart?: number
}

/** Clocks are rounded: https://www.w3.org/TR/hr-time-3/#dfn-coarsen-time */
const CLOCK_SLACK_MS = 0.2
/** URLs whose calls are kept for entries that arrive late, and calls of one URL. */
const MAX_URLS = 500
const MAX_OF_URL = 100

/** An index of calls by URL, which matches reports to their calls. */
export interface Calls {
  add(call: Call): void
  /**
   * Returns the call of a resource timing entry: the last one of its URL that began before it and has no entry yet,
   * preferably of its type. Entries arrive in the order in which requests end. Undefined when no recorded call matches.
   */
  untimed(url: string, type: string, startedAt: number): Call | undefined
  /** Returns the latest call of this URL, preferring those without outcome; undefined when there is none. */
  youngest(url: string): Call | undefined
}

export function makeCalls(): Calls {
  const byUrl = new Map<string, Call[]>()
  return {
    add(call) {
      const same = byUrl.get(call.url) ?? []
      if (same.push(call) > MAX_OF_URL) same.shift()
      byUrl.set(call.url, same)
      if (byUrl.size > MAX_URLS) byUrl.delete(byUrl.keys().next().value ?? '')
    },
    untimed(url, type, startedAt) {
      const open = byUrl.get(url)?.filter(({ isTimed, at }) => !isTimed && at <= startedAt + CLOCK_SLACK_MS)
      return open?.findLast((call) => call.type === type) ?? open?.at(-1)
    },
    youngest(url) {
      const calls = byUrl.get(url)
      return calls?.findLast(({ outcome }) => !outcome) ?? calls?.at(-1)
    },
  }
}

/** Sets the outcome of a call. A known outcome stays, except that `blocked` replaces `failure`. */
export function setOutcome(call: Call, outcome: Outcome): void {
  if (!call.outcome || outcome === 'blocked') call.outcome = outcome
}

/** Applies a resource timing entry: https://www.w3.org/TR/resource-timing/#sec-performanceresourcetiming */
export function applyTiming(call: Call, entry: Timing): void {
  call.isTimed = true
  call.durMs = Math.round(entry.duration * 10) / 10
  if (call.at < 0) call.at = entry.startTime
  if (entry.requestStart) call.bytes = entry.transferSize || entry.encodedBodySize || 0
  // 0 when the other site hides it, and for failures: https://fetch.spec.whatwg.org/#create-an-opaque-timing-info
  if (entry.responseStatus) setOutcome(call, entry.responseStatus)
}

/** True when nothing important about the call is outstanding. */
export function isDone({ isReading, isTimed, outcome, look }: Call): boolean {
  return !isReading && (!!outcome || (!!isTimed && !look))
}
