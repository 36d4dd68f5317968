import type { Browser, CDPSession, Connection, Protocol } from 'puppeteer-core'
import { systemClock } from '../core/clock.ts'
import { hideCredentials } from '../core/detect-credentials.ts'
import { type Decoded, decodeHit } from '../decoders/index.ts'
import { readBody } from '../decoders/request-body.ts'
import type { VendorRequests } from './browsing.ts'
import { type Emulation, headersOf } from './device-emulation.ts'
import { answerTo, headerOf, isAnswered, isVendorSocket } from './fake-vendor-response.ts'
import { placeOf, Tabs } from './map-frames-to-tabs.ts'
import { sessionOf } from './puppeteer-internals.ts'
import { ResponseRecorder, shownHeader } from './record-responses.ts'
import type { Header, SeenRequest, Traffic } from './traffic.ts'
import { TrafficLog } from './traffic-log.ts'

export interface WatchOptions {
  vendorRequests: VendorRequests
  /** Returns the text with secrets masked. */
  mask(text: string): string
  /** Returns why the guard's proxy did not connect to a URL, without a full stop. Null when the proxy did connect. */
  faultOf(url: string): string | null
  /** User agent of the emulated device. */
  userAgent: Emulation['userAgent']
}

/**
 * Records all requests of a browser from any page, frame or worker, and handles requests to vendors according to
 * `vendorRequests`. Must be called before a page is opened.
 *
 * A single interception for the whole browser receives each request once, before it is sent, with its body. This
 * includes requests from new tabs, workers and pages that are being left. Responses are reported by puppeteer's session
 * for each target. A separate session covers service workers, which puppeteer ignores.
 */
export async function watchTraffic(browser: Browser, options: WatchOptions): Promise<Traffic> {
  const session = await browser.target().createCDPSession()
  const connection = session.connection()
  if (!connection) throw new Error('the browser has closed')
  const watch = new Watch(session, connection, { ...options, mask: (text) => hideCredentials(options.mask(text)) })
  await watch.start(browser)
  return watch.log
}

type Attached = Protocol.Target.AttachedToTargetEvent
type Paused = Protocol.Fetch.RequestPausedEvent

interface Noted {
  tab: string | null
  /** URL of its page. */
  document: string
  isPage: boolean
  answered: boolean
}

const WEB = [{ urlPattern: 'http://*' }, { urlPattern: 'https://*' }]
/** Resource types of requests that are not awaited, because they may never end. */
const ENDLESS = new Set(['eventsource', 'websocket', 'preflight'])
/**
 * Maximum number of stored page URLs. They are stored for responses from the cache, which are reported but never
 * intercepted.
 */
const MAX_TOLD = 1000
/**
 * Types of targets that have a puppeteer session. Puppeteer enables the required domains for these targets itself, in
 * its own order.
 */
const PUPPETEERS = new Set(['page', 'iframe', 'worker'])

class Watch {
  readonly log = new TrafficLog()
  private readonly tabs = new Tabs()
  private readonly urls = new WeakMap<SeenRequest, string>()
  private readonly responses: ResponseRecorder
  /** Sessions of the targets whose messages are processed, by target id. */
  private readonly followed = new Map<string, CDPSession>()
  /** Page URLs of requests that were reported before they were intercepted, by request id. */
  private readonly documents = new Map<string, string>()
  /** Requests that only the interception reports, by interception id. */
  private readonly untold = new Map<string, SeenRequest>()

  constructor(
    private readonly session: CDPSession,
    private readonly connection: Connection,
    private readonly options: WatchOptions,
  ) {
    this.responses = new ResponseRecorder(this.log, options.mask, options.faultOf, this.urls)
  }

  async start(browser: Browser): Promise<void> {
    this.session.on('Fetch.requestPaused', (event) => this.paused(event))
    this.session.on('Target.attachedToTarget', (event) => this.attached(event, null, true))
    this.connection.on('Target.attachedToTarget', (event) => this.attached(event as Attached, null))
    this.connection.on('sessiondetached', (session) => this.responses.left(session))
    this.connection.on('Target.targetInfoChanged', (event) => {
      const { targetInfo } = event as Protocol.Target.TargetInfoChangedEvent
      if (targetInfo.type === 'page') this.shown(targetInfo.targetId, targetInfo.url)
    })
    this.connection.on('Target.targetDestroyed', (event) =>
      this.closed((event as Protocol.Target.TargetDestroyedEvent).targetId),
    )
    for (const page of await browser.pages()) {
      const own = sessionOf(page.mainFrame())
      const { targetInfo } = await own.send('Target.getTargetInfo')
      this.followPage(own, targetInfo)
    }
    await Promise.all([
      this.session.send('Fetch.enable', { patterns: WEB }),
      this.session.send('Target.setAutoAttach', {
        autoAttach: true,
        waitForDebuggerOnStart: true,
        flatten: true,
        filter: [{ type: 'service_worker' }, { exclude: true }],
      }),
    ])
  }

