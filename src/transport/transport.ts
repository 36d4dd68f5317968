/** An outbound request, independent of its transport. */
export type Outbound = HttpOutbound | MailOutbound

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface HttpOutbound {
  kind: 'http'
  url: string
  method: HttpMethod
  headers: Record<string, string>
  /** Request body. Empty for no body. */
  body: string
  /**
   * Maximum size of the response body. A larger body is an error. Absent: at most the first 64 KiB are read, for
   * callers that need only the status.
   */
  maxAnswerBytes?: number
  /** Time limit in ms, from the first DNS query to the last byte of the response. Default: `SEND_TIMEOUT_MS`. */
  timeoutMs?: number
}

export interface MailOutbound {
  kind: 'mail'
  to: string[]
  subject: string
  text: string
  html: string
  /** Local part of the Message-ID. It is the same for every attempt. */
  messageId: string
  /** Id shared by the e-mails in one thread. Null for an e-mail outside a thread. */
  threadId: string | null
  /** Images that the HTML embeds with `cid:<id>`. Absent if there are none. */
  pictures?: readonly MailPicture[]
  /** Additional headers, such as `List-Unsubscribe`. */
  headers?: Readonly<Record<string, string>>
}

export interface MailPicture {
  /** Content-ID of the image. It is globally unique, like a Message-ID. */
  id: string
  /** File name: `chart.png`. */
  name: string
  png: Uint8Array
}

/**
 * Result of a request. The message is safe for the delivery log: it contains no secrets, personal addresses, URL
 * paths or URL queries.
 *
 * `status`: the other service responded. A sent e-mail has status 250 and a `body` that is empty or states how many
 * recipients were refused.
 * `error`: the other service did not respond, or a mail server rejected the e-mail. `permanent`: a retry would be
 * rejected again. `hung`: no response arrived in time.
 */
export type Reply =
  | { kind: 'status'; status: number; headers: Record<string, string>; body: string }
  | { kind: 'error'; message: string; permanent: boolean; hung?: true }

/** A WebSocket connection for text messages. Incoming messages can be iterated only once, in order. */
export interface WebSocketLine {
  /**
   * Iterates over messages. Ends when either side closes the connection. Fails with `upstream` or `unavailable` if the
   * connection breaks.
   */
  [Symbol.asyncIterator](): AsyncIterator<string>
  /** Sends a message. Does nothing once the connection has ended. */
  send(text: string): void
  close(): void
}

/**
 * Opens a `ws:` or `wss:` URL. Fails with `invalid` if the address is not allowed, otherwise with `upstream` or
 * `unavailable`.
 */
type OpenSocket = (url: string, signal: AbortSignal) => Promise<WebSocketLine>

/** Transport of outbound requests. */
export interface Transport {
  /**
   * Sends a request or e-mail. Never throws: failures are returned as a `Reply`. Aborting `signal` ends the attempt
   * with an error.
   */
  send(outbound: Outbound, signal: AbortSignal): Promise<Reply>
  /** Opens a connection that stays open until `signal` is aborted. Absent if WebSockets are not supported. */
  openSocket?: OpenSocket
}

/** Combines transports for HTTP, mail and WebSockets. */
export function transport(transports: {
  http: (outbound: HttpOutbound, signal: AbortSignal) => Promise<Reply>
  mail: (outbound: MailOutbound, signal: AbortSignal) => Promise<Reply>
  openSocket?: OpenSocket
}): Transport {
  const { http, mail, openSocket } = transports
  return {
    send: (outbound, signal) => (outbound.kind === 'http' ? http(outbound, signal) : mail(outbound, signal)),
    ...(openSocket ? { openSocket } : {}),
  }
}

/** Time limit of one attempt in ms, from the first DNS query to the last byte of the response. */
export const SEND_TIMEOUT_MS = 15_000
