import type { BrowsingOptions } from '../browser/browsing.ts'
import type { Consent } from '../browser/consent-banner-options.ts'
import type { LabelMembers } from '../flows/match-expectations.ts'
import type { ExpectedPage } from './audit.ts'

/** Everything that a browser process needs for one crawl. */
export interface CrawlPlan {
  browsing: BrowsingOptions
  startUrls: readonly string[]
  /** URL of a sitemap to use instead of `startUrls`; null when none is used. */
  sitemap: string | null
  maxPages: number
  maxDepth: number
  /** RE2 patterns that match the complete URL. */
  include: readonly string[]
  exclude: readonly string[]
  respectRobots: boolean
  delayMs: number
  settleMs: number
  /** Events expected on pages. The crawl waits for these events. */
  expect: readonly ExpectedPage[]
  /** Members of each label used in `expect`. */
  labels: LabelMembers
  consent: Omit<Consent, 'mode'> & { mode: Consent['mode'] | 'compare' }
}

/** An event that a page sent to a vendor. */
export interface PageEvent {
  vendor: string
  event: string
  account: string | null
  params: Record<string, string>
}

/** Data collected about one page. */
export interface SeenPage {
  /** Final URL after redirects, as normalised by `pageAddress`. */
  url: string
  /** HTTP status; null without a response. */
  status: number | null
  /** Number of links between a start page and this page. 0 for start pages and for pages from the sitemap. */
  depth: number
  title: string
  loadMs: number
  bytes: number
  requests: number
  /** Reason why the page could not be loaded; null when it was loaded. */
  error: string | null
  /** Events sent by the page. With `compare`, only those sent after consent. */
  events: readonly PageEvent[]
  /** With `compare`, the events sent without consent; otherwise empty. */
  beforeConsent: readonly PageEvent[]
  /** Errors from the page's scripts and console. */
  errors: readonly string[]
}

/** Messages from the browser process during a crawl. */
export type CrawlMessage =
  | { kind: 'page'; page: SeenPage }
  /** The crawl has ended. `error` is the reason why it ended early, or null. */
  | { kind: 'done'; error: string | null }
