import type { VendorRequest } from './vendor-request.ts'

/** One vendor request as seen by a browser or server. */
export interface RawHit {
  url: string
  /** HTTP method in upper case. */
  method: string
  /** The body as UTF-8 text, after base64 and content encoding were removed; null when there was none. */
  body: string | null
}

/** One event carried by a request. A request may carry several events. */
export interface DecodedEvent {
  /** The vendor's own name for the event, with the vendor's spelling. Empty when the request contains no name. */
  event: string
  account: string | null
  /** `library`: the request loads the vendor's code and is not an event. Default: `event`. */
  kind?: 'event' | 'library'
  /** Parameters of the request, with the vendor's keys. Nested values are later flattened to dotted keys. */
  params: Record<string, unknown>
}

/** One kind of request made by a vendor's code. `route-builders.ts` defines the common ones. */
export interface Route {
  /** Tested against the path of the URL. Must run in linear time. */
  path: RegExp
  /** Additional condition. Must be cheap and must not throw. */
  when?(request: VendorRequest): boolean
  /**
   * True for collectors that run on the customer's own host. Tried on every host, after the decoders that list the
   * host.
   */
  anyHost?: boolean
  /**
   * Pattern by which the browser script recognises requests of an any-host route with `when`. It is tested against the
   * host name, the query (`?…`), a line feed and the body. It must run in linear time, match the requests that a
   * browser sends, and match no request of the site itself, because bodies of matching requests leave the page. A route
   * without it is for servers only, or carries no event.
   */
  mark?: RegExp
  /** Content of the requests if not events. Default: events. */
  carries?: 'library' | 'nothing'
  /**
   * Returns the events in a request. May throw, which adds a ledger row with the error message; the message must not
   * quote the request. Returns no events for side channels that repeat an event and for configuration. Large batches
   * should be yielded one by one, because reading stops at the limit.
   */
  read(request: VendorRequest): Iterable<DecodedEvent>
}

/** The wire format of one vendor. Pure: the same hit always produces the same events. */
export interface Decoder {
  /** Stable name, stored in `StoredEvent.vendor` and used in alerts. */
  vendor: string
  /** Source that documents the wire format. */
  source: string
  /** Lower-case host names, each including its subdomains. Empty when all routes are any-host routes. */
  hosts: readonly string[]
  /** The first matching route reads the request. */
  routes: readonly Route[]
}
