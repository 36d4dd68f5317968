import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, HTTPRequest, HTTPResponse, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import { tabOf } from '../../browser/puppeteer-internals.ts'
import { within } from '../../browser/time-limit.ts'
import type { SeenRequest } from '../../browser/traffic.ts'
import { messageOf } from '../../core/error.ts'
import { cutText } from '../../core/text.ts'
import { unmet } from '../../flows/match-expectations.ts'
import type { PageEvent } from '../crawl-plan.ts'
import type { Expected } from '../page-expectations.ts'

/** Maximum time for a page to load, for its consent banner to be answered, and for its requests to stop. */
const PAGE_MS = 20_000
/** Maximum time to wait for requests to stop after a page has loaded and sent the expected events. */
const SILENCE_MAX_MS = 10_000
/** Timeout for reading and leaving a page. It is exceeded only by a page whose scripts never end. */
const ASK_MS = 5000
/** Time for capturing beacons that are sent when the page is left. */
const LEAVE_MS = 100
const LOOK_MS = 20
/**
 * Number of page loads after which a tab is reopened, because its process is slow to free the memory of earlier pages.
 */
const LOADS_MAX = 40
const ERRORS_MAX = 20
const ERROR_LENGTH_MAX = 500
/** Console message that Chromium writes for a failed response. It is not a script error. */
const LOADS = /^Failed to load resource: /

/** Result of loading a URL. */
export interface Load {
  /** URL of the final document after redirects; null when there is no document. */
  url: string | null
  status: number | null
  /** Value of `Retry-After`; null when absent. */
  retryAfter: string | null
  /** False for content other than HTML, such as a file. */
  isHtml: boolean
  title: string
  /** URLs of the links, in document order. */
  links: string[]
  loadMs: number
  bytes: number
  requests: number
  error: string | null
  events: PageEvent[]
  errors: string[]
}

/**
 * Called when the page has loaded, before waiting for its requests to stop. Returns true when it has changed the page,
 * for example by answering the banner.
 */
export type OnLoaded = (page: Page) => Promise<boolean>

/** A tab that loads pages one after another. */
export class CrawlTab {
  private page: Page | null = null
  private id = ''
  private loads = 0
  /** Number of the first request of the current load; null when there is no current load. */
  firstRequest: number | null = null
  private errors: string[] = []
  private documents: HTTPResponse[] = []
  private navigation: HTTPRequest | null = null

  constructor(
    private readonly browsing: Browsing,
    private readonly context: BrowserContext,
    private readonly settleMs: number,
    private readonly stopping: AbortSignal,
  ) {}

  /**
   * Loads a page, waits until its requests stop, reads it, and leaves it, so that requests sent when it is left are
   * attributed to it. Never rejects because of the page. Rejects when the browser has exited or `stopping` is aborted.
   */
  async load(address: string, onLoaded: OnLoaded, expected: Expected): Promise<Load & { changed: boolean }> {
    const page = await this.open()
    const { traffic } = this.browsing
    const from = (traffic.requests.at(-1)?.number ?? 0) + 1
    Object.assign(this, { errors: [], documents: [], navigation: null, firstRequest: from })
    const began = performance.now()
    const left = () => Math.max(1, PAGE_MS - (performance.now() - began))
    const failed = await page.goto(address, { waitUntil: 'load', timeout: PAGE_MS }).then(
      () => null,
      (error: unknown) => messageOf(error),
    )
    const loadMs = Math.round(performance.now() - began)
    this.stopping.throwIfAborted()
    const isThere = this.documents.length > 0
    const changed = isThere && failed === null && (await this.within(left(), onLoaded(page), false))
    if (isThere) await this.settle(from, left(), failed === null ? expected : () => [])
    const read = isThere && this.isHtml() ? await this.within(ASK_MS, readPage(page), null) : null
    const hangs = isThere && this.isHtml() && read === null
    await this.leave(page, from, hangs)
    const seen = this.seen(from)
    this.firstRequest = null
    const document = this.documents.at(-1)
    return {
      url: document?.url() ?? null,
      status: document?.status() ?? null,
      isHtml: this.isHtml(),
      retryAfter: document?.headers()['retry-after'] ?? null,
      title: read?.title ?? '',
      links: read?.links ?? [],
      loadMs,
      changed,
      bytes: seen.reduce((sum, { bytes }) => sum + bytes, 0),
      requests: seen.length,
      error: this.faultOf(failed, { hangs, seen }),
      events: this.events(from),
      errors: this.errors,
    }
  }

