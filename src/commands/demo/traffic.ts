import type { RecordedHit } from '../har.ts'

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
}

/**
 * Returns the batches of one second of the sample shop: recorded requests, each visitor on a page of the shop.
 * `elapsedMs`: time since the demo started.
 */
export function visit(recorded: readonly Replayed[], second: number, elapsedMs: number): DemoBatch[] {
  const isReleased = elapsedMs >= RELEASE_AFTER_MS
  return PAGES.map((path, visitor) => ({
    batchId: crypto.randomUUID(),
    sessionId: `visitor-${visitor}-${Math.floor(second / 30)}`,
    version: isReleased ? 42 : 41,
    page: { url: `https://shop.example${path}`, title: path === '/' ? 'Home' : path.slice(1) },
    hits: recorded
      .filter((_, index) => (index + second + visitor) % PAGES.length < 3)
      .map((hit) => (isReleased ? withoutTransaction(hit) : hit)),
  }))
}

function withoutTransaction(hit: Replayed): Replayed {
  const url = new URL(hit.url)
  if (!url.searchParams.has('ep.transaction_id')) return hit
  url.searchParams.delete('ep.transaction_id')
  return { ...hit, url: url.href }
}
