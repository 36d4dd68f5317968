import type { BrowsingOptions } from '../browser/browsing.ts'
import type { Consent } from '../browser/consent.ts'
import type { LabelMembers } from '../flows/match-expectations.ts'
import type { ExpectedPage } from './audit.ts'

/** One crawl: all that the browser process is told. */
export interface CrawlPlan {
  browsing: BrowsingOptions
  startUrls: readonly string[]
  /** Address of a sitemap in place of `startUrls`; null: none. */
  sitemap: string | null
  maxPages: number
  maxDepth: number
  /** RE2, on the whole address. */
  include: readonly string[]
  exclude: readonly string[]
  respectRobots: boolean
  delayMs: number
  settleMs: number
  /** What pages are expected to send: it is waited for. */
  expect: readonly ExpectedPage[]
  /** The members of each label that is named in it. */
  labels: LabelMembers
  consent: Omit<Consent, 'mode'> & { mode: Consent['mode'] | 'compare' }
}

/** A vendor's event that a page sent. */
export interface PageEvent {
  vendor: string
  event: string
  account: string | null
  params: Record<string, string>
}

/** What the crawl saw of one page. */
export interface SeenPage {
  /** Where it ended after redirects, in the spelling by which pages are told apart. */
  url: string
  /** Null: no answer. */
  status: number | null
  /** Links from a start page; 0: a start page, or of the sitemap. */
  depth: number
  title: string
  loadMs: number
  bytes: number
  requests: number
  /** Why it could not be loaded; null: it could. */
  error: string | null
  /** With `compare`, after consent. */
  events: readonly PageEvent[]
  /** With `compare`, what fired without consent; else empty. */
  beforeConsent: readonly PageEvent[]
  /** Of the page's scripts and console. */
  errors: readonly string[]
}

/** What the browser process tells while it crawls. */
export type CrawlMessage =
  | { kind: 'page'; page: SeenPage }
  /** The crawl ended: null, or why before its time. */
  | { kind: 'done'; error: string | null }