  /** Waits for the expected events of the page, and then until its requests stop. */
  private async settle(from: number, atMostMs: number, expected: Expected): Promise<void> {
    const document = this.documents.at(-1)
    const page = { url: document?.url() ?? '', status: document?.status() ?? null, error: null }
    const asked = expected(page)
    const began = performance.now()
    const waited = () => performance.now() - began
    const patience = () => {
      const events = this.events(from).map((event) => ({ ...event, step: 0 }))
      return Math.max(0, ...unmet(asked, events).map(({ expectation }) => expectation.withinMs))
    }
    const { settleMs, stopping, id } = this
    while (asked.length > 0 && Math.min(patience(), atMostMs) > waited()) {
      await sleep(LOOK_MS, undefined, { signal: stopping })
    }
    const most = Math.min(SILENCE_MAX_MS, Math.max(1, atMostMs - waited()))
    await this.browsing.traffic.quiet(settleMs, most, stopping, id)
  }

  /** Closes the tab. The next load opens a new one. */
  async close(): Promise<void> {
    const { page } = this
    this.page = null
    await this.within(ASK_MS, page?.close() ?? Promise.resolve(), undefined)
  }

  private async open(): Promise<Page> {
    if (this.page && !this.page.isClosed()) return this.page
    const page = await this.context.newPage()
    this.loads = 0
    this.id = await tabOf(page)
    const isMain = (request: HTTPRequest) => request.isNavigationRequest() && request.frame() === page.mainFrame()
    page.on('request', (request) => {
      if (isMain(request) && request.url() !== 'about:blank') this.navigation = request
    })
    page.on('response', (response) => {
      const isRedirect =
        response.status() >= 300 && response.status() < 400 && response.headers().location !== undefined
      if (isMain(response.request()) && !isRedirect) this.documents.push(response)
    })
    page.on('pageerror', (error) => this.note(messageOf(error)))
    page.on('console', (message) => {
      const text = message.text()
      if (message.type() === 'error' && !LOADS.test(text)) this.note(text)
    })
    page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined))
    page.on('popup', (popup) => void popup?.close().catch(() => undefined))
    page.on('error', () => void this.close())
    this.page = page
    return page
  }

  private note(text: string): void {
    const error = cutText(text, ERROR_LENGTH_MAX, '…')
    if (this.errors.length < ERRORS_MAX && !this.errors.includes(error)) this.errors.push(error)
  }

  private isHtml(): boolean {
    return /^(?:text\/html|application\/xhtml\+xml)\b/i.test(this.documents.at(-1)?.headers()['content-type'] ?? '')
  }

  private faultOf(failed: string | null, { hangs, seen }: { hangs: boolean; seen: readonly SeenRequest[] }) {
    const url = this.navigation?.url()
    const refused = seen.findLast((one) => one.resourceType === 'document' && one.url === url)?.error ?? null
    return loadFault({ failed, refused, hangs, isThere: this.documents.length > 0 })
  }

  /** Navigates to a blank page, or closes the tab if that fails. */
  private async leave(page: Page, from: number, hangs: boolean): Promise<void> {
    const gone = hangs ? false : await this.within(ASK_MS, goBlank(page), false)
    this.stopping.throwIfAborted()
    if (!gone) return this.close()
    const began = performance.now()
    // Waits at least once, because requests sent when the page is left are captured slightly later.
    do await sleep(LOOK_MS)
    while (performance.now() - began < LEAVE_MS && this.seen(from).some(isUnderWay))
    if (++this.loads >= LOADS_MAX) await this.close()
  }

  /** Returns the requests from this tab whose number is `from` or higher, oldest first. */
  private seen(from: number): SeenRequest[] {
    const { requests } = this.browsing.traffic
    const start = requests.findLastIndex(({ number }) => number < from) + 1
    return requests.slice(start).filter(({ tab }) => tab === this.id)
  }

  private events(from: number): PageEvent[] {
    const ours = new Set(this.seen(from).map(({ number }) => number))
    return this.browsing.traffic.events
      .filter(({ request }) => ours.has(request))
      .map(({ vendor, event, account, params }) => ({ vendor, event, account, params }))
  }

  /** Returns the result of `work`, or `otherwise` when it fails or times out. Rejects when `stopping` is aborted. */
  private async within<T, E>(limitMs: number, work: Promise<T>, otherwise: E): Promise<T | E> {
    try {
      return await within(work, limitMs, this.stopping)
    } catch {
      this.stopping.throwIfAborted()
      return otherwise
    }
  }
}

