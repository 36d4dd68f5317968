import type { CDPSession, Protocol } from 'puppeteer-core'
import { isCredentialKey } from '../core/detect-credentials.ts'
import type { Header, SeenRequest } from './traffic.ts'
import type { TrafficLog } from './traffic-log.ts'

/** A request and its redirects, which have the same id in the Network domain. */
interface Exchange {
  hops: SeenRequest[]
  /** Number of requests that are known to have been redirected. */
  redirected: number
  /** Size of the last response's headers in bytes. */
  headBytes: number
}

export interface Outcome {
  status: number
  statusText: string
  headers: readonly Header[]
  mimeType: string
}

/** Adds statuses, sizes, times and errors to the recorded requests. */
export class ResponseRecorder {
  private readonly exchanges = new Map<string, Exchange>()
  /**
   * The session that reported the start of each request. When the worker or frame of that session is gone, the request
   * is no longer awaited.
   */
  private readonly tellers = new Map<string, CDPSession>()

  constructor(
    private readonly log: TrafficLog,
    private readonly mask: (text: string) => string,
    private readonly faultOf: (url: string) => string | null,
    /** Unmasked URLs of requests. */
    private readonly urls: WeakMap<SeenRequest, string>,
  ) {}

  /** Called when a request has been recorded whose responses will be reported with this id. */
  expect(id: string, request: SeenRequest): void {
    const known = this.exchanges.get(id)
    if (known) known.hops.push(request)
    else this.exchanges.set(id, { hops: [request], redirected: 0, headBytes: 0 })
  }

  /** Returns the most recent request with this id; null when none has been recorded. */
  latest(id: string): SeenRequest | null {
    return this.exchanges.get(id)?.hops.at(-1) ?? null
  }

  /** Subscribes to the messages from a target. */
  follow(session: CDPSession): void {
    session.on('Network.requestWillBeSent', ({ requestId, redirectResponse }) => {
      if (!this.tellers.has(requestId)) this.tellers.set(requestId, session)
      if (redirectResponse) this.redirect(requestId, redirectResponse)
    })
    session.on('Network.responseReceived', ({ requestId, response }) => {
      const exchange = this.exchanges.get(requestId)
      const request = exchange?.hops.at(-1)
      if (!exchange || !request) return
      exchange.headBytes = response.encodedDataLength
      this.respond(request, outcomeOf(response))
    })
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const exchange = this.take(requestId)
      const request = exchange?.hops.at(-1)
      if (!exchange || !request || request.answered) return
      request.bytes = Math.max(0, encodedDataLength - exchange.headBytes)
      this.log.end(request)
    })
    session.on('Network.loadingFailed', (event) => {
      const request = this.take(event.requestId)?.hops.at(-1)
      if (!request || request.answered) return
      // A page that does not read a response cancels the rest of the response, which is not a failure.
      if (request.status === null || !event.canceled) this.fail(request, failureText(event))
      this.log.end(request)
    })
  }

  /** Called for every response, including responses that only the interception reports. */
  respond(request: SeenRequest, { status, statusText, headers, mimeType }: Outcome): void {
    if (request.answered) return
    request.status = status
    request.statusText = this.mask(statusText)
    request.responseHeaders = headers.map(({ name, value }) => shownHeader(name, value, this.mask))
    request.mimeType = this.mask(mimeType)
    request.waitMs = this.log.age(request)
    this.log.outcome(request)
  }

  fail(request: SeenRequest, why: string): void {
    request.error ??= this.mask(this.faultOf(this.urls.get(request) ?? request.url) ?? why)
  }

  private redirect(id: string, response: Protocol.Network.Response): void {
    const exchange = this.exchanges.get(id)
    const request = exchange?.hops[exchange.redirected]
    if (!exchange || !request) return
    exchange.redirected++
    this.respond(request, outcomeOf(response))
    this.log.end(request)
  }

  private take(id: string): Exchange | undefined {
    this.tellers.delete(id)
    const exchange = this.exchanges.get(id)
    this.exchanges.delete(id)
    return exchange
  }

  /** Called when a target has been closed and will not report anything else. */
  left(session: CDPSession): void {
    for (const [id, teller] of this.tellers) {
      if (teller !== session) continue
      const request = this.latest(id)
      this.tellers.delete(id)
      // Another target may continue the request. For example, a frame in a new process receives a document that its
      // parent requested.
      if (request?.resourceType !== 'document') this.take(id)
      if (request && request.resourceType !== 'document') this.log.end(request)
    }
  }
}

/**
 * Returns the value of a header in the form shown to users. Credentials are hidden even if they are not secrets of the
 * test, because they would grant access to anyone who reads the recording.
 */
export function shownHeader(name: string, value: string, mask: (text: string) => string): Header {
  const shown = isCredentialKey(`headers.${name}`) ? '***' : mask(value)
  return { name: mask(name), value: shown }
}

function outcomeOf({ status, statusText, headers, mimeType }: Protocol.Network.Response): Outcome {
  return { status, statusText, headers: Object.entries(headers).map(([name, value]) => ({ name, value })), mimeType }
}

/** Descriptions of Chromium's network errors that typically occur in flow tests. */
const NET_ERRORS: Record<string, string> = {
  ERR_ABORTED: 'The page cancelled the request',
  ERR_ADDRESS_UNREACHABLE: 'The server cannot be reached',
  ERR_CONNECTION_CLOSED: 'The server closed the connection',
  ERR_CONNECTION_REFUSED: 'The server refused the connection',
  ERR_CONNECTION_RESET: 'The server reset the connection',
  ERR_CONNECTION_TIMED_OUT: 'The server did not respond in time',
  ERR_EMPTY_RESPONSE: 'The server closed the connection without a response',
  ERR_INTERNET_DISCONNECTED: 'There is no network connection',
  ERR_NAME_NOT_RESOLVED: 'The host name could not be resolved',
  ERR_TIMED_OUT: 'The server did not respond in time',
  ERR_TOO_MANY_REDIRECTS: 'There were too many redirects',
  ERR_TUNNEL_CONNECTION_FAILED: 'The host cannot be reached',
}

/** Fields of a failed request that the Network domain reports. */
interface Failure {
  errorText: string
  canceled?: boolean
  blockedReason?: string
  corsErrorStatus?: { corsError: string }
}

/** Describes why a request failed, without a full stop. */
function failureText({ errorText, canceled, blockedReason, corsErrorStatus }: Failure): string {
  if (blockedReason) return `The browser blocked the request (${blockedReason})`
  if (corsErrorStatus) return `The browser withheld the response from the page (CORS: ${corsErrorStatus.corsError})`
  if (canceled) return 'The page cancelled the request'
  const code = errorText.replace(/^net::/, '')
  if (code.startsWith('ERR_CERT_')) return `The server's certificate is not valid (${code})`
  return NET_ERRORS[code] ?? `The browser reported ${code || 'a failure'}`
}