  // --- requests

  private paused(event: Paused): void {
    const isResponse = event.responseStatusCode !== undefined || event.responseErrorReason !== undefined
    if (isResponse) return this.pausedResponse(event)
    // The first request of a new tab may be sent before the device is emulated in that tab.
    const isFirst = !event.networkId && event.resourceType === 'Document'
    const headers = isFirst ? headersOf(this.options.userAgent, event.request.headers) : null
    const read = readRequest(event, headers)
    const tab = this.tabs.tabOf(event.frameId, read)
    const isPage = read.resourceType === 'document' && event.frameId === tab
    const asked = { ...read, isPage }
    const { vendor } = read.decoded
    const answer =
      vendor !== null && this.options.vendorRequests === 'answer' && isAnswered(read.decoded, asked)
        ? answerTo(vendor, asked)
        : null
    const document = isPage ? read.url : this.documentOf(read, event, tab)
    const request = this.noteRequest(read, { tab, document, isPage, answered: answer !== null })
    if (answer) {
      request.status = answer.status
      request.responseHeaders = answer.headers
      request.mimeType = answer.headers.find(({ name }) => name === 'content-type')?.value ?? ''
      request.bytes = answer.body.length
      request.waitMs = 0
      request.durMs = 0
    }
    this.noteEvents(request, read)
    if (event.redirectedRequestId) this.redirectedUntold(event.redirectedRequestId)
    if (event.networkId) this.responses.expect(event.networkId, request)
    else this.untold.set(event.requestId, request)
    const { requestId } = event
    const sent = answer
      ? this.session.send('Fetch.fulfillRequest', {
          requestId,
          responseCode: answer.status,
          responseHeaders: answer.headers,
          body: Buffer.from(answer.body).toString('base64'),
        })
      : this.session.send('Fetch.continueRequest', {
          requestId,
          ...(headers && { headers }),
          ...(!event.networkId && { interceptResponse: true }),
        })
    // Rejects when the page has cancelled the request, or when the browser has exited.
    sent.catch(() => {
      if (!answer) this.responses.fail(request, 'The page cancelled the request')
      this.log.end(request)
    })
  }

  /** Returns the page that a request belongs to: the page reported by its tab, or the page derived from the request. */
  private documentOf(read: ReadRequest, { frameId, networkId = '' }: Paused, tab: string | null): string {
    const told = this.documents.get(networkId)
    this.documents.delete(networkId)
    return told ?? (tab ? this.tabs.documentOf(tab, frameId, read) : (read.referrer ?? ''))
  }

  private noteRequest(read: ReadRequest, { tab, document, isPage, answered }: Noted): SeenRequest {
    const { mask } = this.options
    const { url, method, resourceType, headers, shownBody, decoded } = read
    const number = this.log.nextNumber()
    if (isPage && tab) this.tabs.ask(tab, url, number)
    const request: SeenRequest = {
      ...placeOf(document, mask),
      number,
      tab,
      at: systemClock.now(),
      url: mask(url),
      method,
      resourceType,
      answered,
      vendor: decoded.vendor,
      requestHeaders: Object.entries(headers).map(([name, value]) => shownHeader(name, value, mask)),
      body: shownBody === null ? null : mask(shownBody),
      status: null,
      statusText: '',
      responseHeaders: [],
      mimeType: '',
      bytes: 0,
      waitMs: null,
      durMs: null,
      error: null,
    }
    this.urls.set(request, url)
    this.log.add(request, !answered && !ENDLESS.has(resourceType))
    return request
  }

  private noteEvents(request: SeenRequest, { decoded, resourceType }: Pick<ReadRequest, 'decoded' | 'resourceType'>) {
    const { mask } = this.options
    if (decoded.vendor === null || resourceType === 'preflight') return
    for (const { kind, event, account, params } of decoded.events) {
      if (kind === 'library') continue
      const { number, at, host, path, status, answered } = request
      const shown = Object.entries(params).map(([key, value]) => [mask(key), mask(value)])
      this.log.addEvent({
        request: number,
        at,
        host,
        path,
        status,
        answered,
        vendor: decoded.vendor,
        event: mask(event),
        account: account === null ? null : mask(account),
        params: Object.fromEntries(shown),
      })
    }
  }

