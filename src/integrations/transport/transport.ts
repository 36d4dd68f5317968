/** An outbound request, independent of its transport. */
export type Outbound = HttpOutbound | MailOutbound

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface HttpOutbound {
  kind: 'http'
  url: string
  method: HttpMethod
  headers: Record<string, string>
  /** Empty for no body. */
  body: string
  /**
   * Maximum size of the response body; a larger one is an error. Absent: at most the first 64 KiB are read, for callers
   * that need only the status.
   */
  maxAnswerBytes?: number
  /** Time from the first DNS query to the last byte of the response. Default: `SEND_TIMEOUT_MS`. */
  timeoutMs?: number
}

export interface MailOutbound {
  kind: 'mail'
  to: string[]
  subject: string
  text: string
  html: string
  /** The same for every attempt; local part of the Message-ID. */
  messageId: string
  /** Id shared by mails of one thread; null for a single mail. */
  threadId: string | null
  /** Images the HTML embeds with `cid:<id>`; absent: none. */
  pictures?: readonly MailPicture[]
  /** Additional headers, such as `List-Unsubscribe`. */
  headers?: Readonly<Record<string, string>>
}

export interface MailPicture {
  /** Globally unique, like a Message-ID. */
  id: string
  /** File name: `chart.png`. */
  name: string
  png: Uint8Array
}

/**
 * Result of a request.
 * `status`: the other service responded. A sent mail has status 250 and a `body` that is empty or states how many
 * recipients were refused.
 * `error`: it did not respond, or a mail server refused. `permanent`: a retry would be refused again. `hung`: no
 * response in time. The message is safe for the delivery log: it contains no secrets, personal addresses, or paths and
 * queries of URLs.
 */
export type Reply =
  | { kind: 'status'; status: number; headers: Record<string, string>; body: string }
  | { kind: 'error'; message: string; permanent: boolean; hung?: true }

/** A WebSocket connection for text messages. Incoming messages are iterated once, in order. */
export interface WebSocketLine {
  /** Ends when either side closes the connection; fails with `upstream` or `unavailable` if it breaks. */
  [Symbol.asyncIterator](): AsyncIterator<string>
  /** Does nothing after the connection ended. */
  send(text: string): void
  close(): void
}

/**
 * Opens a `ws:` or `wss:` URL. Fails with `invalid` if the address is not allowed, else with `upstream` or
 * `unavailable`.
 */
type OpenSocket = (url: string, signal: AbortSignal) => Promise<WebSocketLine>

/** Transport of outbound requests. */
export interface Transport {
  /** Never throws: failures are a `Reply`. Aborting `signal` ends the attempt with an error. */
  send(outbound: Outbound, signal: AbortSignal): Promise<Reply>
  /** Opens a connection that stays open until `signal` is aborted. Absent: not supported. */
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

/** Time limit of one attempt, from the first DNS query to the last byte of the response. */
export const SEND_TIMEOUT_MS = 15_000
