import type { Instant } from '../core/clock.ts'

/** The page of a request: the document of its tab, also for requests of frames and workers. */
export interface PagePlace {
  /** Null for a page that is not a web address, such as `about:blank`. */
  host: string | null
  path: string | null
}

/**
 * One request that left the browser or would have left it; each redirect is another one. Secrets in texts are masked.
 */
export interface SeenRequest extends PagePlace {
  /** From 1, in the order of requests. */
  number: number
  at: Instant
  /** Id of its tab, as returned by `tabOf`; null for what belongs to no single tab, such as a shared worker. */
  tab: string | null
  url: string
  /** Upper case. */
  method: string
  /** Chrome's name in lower case: `document`, `script`, `xhr`, `ping`, … */
  resourceType: string
  requestHeaders: readonly Header[]
  /** Body as text; null when there was none or it is not text. */
  body: string | null
  /** Vendor whose decoder recognises the request; null: none. */
  vendor: string | null
  /** True when it did not leave because Tagwarden answered it. */
  answered: boolean
  /** Null while it is active, and when it failed. */
  status: number | null
  statusText: string
  responseHeaders: readonly Header[]
  mimeType: string
  /** Bytes of the response body on the wire; 0 while unknown. */
  bytes: number
  /** Milliseconds from the request to the start of its response; null without a response. */
  waitMs: number | null
  /** Milliseconds from the request to the end of its response; null while it is active. */
  durMs: number | null
  /** Why it failed, without a full stop, with the guard's reason if it was refused. Null when it did not fail. */
  error: string | null
}

export interface Header {
  name: string
  value: string
}

/** One event of a vendor's request. */
export interface SeenEvent extends PagePlace {
  /** `number` of its request; several events may share one. */
  request: number
  at: Instant
  vendor: string
  /** Empty when the request names no event. */
  event: string
  account: string | null
  params: Record<string, string>
  /** Status of the response; null when there was none. */
  status: number | null
  answered: boolean
}

/** Requests of a browser so far. The lists grow, and their items are completed as responses arrive. */
export interface Traffic {
  readonly requests: readonly SeenRequest[]
  /** Loads of vendors' libraries are requests but not events. */
  readonly events: readonly SeenEvent[]
  /** Uncaught errors of pages, frames and workers, and their console errors; each text once. */
  readonly errors: readonly string[]
  /** Calls `listener` with each event when its request is made. Returns a function that unsubscribes. */
  onEvent(listener: (event: SeenEvent) => void): () => void
  /** Drops requests below this number and their events, because a crawl is long. */
  forget(before: number): void
  /** Number of active requests, without answered ones, event streams and web sockets. */
  readonly underWay: number
  /** Time of the most recent start or end of a request. */
  readonly activeAt: Instant
  /**
   * Resolves with true when nothing was active for `silenceMs`; with false after `atMostMs`. Rejects when `stopping` is
   * aborted.
   * @param tab default: the whole browser
   */
  quiet(silenceMs: number, atMostMs: number, stopping: AbortSignal, tab?: string): Promise<boolean>
}
