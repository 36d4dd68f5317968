import type { BrowserContext } from 'puppeteer-core'
import { answerConsentBanner } from '../../browser/answer-consent-banner.ts'
import type { Browsing } from '../../browser/browsing.ts'
import type { Consent } from '../../browser/consent-banner-options.ts'
import type { CrawlPlan } from '../crawl-plan.ts'
import { type Expected, expectedOf } from '../page-expectations.ts'
import { isBusy } from './busy-hosts.ts'
import { CrawlTab, type Load, type OnLoaded } from './crawl-tab.ts'

/**
 * Time to wait for a banner on all pages but the first. On these pages, a banner appears quickly or has already been
 * answered.
 */
const LATER_BANNER_MS = 300

/**
 * Result of loading a page. `before` is the load without consent, or null unless loads with and without consent are
 * compared.
 */
export interface SeenLoad {
  before: Load | null
  after: Load
}

/** Reusable tabs that load pages in parallel. */
export class PageLoaders {
  private readonly all: PageLoader[] = []
  private readonly idle: PageLoader[] = []
  private consented: Promise<BrowserContext> | null = null
  private isFirst = true
  private readonly expected: Expected

  constructor(
    private readonly browsing: Browsing,
    private readonly plan: CrawlPlan,
    private readonly stopping: AbortSignal,
  ) {
    this.expected = expectedOf(plan.expect, plan.labels)
  }

  /**
   * Loads a page. With `compare`, the page is loaded twice, and a third time if a banner had to be answered. Awaits
   * `turn` before each load. Rejects like `CrawlTab.load`.
   */
  async load(address: string, turn: () => Promise<void>): Promise<SeenLoad> {
    const loader = this.idle.pop() ?? (await this.make())
    try {
      return await loader.load(address, turn)
    } finally {
      this.idle.push(loader)
      this.forget()
    }
  }

  private async make(): Promise<PageLoader> {
    const { mode, selectors } = this.plan.consent
    const shared = this.browsing.browser.defaultBrowserContext()
    const answer = (consent: Consent): OnLoaded => {
      if (consent.mode === 'none') return async () => false
      return (page) => {
        const waitMs = this.isFirst ? undefined : LATER_BANNER_MS
        this.isFirst = false
        return answerConsentBanner(this.browsing, page, consent, this.stopping, waitMs)
      }
    }
    let loader: PageLoader
    if (mode === 'compare') {
      // Uses a separate cookie store, so that every page can also be loaded without consent.
      this.consented ??= this.browsing.browser.createBrowserContext()
      const tab = this.newTab(await this.consented)
      loader = new PageLoader(this.newTab(shared), tab, answer({ mode: 'accept', selectors }), this.expected)
    } else loader = new PageLoader(null, this.newTab(shared), answer({ mode, selectors }), this.expected)
    this.all.push(loader)
    return loader
  }

  private newTab(context: BrowserContext): CrawlTab {
    return new CrawlTab(this.browsing, context, this.plan.settleMs, this.stopping)
  }

  /**
   * Deletes the requests that are no longer needed by any tab, so that memory usage does not grow with the number of
   * pages.
   */
  private forget(): void {
    const { traffic } = this.browsing
    const next = (traffic.requests.at(-1)?.number ?? 0) + 1
    traffic.forget(Math.min(next, ...this.all.flatMap(({ firstRequest }) => firstRequest ?? [])))
  }
}

class PageLoader {
  constructor(
    private readonly without: CrawlTab | null,
    private readonly tab: CrawlTab,
    private readonly answer: OnLoaded,
    private readonly expected: Expected,
  ) {}

  /** Number of the first request that this loader still needs; null when it needs none. */
  get firstRequest(): number | null {
    return this.without?.firstRequest ?? this.tab.firstRequest
  }

  async load(address: string, turn: () => Promise<void>): Promise<SeenLoad> {
    await turn()
    if (!this.without) return { before: null, after: await this.tab.load(address, this.answer, this.expected) }
    const before = await this.without.load(
      address,
      async () => false,
      () => [],
    )
    if (!before.isHtml || isBusy(before.status)) return { before, after: before }
    await turn()
    const first = await this.tab.load(address, this.answer, this.expected)
    if (!first.changed) return { before, after: first }
    // Events that fired before the banner was answered must not be attributed to consent, so the page is loaded again.
    await turn()
    return { before, after: await this.tab.load(address, this.answer, this.expected) }
  }
}
