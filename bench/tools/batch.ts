/** Results measured by a load generator. */
export interface Load {
  requests: number
  /** Number of responses with a status other than 202. */
  failures: number
  seconds: number
  p50Ms: number
  p90Ms: number
  p99Ms: number
}

/** Calculates the results from the latency of each request, in ms, and the start time (`performance.now()`). */
export function loadOf(latencies: number[], failures: number, startedAt: number): Load {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2))
  const seconds = (performance.now() - startedAt) / 1000
  return { requests: sorted.length, failures, seconds, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99) }
}

/** Placeholder in the body, replaced with a different id in each request. */
export const BATCH_ID = 'x'.repeat(24)

const event = (n: number) => ({
  vendor: ['Google Analytics 4', 'Meta Pixel', 'Matomo'][n % 3],
  event: ['page_view', 'purchase', 'add_to_cart', 'scroll'][n % 4],
  account: 'G-ABCDE12345',
  status: 'ok',
  params: {
    transaction_id: `T-${n}`,
    currency: 'EUR',
    value: `${n}.50`,
    page_location: 'https://shop.example/checkout',
    page_title: 'Checkout',
    client_id: '1970656995.1795151819',
    session_id: '1795151819',
    language: 'en-us',
    screen: '1280x720',
  },
})

/** A batch of 10 events with 9 parameters each. */
export const BATCH_BODY = JSON.stringify({
  batchId: BATCH_ID,
  sessionId: 'session-1',
  page: { url: 'https://shop.example/checkout', title: 'Checkout' },
  events: Array.from({ length: 10 }, (_, n) => event(n)),
})
