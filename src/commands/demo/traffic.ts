import type { RecordedHit } from '../../browser/har-requests.ts'
import { NEW_VERSION } from './history.ts'

/** A recorded request without the time and page of its recording. */
export type Replayed = Omit<RecordedHit, 'ts' | 'pageUrl'>

const PAGES = ['/', '/category/shirts', '/product/blue-shirt', '/cart', '/checkout', '/thank-you']
/** After this time purchases have no transaction id, as after a faulty release. */
export const RELEASE_AFTER_MS = 12_000

/** A batch in the collector's format. */
export interface DemoBatch {
  batchId: string
  sessionId: string
  version: number
  page: { url: string; title: string }
  hits: Replayed[]
  tags: { container: string; tagId: string; name: string; event: string; status: 'ok'; execMs: number }[]
}

/** What the container of the shop reports on every page, as in its past. */
const CONTAINER = { container: 'GTM-ABC123', tagId: '7', name: 'GA4 configuration', event: 'gtm.load' } as const
/** These visitors agreed to everything: https://developers.google.com/tag-platform/security/concepts/consent-mode */
const AGREED = { gcs: 'G111', gcd: '13r3r3r3r5' }

/**
 * Returns the batches of one second of the sample shop: recorded requests, each visitor on a page of the shop.
 * `elapsedMs`: time since the demo started.
 */
export function visit(recorded: readonly Replayed[], second: number, elapsedMs: number): DemoBatch[] {
  const isReleased = elapsedMs >= RELEASE_AFTER_MS
  return PAGES.map((path, visitor) => ({
    batchId: crypto.randomUUID(),
    sessionId: `visitor-${visitor}-${Math.floor(second / 30)}`,
    version: isReleased ? NEW_VERSION + 1 : NEW_VERSION,
    page: { url: `https://shop.example${path}`, title: path === '/' ? 'Home' : path.slice(1) },
    hits: recorded
      .filter((_, index) => (index + second + visitor) % PAGES.length < 3)
      .map(withConsent)
      .map((hit) => (isReleased ? withoutTransaction(hit) : hit)),
    tags: [{ ...CONTAINER, status: 'ok', execMs: 10 + visitor }],
  }))
}

/** The recordings were made without a banner; Google's requests say how the visitor answered it. */
function withConsent(hit: Replayed): Replayed {
  const url = new URL(hit.url)
  if (!url.pathname.endsWith('/g/collect')) return hit
  for (const [name, value] of Object.entries(AGREED)) url.searchParams.set(name, value)
  return { ...hit, url: url.href }
}

function withoutTransaction(hit: Replayed): Replayed {
  const url = new URL(hit.url)
  if (!url.searchParams.has('ep.transaction_id')) return hit
  url.searchParams.delete('ep.transaction_id')
  return { ...hit, url: url.href }
}