const goBlank = (page: Page) => page.goto('about:blank', { timeout: ASK_MS }).then(() => true)

const isUnderWay = ({ durMs, error, answered, resourceType }: SeenRequest) =>
  durMs === null && error === null && !answered && !['eventsource', 'websocket'].includes(resourceType)

/** Descriptions of Chromium's errors for pages that failed to load. */
const WORDS: readonly [pattern: RegExp, words: string][] = [
  [/ERR_NAME_NOT_RESOLVED/, 'its host name could not be resolved'],
  [/ERR_TOO_MANY_REDIRECTS/, 'it redirects in a loop'],
  [/ERR_CERT_\w+|ERR_SSL_\w+/, 'its certificate is not valid'],
  [/ERR_CONNECTION_REFUSED/, 'its host refused the connection'],
  [/ERR_CONNECTION_\w+|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING/, 'the connection broke'],
  [/ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY_\w+/, 'its host could not be reached'],
  [/ERR_BLOCKED_\w+/, 'the browser blocked it'],
  [/timeout/i, 'it did not respond within 20 s'],
]

/**
 * Returns why a page could not be loaded, without a full stop; null when it was loaded. A page that responded but never
 * finished loading is treated as loaded, unless its scripts never end.
 */
function loadFault(load: {
  /** Error from the browser, or null. */
  failed: string | null
  /** Error from the guard or the network, or null. */
  refused: string | null
  hangs: boolean
  /** True when there was a response. */
  isThere: boolean
}): string | null {
  const { failed, refused, hangs, isThere } = load
  if (hangs) return 'its scripts do not finish'
  if (refused !== null && (failed !== null || !isThere)) return refused
  if (failed === null || (isThere && /timeout|ERR_ABORTED/i.test(failed))) return null
  const code = /net::(ERR_\w+)/.exec(failed)?.[1]
  const words = WORDS.find(([pattern]) => pattern.test(failed))?.[1] ?? 'it could not be loaded'
  return code === undefined ? words : `${words} (${code})`
}

/** Maximum number of links read from one page. */
const LINKS_MAX = 2000
const TITLE_LENGTH_MAX = 300

/** Returns the title of a page and the URLs of its links in document order, including links in shadow roots. */
function readPage(page: Page): Promise<{ title: string; links: string[] }> {
  return page.evaluate(
    (linksMax, titleMax) => {
      const links: string[] = []
      const roots: (Document | ShadowRoot)[] = [document]
      for (const root of roots) {
        for (const one of root.querySelectorAll<HTMLElement>('*')) {
          if (one.shadowRoot) roots.push(one.shadowRoot)
          const isLink = one instanceof HTMLAnchorElement || one instanceof HTMLAreaElement
          if (isLink && /^https?:/.test(one.href) && links.length < linksMax) links.push(one.href.slice(0, 4000))
        }
      }
      return { title: document.title.slice(0, titleMax), links: [...new Set(links)] }
    },
    LINKS_MAX,
    TITLE_LENGTH_MAX,
  )
}
