import type { CDPSession, Protocol } from 'puppeteer-core'
import { isCredentialKey } from '../core/credentials.ts'
import type { Header, SeenRequest } from './traffic.ts'
import { failureText } from './watch-error.ts'
import type { TrafficLog } from './watch-log.ts'

/** The requests that redirects made of one, as the Network domain names them together. */
interface Exchange {
  hops: SeenRequest[]
  /** How many of them are known to have been redirected. */
  redirected: number
  /** Bytes of the last response's headers. */
  headBytes: number
}

export interface Outcome {
  status: number
  statusText: string
  headers: readonly Header[]
  mimeType: string
}

/** Fills in what became of the requests that were noted: statuses, sizes, times, errors. */
export class Responses {
  private readonly exchanges = new Map<string, Exchange>()
  /** Session that told of a request's beginning, so that what ends with its worker or frame is not waited for. */
  private readonly tellers = new Map<string, CDPSession>()

  constructor(
    private readonly log: TrafficLog,
    private readonly mask: (text: string) => string,
    private readonly faultOf: (url: string) => string | null,
    /** The addresses of requests as they are. */
    private readonly urls: WeakMap<SeenRequest, string>,
  ) {}

  /** A request was noted whose responses will be told under this id. */
  expect(id: string, request: SeenRequest): void {
    const known = this.exchanges.get(id)
    if (known) known.hops.push(request)
    else this.exchanges.set(id, { hops: [request], redirected: 0, headBytes: 0 })
  }

  /** The latest request of this id; null: none was noted. */
  latest(id: string): SeenRequest | null {
    return this.exchanges.get(id)?.hops.at(-1) ?? null
  }

  /** Listens to what a target tells. */
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
      // A page that does not read what was answered gives up the rest of it.
      if (request.status === null || !event.canceled) this.fail(request, failureText(event))
      this.log.end(request)
    })
  }

  /** Also for requests of which only the interception tells. */
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

  /** A target is gone, and tells no more. */
  left(session: CDPSession): void {
    for (const [id, teller] of this.tellers) {
      if (teller !== session) continue
      const request = this.latest(id)
      this.tellers.delete(id)
      // Another target may go on with it: a frame of its own process with the document that its parent asked for.
      if (request?.resourceType !== 'document') this.take(id)
      if (request && request.resourceType !== 'document') this.log.end(request)
    }
  }
}

/** Credentials are hidden although they are no secrets of the test: they give access to whoever reads the recording. */
export function shownHeader(name: string, value: string, mask: (text: string) => string): Header {
  const shown = isCredentialKey(`headers.${name}`) ? '***' : mask(value)
  return { name: mask(name), value: shown }
}

function outcomeOf({ status, statusText, headers, mimeType }: Protocol.Network.Response): Outcome {
  return { status, statusText, headers: Object.entries(headers).map(([name, value]) => ({ name, value })), mimeType }
}
