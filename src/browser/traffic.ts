import type { Instant } from '../core/clock.ts'

/** The page of a request: the document of its tab, also for requests from frames and workers. */
export interface PagePlace {
  /** Null for a page without a web address, such as `about:blank`. */
  host: string | null
  path: string | null
}

/**
 * One request that was sent by the browser or answered inside it. Each redirect is a separate request. Secrets in
 * strings are masked.
 */
export interface SeenRequest extends PagePlace {
  /** Sequence number of the request, starting at 1. */
  number: number
  at: Instant
  /**
   * Id of its tab, as returned by `tabOf`; null for requests that belong to no single tab, such as those of a shared
   * worker.
   */
  tab: string | null
  url: string
  /** HTTP method in upper case. */
  method: string
  /** Chrome's resource type in lower case: `document`, `script`, `xhr`, `ping`, … */
  resourceType: string
  requestHeaders: readonly Header[]
  /** Body as a string; null when there was none or it is not text. */
  body: string | null
  /** Vendor whose decoder recognises the request; null when none does. */
  vendor: string | null
  /** True when Tagwarden answered the request inside the browser. */
  answered: boolean
  /** Status of the response; null while the request is active and when it failed. */
  status: number | null
  statusText: string
  responseHeaders: readonly Header[]
  mimeType: string
  /** Size of the response body on the wire in bytes; 0 while unknown. */
  bytes: number
  /** Milliseconds from the request to the start of its response; null without a response. */
  waitMs: number | null
  /** Milliseconds from the request to the end of its response; null while it is active. */
  durMs: number | null
  /**
   * Reason for a failure, without a full stop, including the guard's reason if the request was blocked. Null when it
   * did not fail.
   */
  error: string | null
}

export interface Header {
  name: string
  value: string
}

/** One event in a request to a vendor. */
export interface SeenEvent extends PagePlace {
  /** `number` of its request; several events may share a request. */
  request: number
  at: Instant
  vendor: string
  /** Event name; empty when the request does not contain one. */
  event: string
  account: string | null
  params: Record<string, string>
  /** Status of the response; null when there was none. */
  status: number | null
  answered: boolean
}

/** Requests made by a browser so far. The lists grow, and their items are updated as responses arrive. */
export interface Traffic {
  readonly requests: readonly SeenRequest[]
  /** Events of the requests. Loading a vendor's library is a request but not an event. */
  readonly events: readonly SeenEvent[]
  /** Uncaught errors and console errors of pages, frames and workers, without duplicates. */
  readonly errors: readonly string[]
  /** Calls `listener` with each event when its request is made. Returns a function that unsubscribes. */
  onEvent(listener: (event: SeenEvent) => void): () => void
  /** Deletes requests below this number and their events, to save memory during a long crawl. */
  forget(before: number): void
  /** Number of active requests. Requests answered by Tagwarden, event streams and web sockets are not counted. */
  readonly underWay: number
  /** Time at which a request last started or ended. */
  readonly activeAt: Instant
  /**
   * Resolves with true when no request was active for `silenceMs`, and with false after `atMostMs`. Rejects when
   * `stopping` is aborted.
   * @param tab default: the whole browser
   */
  quiet(silenceMs: number, atMostMs: number, stopping: AbortSignal, tab?: string): Promise<boolean>
}
