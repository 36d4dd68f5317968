import { FIXED_SLOT, type Slot, type Task } from '../../browser/browser-task.ts'
import type { Browsing } from '../../browser/browsing.ts'
import { readWebFile, type WebFile } from '../../browser/fetch-web-file.ts'
import { openBrowsing } from '../../browser/open-browsing.ts'
import { compilePattern } from '../../conditions/pattern.ts'
import { messageOf } from '../../core/error.ts'
import type { CrawlMessage, CrawlPlan, SeenPage } from '../crawl-plan.ts'
import { BusyHosts } from './busy-hosts.ts'
import type { Load } from './crawl-tab.ts'
import { HostDelay } from './host-delay.ts'
import { familyOf, pageAddress, siteOf } from './normalize-page-url.ts'
import { PageLoaders, type SeenLoad } from './page-loaders.ts'
import { ROBOTS_MAX_BYTES, RobotsBook } from './robots.ts'
import { readSitemap, SITEMAP_MAX_BYTES } from './sitemap.ts'

/** Number of pages loaded in parallel. */
const TABS = 3
/** Timeout for reading robots.txt or one file of a sitemap. */
const FILE_MS = 20_000
/** Maximum number of URLs read from a sitemap, as a multiple of the maximum number of pages. */
const ADDRESSES_PER_PAGE = 10

/** Crawls the pages of a site and reports each page as soon as it is finished. */
export const crawl: Task<CrawlPlan, CrawlMessage> = async (plan, tell, stopping, place) => {
  await using browsing = await openBrowsing(plan.browsing, stopping)
  await crawlIn(browsing, plan, tell, stopping, place)
}

/** Like `crawl`, but in a browser that is already open. */
export async function crawlIn(
  browsing: Browsing,
  plan: CrawlPlan,
  tell: (message: CrawlMessage) => void,
  stopping: AbortSignal,
  place: Slot = FIXED_SLOT,
): Promise<void> {
  const over = new AbortController()
  const end = (why: string) => over.abort(new Error(why))
  browsing.gone.then(end)
  const ended = AbortSignal.any([stopping, over.signal])
  try {
    const fault = await new Crawl(browsing, plan, tell, ended, end, new HostDelay(place)).run()
    ended.throwIfAborted()
    tell({ kind: 'done', error: fault })
  } catch (error) {
    stopping.throwIfAborted()
    tell({ kind: 'done', error: messageOf(over.signal.aborted ? over.signal.reason : error) })
  }
}

class Crawl {
  private readonly frontier: Frontier
  private readonly robots: RobotsBook
  private readonly patience: BusyHosts
  private readonly sites = new Set<string>()
  private readonly starts = new Set<string>()
  private told = 0
  /** Reason why a URL was skipped; null when no URL has been skipped. */
  private refusal: string | null = null
  private readonly loaders: PageLoaders

  constructor(
    private readonly browsing: Browsing,
    private readonly plan: CrawlPlan,
    private readonly tell: (message: CrawlMessage) => void,
    private readonly stopping: AbortSignal,
    /** Ends the crawl early with a reason. */
    private readonly end: (why: string) => void,
    private readonly pace: HostDelay,
  ) {
    this.patience = new BusyHosts(pace)
    const include = plan.include.map(compilePattern)
    const exclude = plan.exclude.map(compilePattern)
    this.frontier = new Frontier(
      (address) =>
        this.sites.has(siteOf(address)) &&
        (include.length === 0 || include.some(({ matches }) => matches(address))) &&
        !exclude.some(({ matches }) => matches(address)),
    )
    this.loaders = new PageLoaders(browsing, plan, stopping)
    this.robots = new RobotsBook(plan.respectRobots ? (url) => this.read(url, ROBOTS_MAX_BYTES) : null)
  }

  /** Returns why the crawl ended early; null when it did not. */
  async run(): Promise<string | null> {
    const fault = await this.begin()
    if (fault !== null) return fault
    for (let depth = 0; this.frontier.waiting > 0 && this.told < this.plan.maxPages; depth++) {
      await this.lookAtLevel(this.frontier.level(), depth)
    }
    return this.told === 0 && this.refusal !== null ? `No page could be visited: ${this.refusal}` : null
  }

  private async begin(): Promise<string | null> {
    const { sitemap } = this.plan
    if (sitemap !== null) return this.pace.work(() => this.beginBySitemap(sitemap))
    const addresses = this.plan.startUrls.flatMap((url) => pageAddress(url) ?? [])
    for (const address of addresses) {
      this.sites.add(siteOf(address))
      this.starts.add(address)
      this.frontier.start(address)
    }
    return null
  }

  private async beginBySitemap(url: string): Promise<string | null> {
    this.sites.add(siteOf(url))
    const wanted = this.plan.maxPages * ADDRESSES_PER_PAGE
    const fault = await readSitemap(url, {
      read: (file) => this.read(file, SITEMAP_MAX_BYTES),
      take: (address) => {
        this.frontier.add(address)
        return this.frontier.waiting < wanted
      },
    })
    if (fault !== null) return `The sitemap ${url} can't be read: ${fault}`
    return this.frontier.waiting === 0 ? `The sitemap ${url} contains no page that can be visited` : null
  }

  private read(url: string, maxBytes: number): Promise<WebFile> {
    const { outboundCa: ca, userAgentSuffix: userAgent } = this.plan.browsing
    const { browsing, stopping } = this
    return this.asked(siteOf(url), async () => {
      await this.pace.turn(siteOf(url), 0, stopping)
      return readWebFile(url, { browsing, ca, userAgent, maxBytes, limitMs: FILE_MS }, stopping)
    })
  }

  /** Sends a request to a host, repeats it while the host is busy, and returns the response. */
  private asked<A extends { status: number | null; retryAfter: string | null }>(host: string, ask: () => Promise<A>) {
    return this.patience.ask(host, ask, this.end)
  }