  // --- requests that only the interception reports: the first request of a new tab, and requests from pages being left

  private pausedResponse(event: Paused): void {
    const { requestId, responseStatusCode, responseStatusText, responseHeaders, responseErrorReason } = event
    this.session.send('Fetch.continueRequest', { requestId }).catch(() => undefined)
    const request = this.untold.get(requestId)
    if (!request) return
    if (responseStatusCode === undefined) this.responses.fail(request, `The browser reported ${responseErrorReason}`)
    else {
      const headers = responseHeaders ?? []
      const mimeType = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
      this.responses.respond(request, {
        status: responseStatusCode,
        statusText: responseStatusText ?? '',
        headers,
        mimeType,
      })
    }
    this.untold.delete(requestId)
    this.log.end(request)
  }

  private redirectedUntold(requestId: string): void {
    const request = this.untold.get(requestId)
    this.untold.delete(requestId)
    if (request) this.log.end(request)
  }

  // --- targets

  /** @param isOurs true when the target was attached through the separate session */
  private attached({ sessionId, targetInfo, waitingForDebugger }: Attached, tab: string | null, isOurs = false): void {
    const session = this.connection.session(sessionId)
    if (!session) return
    const { type, targetId } = targetInfo
    if (type === 'tab') {
      session.on('Target.attachedToTarget', (event) => this.attached(event, null))
      return
    }
    if (this.followed.get(targetId)?.detached === false) return
    if (type === 'page') this.followPage(session, targetInfo)
    else if (PUPPETEERS.has(type)) this.follow(session, targetId, tab)
    else if (type === 'shared_worker') this.followWorker(session, targetId)
    // Puppeteer also attaches to service workers, but detaches immediately.
    else if (type === 'service_worker' && isOurs) this.followWorker(session, targetId, waitingForDebugger)
  }

  private followPage(session: CDPSession, { targetId, url }: Protocol.Target.TargetInfo): void {
    this.tabs.open(targetId)
    this.shown(targetId, url)
    this.follow(session, targetId, targetId)
  }

