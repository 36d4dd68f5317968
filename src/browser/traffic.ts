import type { Instant } from '../core/clock.ts'

/** The page that a request belongs to: the document of its tab, even when the request comes from a frame or worker. */
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
   * Id of the tab, as returned by `tabOf`. Null for requests that do not belong to a single tab, such as those of a
   * shared worker.
   */
  tab: string | null
  url: string
  /** HTTP method in upper case. */
  method: string
  /** Chrome's resource type in lower case: `document`, `script`, `xhr`, `ping`, … */
  resourceType: string
  requestHeaders: readonly Header[]
  /** Body as a string. Null when there was no body or it is not text. */
  body: string | null
  /** Vendor whose decoder recognises the request; null when there is none. */
  vendor: string | null
  /** True when Tagwarden answered the request inside the browser. */
  answered: boolean
  /** Status of the response. Null while the request is active and when it has failed. */
  status: number | null
  statusText: string
  responseHeaders: readonly Header[]
  mimeType: string
  /** Size of the response body on the wire in bytes; 0 while unknown. */
  bytes: number
  /** Milliseconds from the start of the request to the start of its response. Null without a response. */
  waitMs: number | null
  /** Milliseconds from the start of the request to the end of its response. Null while the request is active. */
  durMs: number | null
  /**
   * Reason for a failure, without a full stop. If the guard blocked the request, its reason is included. Null when the
   * request did not fail.
   */
  error: string | null
}

export interface Header {
  name: string
  value: string
}

/** One event in a request to a vendor. */
export interface SeenEvent extends PagePlace {
  /** `number` of the request that contained the event. Several events may belong to the same request. */
  request: number
  at: Instant
  vendor: string
  /** Event name; empty when the request does not contain one. */
  event: string
  account: string | null
  params: Record<string, string>
  /** Status of the response; null when there was no response. */
  status: number | null
  answered: boolean
}

/** The requests that a browser has made so far. The lists grow, and their items are updated as responses arrive. */
export interface Traffic {
  readonly requests: readonly SeenRequest[]
  /** Events in the requests. Loading a vendor's library is a request but not an event. */
  readonly events: readonly SeenEvent[]
  /** Uncaught errors and console errors of pages, frames and workers, without duplicates. */
  readonly errors: readonly string[]
  /** Calls `listener` with each event at the time of its request. Returns a function that unsubscribes the listener. */
  onEvent(listener: (event: SeenEvent) => void): () => void
  /** Deletes all requests with a lower number, and their events, to save memory during a long crawl. */
  forget(before: number): void
  /** Number of active requests. Requests answered by Tagwarden, event streams and web sockets do not count. */
  readonly underWay: number
  /** Time at which a request most recently started or ended. */
  readonly activeAt: Instant
  /**
   * Resolves to true when no request has been active for `silenceMs`, or to false after `atMostMs`. Rejects when
   * `stopping` is aborted.
   * @param tab the tab to wait for; by default, the whole browser
   */
  quiet(silenceMs: number, atMostMs: number, stopping: AbortSignal, tab?: string): Promise<boolean>
}
