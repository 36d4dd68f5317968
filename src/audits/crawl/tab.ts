import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, HTTPRequest, HTTPResponse, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import { tabOf } from '../../browser/tab.ts'
import type { SeenRequest } from '../../browser/traffic.ts'
import { within } from '../../browser/waiting.ts'
import { messageOf } from '../../core/error.ts'
import { cutText } from '../../core/text.ts'
import { unmet } from '../../flows/match-expectations.ts'
import type { PageEvent } from '../crawl-plan.ts'
import type { Expected } from '../expected-page.ts'
import { loadFault } from './load-fault.ts'
import { readPage } from './read-page.ts'

/** What a page has to load, to be consented to and to become silent. */
export const PAGE_MS = 20_000
/** Longer than this nobody waits for silence once a page is loaded, and sent what is expected of it. */
const SILENCE_MAX_MS = 10_000
/** For what a page is asked, and for leaving it: longer takes only one whose scripts never end. */
const ASK_MS = 5000
/** Beacons of a page that is left are seen within this time. */
const LEAVE_MS = 100
const LOOK_MS = 20
/** A tab is closed and opened anew after so many loads: its process keeps what pages left, and frees it late. */
const LOADS_MAX = 40
const ERRORS_MAX = 20
const ERROR_LENGTH_MAX = 500
/** What Chromium itself writes to the console of a page about an address that did not answer well: no script's error. */
const LOADS = /^Failed to load resource: /

/** What one load of an address showed. */
export interface Load {
  /** Address of the document in the end, after redirects; null: there was none. */
  url: string | null
  status: number | null
  /** `Retry-After`; null: it named none. */
  retryAfter: string | null
  /** False for what is no HTML, such as a file. */
  isHtml: boolean
  title: string
  /** Addresses as they are in the page, in its order. */
  links: string[]
  loadMs: number
  bytes: number
  requests: number
  error: string | null
  events: PageEvent[]
  errors: string[]
}

/** What is done between the load and the silence; true: the page was changed, as by an answer to its banner. */
export type OnLoaded = (page: Page) => Promise<boolean>

/** One tab, in which pages are loaded one after the other. */
export class CrawlTab {
  private page: Page | null = null
  private id = ''
  private loads = 0
  /** Number of the first request of the present load; null: there is none. */
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
   * Loads a page, waits for its silence, reads it and leaves it, so that what it sends when it is left is its own. Never
   * fails for what the page did; fails when the browser is gone or `stopping` is aborted.
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
      ...{ url: document?.url() ?? null, status: document?.status() ?? null, isHtml: this.isHtml() },
      retryAfter: document?.headers()['retry-after'] ?? null,
      ...{ title: read?.title ?? '', links: read?.links ?? [], loadMs, changed },
      bytes: seen.reduce((sum, { bytes }) => sum + bytes, 0),
      requests: seen.length,
      error: this.faultOf(failed, { hangs, seen }),
      events: this.events(from),
      errors: this.errors,
    }
  }

  /** Waits for what the page is expected to send, then for its silence. */
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

  /** Closes the tab; the next load opens another. */
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

  /** Goes to an empty page; a tab that can't is closed. */
  private async leave(page: Page, from: number, hangs: boolean): Promise<void> {
    const gone = hangs ? false : await this.within(ASK_MS, goBlank(page), false)
    this.stopping.throwIfAborted()
    if (!gone) return this.close()
    const began = performance.now()
    // At least once: what is sent when a page is left is seen a little later.
    do await sleep(LOOK_MS)
    while (performance.now() - began < LEAVE_MS && this.seen(from).some(isUnderWay))
    if (++this.loads >= LOADS_MAX) await this.close()
  }

  /** Requests of this tab from this number on, oldest first. */
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

  /** What the work resolves with; `otherwise` when it fails or takes longer. Fails when `stopping` is aborted. */
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
