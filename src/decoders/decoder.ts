import type { VendorRequest } from './request.ts'

/** One vendor request as a browser or server saw it. */
export interface RawHit {
  url: string
  /** Upper case. */
  method: string
  /** The body as UTF-8 text, after base64 and content encoding were undone; null when there was none. */
  body: string | null
}

/** One event that a request carried. Several may come from one request. */
export interface DecodedEvent {
  /** The vendor's own name of the event, spelled as the vendor spells it. Empty when the request names none. */
  event: string
  account: string | null
  /** `library`: the request loads the vendor's code and is not an event. Default `event`. */
  kind?: 'event' | 'library'
  /** Parameters of the request, under the vendor's keys. Nested values are flattened to dotted keys afterwards. */
  params: Record<string, unknown>
}

/** One kind of request that a vendor's code makes. `route.ts` has the usual ones. */
export interface Route {
  /** Tested against the path of the URL. Must take linear time. */
  path: RegExp
  /** Further condition. Must be cheap and must not throw. */
  when?(request: VendorRequest): boolean
  /** True for collectors that run under the customer's own name: tried on every host, after all decoders' hosts. */
  anyHost?: boolean
  /**
   * How the browser script recognises requests of an any-host route with `when`: tested against the host name, the query
   * (`?…`), a line feed and the body. Must take linear time, hold for what a browser sends, and fit no request of the
   * site itself, because bodies of requests that fit leave the page. Without it such a route is for servers only, or
   * carries no event.
   */
  mark?: RegExp
  /** Content of its requests if not events. Default: events. */
  carries?: 'library' | 'nothing'
  /**
   * May throw, which becomes a ledger row with the message; the message quotes nothing of the request. Empty when the
   * request carries no event (side channels that repeat one, configuration). Large batches are better yielded one by
   * one: reading stops at the limit.
   */
  read(request: VendorRequest): Iterable<DecodedEvent>
}

/** The wire format of one vendor. Pure: the same hit gives the same events. */
export interface Decoder {
  /** Stable name: `StoredEvent.vendor`, and what alerts refer to. */
  vendor: string
  /** Where the wire format is described. */
  source: string
  /** Lower-case host names, each with its subdomains. Empty when all routes are for any host. */
  hosts: readonly string[]
  /** The first one that fits reads the request. */
  routes: readonly Route[]
}