  private follow(session: CDPSession, targetId: string, tab: string | null): void {
    this.followed.set(targetId, session)
    if (tab !== null) this.tabs.adopt(targetId, tab)
    this.responses.follow(session)
    this.followErrors(session)
    session.on('Target.attachedToTarget', (event) => this.attached(event, tab))
    session.on('Network.webSocketCreated', (event) => this.webSocket(event, tab))
    session.on('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) => {
      const request = this.responses.latest(requestId)
      const headers = Object.entries(response.headers).map(([name, value]) => ({ name, value }))
      if (request) this.responses.respond(request, { ...response, headers, mimeType: '' })
    })
    session.on('Network.webSocketFrameError', ({ requestId, errorMessage }) => {
      const request = this.responses.latest(requestId)
      if (request?.status === null && !request.answered) this.responses.fail(request, errorMessage)
    })
    if (tab !== null) this.followDocuments(session, tab)
    session.send('Network.enable').catch(() => undefined)
  }

  private followDocuments(session: CDPSession, tab: string): void {
    session.on('Page.frameAttached', ({ frameId }) => this.tabs.adopt(frameId, tab))
    session.on('Page.frameDetached', ({ frameId, reason }) => reason === 'remove' && this.tabs.drop(frameId))
    session.on(
      'Page.frameNavigated',
      ({ frame }) => frame.id === tab && this.shown(tab, frame.url + (frame.urlFragment ?? '')),
    )
    session.on('Page.navigatedWithinDocument', ({ frameId, url }) => frameId === tab && this.shown(tab, url))
    session.on('Network.requestWillBeSent', ({ requestId, frameId, documentURL, request: { url }, type }) => {
      // The script of a worker is reported as if it were its own document.
      if (frameId !== tab || type === 'Document' || url === documentURL) return
      const request = this.responses.latest(requestId)
      if (request) this.log.place(request, placeOf(documentURL, this.options.mask))
      else {
        if (this.documents.size >= MAX_TOLD) this.documents.clear()
        this.documents.set(requestId, documentURL)
      }
    })
  }

  /** Records the requests of a worker without a tab. Puppeteer enables no domains for such a worker. */
  private followWorker(session: CDPSession, targetId: string, isWaiting = false): void {
    this.follow(session, targetId, null)
    session.send('Runtime.enable').catch(() => undefined)
    if (isWaiting) session.send('Runtime.runIfWaitingForDebugger').catch(() => undefined)
  }

  private shown(tab: string, url: string): void {
    const number = this.tabs.show(tab, url)
    // The previous document has been unloaded, so its pending requests will not complete.
    if (number !== null) this.log.giveUp((request) => request.tab === tab && request.number < number)
  }

  private closed(targetId: string): void {
    if (!this.tabs.has(targetId)) return
    this.log.giveUp(({ tab }) => tab === targetId)
    this.tabs.close(targetId)
  }

  private webSocket({ requestId, url }: Protocol.Network.WebSocketCreatedEvent, tab: string | null): void {
    const decoded = decodeHit({ url, method: 'GET', body: null })
    const read: ReadRequest = {
      url,
      method: 'GET',
      resourceType: 'websocket',
      headers: {},
      referrer: undefined,
      body: null,
      shownBody: null,
      decoded,
    }
    const isKeptIn = this.options.vendorRequests === 'answer' && isVendorSocket(url)
    const document = tab ? this.tabs.documentOf(tab, tab, read) : ''
    const request = this.noteRequest(read, { tab, document, isPage: false, answered: isKeptIn })
    this.noteEvents(request, read)
    this.responses.expect(requestId, request)
  }

  private followErrors(session: CDPSession): void {
    const { mask } = this.options
    session.on('Runtime.exceptionThrown', ({ exceptionDetails: { exception, text, url } }) => {
      const [first = ''] = (exception?.description ?? '').split('\n')
      this.log.addError(mask(`${first || [text, exception?.value].filter(Boolean).join(' ')}${url ? ` (${url})` : ''}`))
    })
    session.on('Runtime.consoleAPICalled', ({ type, args }) => {
      if (type === 'error' || type === 'assert') this.log.addError(mask(args.map(wordsOf).join(' ')))
    })
    session.on('Log.entryAdded', ({ entry: { level, source, text } }) => {
      if (level === 'error' && source !== 'network') this.log.addError(mask(text))
    })
  }
}

function wordsOf({ value, description, type }: Protocol.Runtime.RemoteObject): string {
  if (typeof value === 'string') return value
  const [first = ''] = (description ?? '').split('\n')
  return first || (value === undefined ? type : JSON.stringify(value))
}

/** A parsed request from the interception. */
interface ReadRequest {
  url: string
  method: string
  /** Resource type as in `SeenRequest`. For a preflight request, `preflight`. */
  resourceType: string
  headers: Record<string, string>
  referrer: string | undefined
  /**
   * Body for decoders, with replacement characters for bytes that are not text. Null when there is no body or it is too
   * large.
   */
  body: string | null
  /** Body for display; null when the body is not text. */
  shownBody: string | null
  decoded: Decoded
}

/** @param changed headers sent instead of the original ones; null to send the original headers */
function readRequest(
  { request, resourceType }: Protocol.Fetch.RequestPausedEvent,
  changed: readonly Header[] | null,
): ReadRequest {
  const { url, method } = request
  const headers = changed ? Object.fromEntries(changed.map(({ name, value }) => [name, value])) : request.headers
  const body = bodyOf(request)
  const isPreflight = method === 'OPTIONS' && headerOf(headers, 'access-control-request-method') !== undefined
  return {
    url,
    method,
    resourceType: isPreflight ? 'preflight' : resourceType.toLowerCase(),
    headers,
    referrer: headerOf(headers, 'referer'),
    body,
    shownBody: body !== null && /[\0\uFFFD]/.test(body) ? null : body,
    decoded: decodeHit({ url, method, body }),
  }
}

function bodyOf({ postDataEntries, postData, headers }: Protocol.Network.Request): string | null {
  const contentEncoding = headerOf(headers, 'content-encoding') ?? null
  if (!postDataEntries) return readBody({ body: postData ?? null, contentEncoding }).text
  // The content of an uploaded file is not included here.
  const bytes = Buffer.concat(postDataEntries.map((entry) => Buffer.from(entry.bytes ?? '', 'base64')))
  return readBody({ bodyBase64: bytes.toString('base64'), contentEncoding }).text
}
