import type { BrowsingOptions } from '../browser/browsing.ts'
import type { Consent } from '../browser/consent.ts'
import type { LabelMembers } from '../flows/match-expectations.ts'
import type { ExpectedPage } from './audit.ts'

/** One crawl: everything the browser process is given. */
export interface CrawlPlan {
  browsing: BrowsingOptions
  startUrls: readonly string[]
  /** Address of a sitemap to use instead of `startUrls`; null: none. */
  sitemap: string | null
  maxPages: number
  maxDepth: number
  /** RE2 patterns for the whole address. */
  include: readonly string[]
  exclude: readonly string[]
  respectRobots: boolean
  delayMs: number
  settleMs: number
  /** Expected events of pages, which the crawl waits for. */
  expect: readonly ExpectedPage[]
  /** Members of each label named in it. */
  labels: LabelMembers
  consent: Omit<Consent, 'mode'> & { mode: Consent['mode'] | 'compare' }
}

/** A vendor's event sent by a page. */
export interface PageEvent {
  vendor: string
  event: string
  account: string | null
  params: Record<string, string>
}

/** Results of one page. */
export interface SeenPage {
  /** Final address after redirects, as normalised by `pageAddress`. */
  url: string
  /** Null when there was no response. */
  status: number | null
  /** Links from a start page; 0: a start page or a page of the sitemap. */
  depth: number
  title: string
  loadMs: number
  bytes: number
  requests: number
  /** Why it could not be loaded; null: it was loaded. */
  error: string | null
  /** With `compare`, the events after consent. */
  events: readonly PageEvent[]
  /** With `compare`, the events without consent; otherwise empty. */
  beforeConsent: readonly PageEvent[]
  /** Errors of the page's scripts and console. */
  errors: readonly string[]
}

/** Messages of the browser process during a crawl. */
export type CrawlMessage =
  | { kind: 'page'; page: SeenPage }
  /** The crawl ended: null, or the reason for an early end. */
  | { kind: 'done'; error: string | null }
