import type { Frame } from './frame.ts'

/** How a request ended: an HTTP status, or the collector's word where the browser does not tell that. */
export type Outcome = number | 'ok' | 'failure' | 'exception' | 'timeout' | 'blocked'

/** One captured request. */
export interface Call {
  frame: Frame
  /** On the page's own clock, ms; an entry of resource timing that began before is another request. */
  at: number
  /** Ms since the epoch. */
  ts: number
  url: string
  /** Its host when that belongs to another site; else null. */
  foreignHost: string | null
  method: string
  type: string
  /** The body; null when there was none, or none that may be read. */
  content: string | Uint8Array | null
  /** True while the body is being read. */
  isReading: boolean
  /** False: it is not known yet whether the browser asks for it at all (a script that is not in the page yet). */
  isConfirmed: boolean
  outcome: Outcome | null
  /** False: the browser had no network when it was made. */
  isOnline: boolean
  /** True when it failed or brought something unexpected; a picture that is none may be an empty answer. */
  isOdd: boolean
  durMs: number | null
  bytes: number | null
  /** True when resource timing has told of it. */
  isTimed: boolean
  /** Called when resource timing tells of it, so that a promise is looked at only after it settled. */
  whenTimed: (() => void) | null
}

/** As much of a resource timing entry as is read here. */
export interface Timing {
  startTime: number
  duration: number
  responseStatus?: number
  transferSize?: number
  encodedBodySize?: number
  /** 0 where the other site does not let us see: then sizes say nothing. */
  requestStart?: number
}

/** Clocks are rounded: https://www.w3.org/TR/hr-time-3/#dfn-coarsen-time */
const CLOCK_SLACK_MS = 0.2
/** Calls that are kept for what is reported of them late. */
const MAX_CALLS = 1000

/** Calls by address, so that what is reported of an address finds its call. */
export interface Calls {
  add(call: Call): void
  /**
   * The call that an entry of resource timing tells of: of those of its address that none told of yet and that began before
   * it the last, rather one of its own type. Entries come in the order in which requests end. Null: none of ours.
   */
  untimed(url: string, type: string, startedAt: number): Call | null
  /** The youngest call of this address, one whose end is not known before others; null when there is none. */
  youngest(url: string): Call | null
}

export function makeCalls(): Calls {
  const byUrl = new Map<string, Call[]>()
  const inOrder: Call[] = []
  const forget = (call: Call) => {
    const rest = (byUrl.get(call.url) ?? []).filter((one) => one !== call)
    if (rest.length > 0) byUrl.set(call.url, rest)
    else byUrl.delete(call.url)
  }
  return {
    add(call) {
      const same = byUrl.get(call.url)
      if (same) same.push(call)
      else byUrl.set(call.url, [call])
      inOrder.push(call)
      const oldest = inOrder.length > MAX_CALLS ? inOrder.shift() : undefined
      if (oldest) forget(oldest)
    },
    untimed(url, type, startedAt) {
      const open = byUrl.get(url)?.filter(({ isTimed, at }) => !isTimed && at <= startedAt + CLOCK_SLACK_MS)
      return open?.findLast((call) => call.type === type) ?? open?.at(-1) ?? null
    },
    youngest(url) {
      const calls = byUrl.get(url)
      return calls?.findLast(({ outcome }) => outcome === null) ?? calls?.at(-1) ?? null
    },
  }
}

/** Puts down how a call ended. What is known already stays, but that it was blocked explains a failure. */
export function setOutcome(call: Call, outcome: Outcome): void {
  if (call.outcome === null || outcome === 'blocked') call.outcome = outcome
}

/** Puts down what resource timing says: https://www.w3.org/TR/resource-timing/#sec-performanceresourcetiming */
export function applyTiming(call: Call, { startTime, duration, ...entry }: Timing): void {
  call.isTimed = true
  call.durMs = Math.round(duration * 10) / 10
  if (call.at < 0) call.at = startTime
  if (entry.requestStart) call.bytes = entry.transferSize || entry.encodedBodySize || 0
  // 0 where the other site does not let us see, and for a failure: https://fetch.spec.whatwg.org/#create-an-opaque-timing-info
  if (entry.responseStatus) setOutcome(call, entry.responseStatus)
}

/** True when nothing more of importance will be told of it. */
export function isDone({ isReading, isTimed, outcome, whenTimed }: Call): boolean {
  return !isReading && (outcome !== null || (isTimed && whenTimed === null))
}
