import type { Instant } from '../core/clock.ts'

/** The page that a request belongs to: the tab's own document, also for requests of its frames and workers. */
export interface PagePlace {
  /** Null for a page that is no address on the web, such as `about:blank`. */
  host: string | null
  path: string | null
}

/** One request that left the browser, or would have left it: a redirect is one more. Texts have secrets masked. */
export interface SeenRequest extends PagePlace {
  /** From 1, in the order in which requests were made. */
  number: number
  at: Instant
  /** Id of its tab, as `tabOf` says it; null for what belongs to no single tab, such as a shared worker. */
  tab: string | null
  url: string
  /** Upper case. */
  method: string
  /** As Chrome names it, lower case: `document`, `script`, `xhr`, `ping`, … */
  resourceType: string
  requestHeaders: readonly Header[]
  /** As text; null when there was none or it is no text. */
  body: string | null
  /** Vendor whose decoder knows the request; null: none does. */
  vendor: string | null
  /** True when it did not leave, because it was answered here. */
  answered: boolean
  /** Null while it is under way, and when it failed. */
  status: number | null
  statusText: string
  responseHeaders: readonly Header[]
  mimeType: string
  /** Bytes of the response's body as they came; 0 while unknown. */
  bytes: number
  /** From the request to the first of its response; null while there is none. */
  waitMs: number | null
  /** From the request to the end of its response; null while it is under way. */
  durMs: number | null
  /** Why it failed, in a sentence without its full stop; the guard's reason where that refused it. Null: it did not. */
  error: string | null
}

export interface Header {
  name: string
  value: string
}

/** One event that a request of a vendor carried. */
export interface SeenEvent extends PagePlace {
  /** `number` of its request; several events may share one. */
  request: number
  at: Instant
  vendor: string
  /** Empty when the vendor's request names none. */
  event: string
  account: string | null
  params: Record<string, string>
  /** Of the response; null when there was none. */
  status: number | null
  answered: boolean
}

/** What a browser has sent so far. Lists grow, and their items are filled in as responses come. */
export interface Traffic {
  readonly requests: readonly SeenRequest[]
  /** Loads of vendors' libraries are requests and no events. */
  readonly events: readonly SeenEvent[]
  /** Uncaught errors of pages, frames and workers, and what they wrote to the console as errors; each text once. */
  readonly errors: readonly string[]
  /** Calls `listener` with each event when its request is made; returns a function that ends that. */
  onEvent(listener: (event: SeenEvent) => void): () => void
  /** Drops requests with a number below this one, and their events, where nobody asks for them again: a crawl is long. */
  forget(before: number): void
  /** Number of requests that are under way. Those that were answered here, event streams and web sockets are not. */
  readonly underWay: number
  /** When a request was last made, or ended. */
  readonly activeAt: Instant
  /**
   * Resolves when nothing was under way for `silenceMs`, with true; after `atMostMs` with false. Fails when `stopping` is
   * aborted.
   * @param tab left out: of the whole browser
   */
  quiet(silenceMs: number, atMostMs: number, stopping: AbortSignal, tab?: string): Promise<boolean>
}
