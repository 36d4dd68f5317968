import type { Frame } from './page-frame.ts'

/**
 * The outcome of a request: its HTTP status, or one of the collector's status words where the browser hides the status.
 */
export type Outcome = number | 'ok' | 'failure' | 'exception' | 'timeout' | 'blocked'

/** One captured request. */
export interface Call {
  frame: Frame
  /**
   * Start time on the page's monotonic clock, in ms. A resource timing entry that began earlier belongs to another
   * request.
   */
  at: number
  /** Start time in ms since the epoch. */
  ts: number
  url: string
  /** The host if it belongs to another site, else null. */
  foreignHost: string | null
  method: string
  type: string
  /** The body. Absent when the request had none, or when the body must not be read. */
  content?: string | Uint8Array | null
  /** True while the body is being read. */
  isReading?: boolean
  /**
   * True once it is certain that the browser makes the request. False for a script that has not been added to the page
   * yet.
   */
  isConfirmed?: boolean
  /** Absent while the outcome is unknown. */
  outcome?: Outcome | undefined
  /** False when the browser was offline at the time. */
  isOnline: boolean
  /** True when it is uncertain whether the request failed, because an image error can also mean an empty response. */
  isOdd?: boolean
  durMs?: number | undefined
  bytes?: number
  /** True once the call's resource timing entry has been received. */
  isTimed?: boolean
  /**
   * Checks the outcome of the call, which is cheaper than listening to every request. It is called in a task after the
   * call's resource timing entry was received, when the call's promise has settled, and before the call is sent without
   * an outcome. It removes itself when there is nothing left to check.
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
  /** 0 when the other site does not expose timing. The sizes are then meaningless. */
  requestStart?: number
}

/** Tolerance for clock rounding: https://www.w3.org/TR/hr-time-3/#dfn-coarsen-time */
const CLOCK_SLACK_MS = 0.2
/** Maximum numbers of URLs, and of calls per URL, that are stored to match late entries. */
const MAX_URLS = 500
const MAX_OF_URL = 100

/** An index of calls by URL, used to match reports with their calls. */
export interface Calls {
  add(call: Call): void
  /**
   * Returns the call that belongs to a resource timing entry: the last call to the entry's URL that began before the
   * entry and has no entry yet, preferably of the same type. Entries are received in the order in which requests end.
   * Undefined when no recorded call matches.
   */
  untimed(url: string, type: string, startedAt: number): Call | undefined
  /** Returns the latest call to this URL, preferring calls without an outcome; undefined when there is none. */
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

/** Sets the outcome of a call. A known outcome is not replaced, with one exception: `blocked` replaces `failure`. */
export function setOutcome(call: Call, outcome: Outcome): void {
  if (!call.outcome || outcome === 'blocked') call.outcome = outcome
}

/** Applies a resource timing entry: https://www.w3.org/TR/resource-timing/#sec-performanceresourcetiming */
export function applyTiming(call: Call, entry: Timing): void {
  call.isTimed = true
  call.durMs = Math.round(entry.duration * 10) / 10
  if (call.at < 0) call.at = entry.startTime
  if (entry.requestStart) call.bytes = entry.transferSize || entry.encodedBodySize || 0
  // 0 when the other site hides the status, and for failures:
  // https://fetch.spec.whatwg.org/#create-an-opaque-timing-info
  if (entry.responseStatus) setOutcome(call, entry.responseStatus)
}

/** True when no more important data about the call is expected. */
export function isDone({ isReading, isTimed, outcome, look }: Call): boolean {
  return !isReading && (!!outcome || (!!isTimed && !look))
}
