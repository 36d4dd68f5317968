import type { VendorRequest } from './vendor-request.ts'

/** A request to a vendor, as captured by a browser or a server. */
export interface RawHit {
  url: string
  /** HTTP method in upper case. */
  method: string
  /** The body as UTF-8 text, decoded from base64 and decompressed; null when there was none. */
  body: string | null
}

/** One event carried by a request. A request may carry several events. */
export interface DecodedEvent {
  /** The name that the vendor uses for the event, in its original spelling. Empty when the request contains no name. */
  event: string
  account: string | null
  /** `library` if the request loads the vendor's code and reports no event. Default: `event`. */
  kind?: 'event' | 'library'
  /**
   * Parameters of the request, with the keys that the vendor uses. Nested values are flattened to dotted keys later.
   */
  params: Record<string, unknown>
}

/** A kind of request that a vendor's code sends. `route-builders.ts` defines the common kinds. */
export interface Route {
  /** Matched against the path of the URL. Must run in linear time. */
  path: RegExp
  /** An additional condition. Must be fast and must not throw. */
  when?(request: VendorRequest): boolean
  /**
   * True for collectors that run on the customer's own host. The route is tried for every host, after the decoders that
   * list the host.
   */
  anyHost?: boolean
  /**
   * Pattern by which the browser script recognises requests of an any-host route that has a `when` condition. It is
   * matched against the host name, the query (`?…`), a line feed and the body. It must run in linear time and match the
   * requests that browsers send. It must not match the site's own requests, because the bodies of matching requests
   * leave the page. A route without it is used only by servers or contains no event.
   */
  mark?: RegExp
  /** Content of the requests, if they do not contain events. Default: events. */
  carries?: 'library' | 'nothing'
  /**
   * Returns the events in a request. May throw an error, whose message is added to the ledger; the message must not
   * quote the request. Returns no events for side channels that repeat an event, and for configuration. Large batches
   * should be yielded one event at a time, because reading stops at the limit.
   */
  read(request: VendorRequest): Iterable<DecodedEvent>
}

/** Meaning of a value. Its characters do not always show this: an identifier may consist of digits. */
export const VALUE_KINDS = [
  'identifier',
  'amount',
  'number',
  'boolean',
  'time',
  'duration',
  'url',
  'code',
  'text',
] as const
export type ValueKind = (typeof VALUE_KINDS)[number]

/**
 * Meanings by key: the kind of the value (null if it differs), and a short description. `#` in a key represents
 * any number, and `*` at its end any text.
 */
export type KeyMeanings = Readonly<Record<string, readonly [kind: ValueKind | null, meaning: string]>>

/** Keys that a public page of the vendor describes. */
export interface KeyReference {
  url: string
  meanings: KeyMeanings
}

/** The wire format of one vendor. Decoding is pure: the same request always produces the same events. */
export interface Decoder {
  /** Unchanging name, which is stored in `StoredEvent.vendor` and used in alerts. */
  vendor: string
  /** URL of the source that documents the wire format. */
  source: string
  /** Meanings of the vendor's keys. If several references describe a key, the first is used. Default: none. */
  keys?: readonly KeyReference[]
  /** Host names in lower case. Each includes its subdomains. Empty when all routes are for any host. */
  hosts: readonly string[]
  /** The first route that matches a request reads it. */
  routes: readonly Route[]
}
