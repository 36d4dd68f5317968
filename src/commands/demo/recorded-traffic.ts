import type { RecordedHit } from '../../browser/har-requests.ts'
import { type Instant, SECOND_MS } from '../../core/clock.ts'
import type { SentBatch } from './encode-events.ts'
import { SAFARI } from './sample-browsers.ts'
import { HOSTS, VERSIONS } from './sample-sites.ts'
import { GA4, GTM } from './sample-vendors.ts'
import type { SiteEvent } from './simulated-site.ts'

/** A recorded request without its time and page URL. */
export type ReplayedRequest = Omit<RecordedHit, 'ts' | 'pageUrl' | 'userAgent'>

/** Requests sent by the vendors' own code in a real browser. */
export interface RecordedTraffic {
  google: readonly ReplayedRequest[]
  others: readonly (readonly ReplayedRequest[])[]
}

/** The container version that goes live during the demo. Its purchase events have no transaction id. */
const FAULTY_VERSION = VERSIONS.harmful + 1
export const FAULTY_AFTER_MS = 12 * SECOND_MS

const PAGES = ['/', '/category/shirts', '/product/blue-shirt', '/cart', '/checkout', '/thank-you']
/**
 * Timing of recorded visitors in seconds. They are frequent at first, so that data appears quickly, and later so rare
 * that they do not affect counts.
 */
const [AT_FIRST, AT_FIRST_EVERY, THEN_EVERY] = [45, 14, 600]
/**
 * Consent parameters of a visitor who accepted everything:
 * https://developers.google.com/tag-platform/security/concepts/consent-mode
 */
const AGREED = { gcs: 'G111', gcd: '13r3r3r3r5' }

/** True in the seconds of the demo in which a recorded visitor sends events. */
export const isRecordedAt = (second: number) =>
  second < AT_FIRST ? second % AT_FIRST_EVERY === 0 : second % THEN_EVERY === 0

/**
 * Returns the batch that a recorded visitor sends from one page of the shop. It contains the requests to Google
 * Analytics 4 and to one other vendor; the other vendors alternate.
 */
export function recordedVisit({ google, others }: RecordedTraffic, second: number, now: Instant): SentBatch {
  const isFaulty = second * SECOND_MS >= FAULTY_AFTER_MS
  const turn = Math.floor(second / AT_FIRST_EVERY)
  const path = PAGES[turn % PAGES.length] ?? '/'
  const hits = [...google, ...(others[turn % others.length] ?? [])].map(withConsent)
  return {
    host: HOSTS.shop,
    batch: {
      batchId: crypto.randomUUID(),
      sentAt: now,
      sessionId: `recorded-${second}`,
      userAgent: SAFARI.userAgent,
      language: 'en',
      version: isFaulty ? FAULTY_VERSION : VERSIONS.harmful,
      page: { url: `https://${HOSTS.shop}${path}`, title: path === '/' ? 'Home' : path.slice(1) },
      hits: isFaulty ? hits.map(withoutTransaction) : hits,
      tags: [{ container: GTM.account, tagId: '7', name: 'GA4 configuration', event: 'gtm.load', status: 'ok' }],
    },
  }
}

/** Returns a shop event as sent by the faulty container, which loses the transaction id in Safari. */
export function withoutTransactionId(event: SiteEvent): SiteEvent {
  if (event.host !== HOSTS.shop) return event
  if (event.browser.segments.browser !== SAFARI.segments.browser) return { ...event, version: FAULTY_VERSION }
  const { 'ep.transaction_id': id, ...params } = event.params
  return { ...event, version: FAULTY_VERSION, params: event.of === GA4 ? params : event.params }
}

/** Adds consent to requests to Google, because the recordings were made without a banner. */
function withConsent(hit: ReplayedRequest): ReplayedRequest {
  const url = new URL(hit.url)
  if (!url.pathname.endsWith('/g/collect')) return hit
  for (const [name, value] of Object.entries(AGREED)) url.searchParams.set(name, value)
  return { ...hit, url: url.href }
}

function withoutTransaction(hit: ReplayedRequest): ReplayedRequest {
  const url = new URL(hit.url)
  if (!url.searchParams.has('ep.transaction_id')) return hit
  url.searchParams.delete('ep.transaction_id')
  return { ...hit, url: url.href }
}