  /**
   * Visits the URLs of one level. Links are added in the order of the URLs, regardless of which page finishes first.
   */
  private async lookAtLevel(addresses: readonly string[], depth: number): Promise<void> {
    const links = new Map<number, readonly string[]>()
    let next = 0
    const underWay = new Set<Promise<void>>()
    const found = (index: number, of: readonly string[]) => {
      links.set(index, of)
      for (; links.has(next); next++) {
        if (depth < this.plan.maxDepth) for (const link of links.get(next) ?? []) this.frontier.add(link)
        links.delete(next)
      }
    }
    try {
      for (const [index, address] of addresses.entries()) {
        // The first page is loaded alone, because the consent banner is answered and the session is started on that
        // page.
        const most = this.told === 0 ? 1 : TABS
        while (underWay.size > 0 && (underWay.size >= most || this.told + underWay.size >= this.plan.maxPages)) {
          await Promise.race(underWay)
        }
        if (this.told >= this.plan.maxPages) break
        const looked = this.pace.work(() => this.lookAt(address, depth))
        const work = looked.then((of) => {
          underWay.delete(work)
          found(index, of)
        })
        underWay.add(work)
      }
      await Promise.all(underWay)
    } finally {
      await Promise.allSettled(underWay)
    }
  }

  /** Visits a URL, reports it if it is a page, and returns its links. */
  private async lookAt(address: string, depth: number): Promise<readonly string[]> {
    const robots = await this.robots.of(address)
    if (!robots.allows(address)) {
      const why = robots.fault === null ? 'robots.txt does not allow it' : `robots.txt can't be read: ${robots.fault}`
      this.refusal ??= why
      if (this.starts.has(address)) this.tellPage(refusedPage(address, depth, why))
      return []
    }
    const delayMs = Math.max(this.plan.delayMs, robots.delayMs)
    const turn = () => this.pace.turn(siteOf(address), delayMs, this.stopping)
    const load = await this.asked(siteOf(address), async () => {
      const seen = await this.loaders.load(address, turn)
      return { ...seen, status: seen.after.status, retryAfter: seen.after.retryAfter }
    })
    const url = this.pageOf(address, load.after)
    if (url === null) return []
    this.tellPage(seenPage(url, depth, load))
    return load.after.links.flatMap((link) => pageAddress(link, url) ?? [])
  }

  /**
   * Returns the URL under which the page is reported. Null when it is not a page, belongs to another site, or has
   * already been reported.
   */
  private pageOf(address: string, { url, isHtml, status, error }: Load): string | null {
    if (url === null) return error === null ? null : address
    const ended = pageAddress(url)
    if (ended === null || !this.sites.has(siteOf(ended))) return null
    const isPage = isHtml || error !== null || (status !== null && status >= 400)
    if (!isPage) return null
    return ended === address || this.frontier.isNew(ended) ? ended : null
  }

  private tellPage(page: SeenPage): void {
    this.told++
    this.tell({ kind: 'page', page })
  }
}

function refusedPage(url: string, depth: number, error: string): SeenPage {
  return {
    url,
    status: null,
    depth,
    title: '',
    loadMs: 0,
    bytes: 0,
    requests: 0,
    error,
    events: [],
    beforeConsent: [],
    errors: [],
  }
}

function seenPage(url: string, depth: number, { before, after }: SeenLoad): SeenPage {
  const { status, title, loadMs, bytes, requests, error, events, errors } = after
  return {
    url,
    status,
    depth,
    title,
    loadMs,
    bytes,
    requests,
    error,
    events,
    errors,
    beforeConsent: before?.events ?? [],
  }
}

/** Maximum number of known URLs. A crawl visits at most 2,000 pages. */
const ADDRESSES_MAX = 100_000

/**
 * Decides which URLs are visited and in which order. URLs closest to a start page come first. Among URLs at the same
 * distance, the folders of the site alternate, so that a small number of pages covers much of the site. The result
 * depends only on the order of the calls.
 */
export class Frontier {
  private readonly known = new Set<string>()
  private readonly families = new Map<string, number>()
  private next: string[] = []

  /** @param isWanted returns whether a URL that was found on a page may be visited */
  constructor(private readonly isWanted: (address: string) => boolean) {}

  /** Adds a start page. */
  start(address: string): void {
    if (this.isNew(address)) this.next.push(address)
  }

  /** Adds a URL to the next level, unless it is already known, is unwanted, or exceeds the page limit of its family. */
  add(address: string): void {
    if (this.known.has(address) || !this.isWanted(address)) return
    const { name, pagesMax } = familyOf(address)
    if (pagesMax !== null) {
      const count = this.families.get(name) ?? 0
      if (count >= pagesMax) return
      this.families.set(name, count + 1)
    }
    if (this.isNew(address)) this.next.push(address)
  }

  /** Records the final URL of a page. Returns false when the page is already known by another URL. */
  isNew(address: string): boolean {
    if (this.known.has(address) || this.known.size >= ADDRESSES_MAX) return false
    this.known.add(address)
    return true
  }

  /** Number of URLs waiting to be visited. */
  get waiting(): number {
    return this.next.length
  }

  /** Returns all URLs added since the previous call, in the order in which to visit them. */
  level(): string[] {
    const folders = Map.groupBy(this.next, folderOf)
    this.next = []
    const lists = [...folders.values()]
    const longest = Math.max(0, ...lists.map(({ length }) => length))
    return Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list[turn] ?? [])).flat()
  }
}

/** `https://shop.example/product/red-shoe?size=4` → `https://shop.example/product/` */
const folderOf = (address: string) => address.replace(/[?].*$/s, '').replace(/[^/]*$/, '')
