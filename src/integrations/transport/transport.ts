/** What is to be sent, as a value: nothing in it depends on how it is carried. */
export type Outbound = HttpOutbound | MailOutbound

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface HttpOutbound {
  kind: 'http'
  url: string
  method: HttpMethod
  headers: Record<string, string>
  /** Empty: none. */
  body: string
  /**
   * An answer with a larger body is an error, never a part of it. Absent: no more than its first 64 KiB are read, for those
   * to whom the status says enough.
   */
  maxAnswerBytes?: number
  /** From the first DNS question to the last byte of the answer; absent: `SEND_TIMEOUT_MS`. */
  timeoutMs?: number
}

export interface MailOutbound {
  kind: 'mail'
  to: string[]
  subject: string
  text: string
  html: string
  /** The same for every attempt; becomes the part of the Message-ID before the `@`. */
  messageId: string
  /** What mails of one conversation share; null for a mail that stands alone. */
  threadId: string | null
  /** Pictures that the HTML shows by `cid:<id>`; absent: none. */
  pictures?: readonly MailPicture[]
  /** Further headers, such as `List-Unsubscribe`. */
  headers?: Readonly<Record<string, string>>
}

export interface MailPicture {
  /** Unique among all mails, as a Message-ID is. */
  id: string
  /** Shown where pictures are listed: `chart.png`. */
  name: string
  png: Uint8Array
}

/**
 * How the other side took it. `status`: it answered; a mail that went has status 250, and its `body` is empty or says
 * how many of the addresses were refused.
 * `error`: it did not, or a mail server refused; `permanent` says that a repeat would meet the same refusal, `hung`
 * that no answer came in time. The message is fit for the delivery log: no secret, no address of a person, no path or query of a URL.
 */
export type Reply =
  | { kind: 'status'; status: number; headers: Record<string, string>; body: string }
  | { kind: 'error'; message: string; permanent: boolean; hung?: true }

/** A connection over which both sides say texts. The texts of the other side are iterated over once, in their order. */
export interface WebSocketLine {
  /** Ends when the other side closed it properly or we did; fails with `upstream` or `unavailable` when it broke. */
  [Symbol.asyncIterator](): AsyncIterator<string>
  /** Does nothing when it has ended. */
  send(text: string): void
  close(): void
}

/** Opens `ws:` or `wss:`. Fails with `invalid` when the address may not be called, else with `upstream` or `unavailable`. */
export type OpenSocket = (url: string, signal: AbortSignal) => Promise<WebSocketLine>

/** The way out. */
export interface Transport {
  /** Never throws: what goes wrong is a `Reply`. An aborted `signal` ends the attempt with an error. */
  send(outbound: Outbound, signal: AbortSignal): Promise<Reply>
  /** A connection that stays open until `signal` is aborted. Absent: there are none. */
  openSocket?: OpenSocket
}

/** Joins the ways out: one for HTTP, one for mail, and one for connections that stay open. */
export function transport(ways: {
  http: (outbound: HttpOutbound, signal: AbortSignal) => Promise<Reply>
  mail: (outbound: MailOutbound, signal: AbortSignal) => Promise<Reply>
  openSocket?: OpenSocket
}): Transport {
  const { http, mail, openSocket } = ways
  return {
    send: (outbound, signal) => (outbound.kind === 'http' ? http(outbound, signal) : mail(outbound, signal)),
    ...(openSocket ? { openSocket } : {}),
  }
}

/** How long one attempt may take from the first DNS question to the last byte of the answer. */
export const SEND_TIMEOUT_MS = 15_000
