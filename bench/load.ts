/**
 * A load generator in a process of its own: `bun bench/load.ts URL TOKEN CONNECTIONS SECONDS`. So many senders, each with
 * one request under way on a connection that is kept alive; each request is a batch of 10 events with an id of its own.
 * Prints `Load` as JSON.
 */
export interface Load {
  requests: number
  /** Answers that were not 202. */
  failures: number
  seconds: number
  p50Ms: number
  p99Ms: number
}

const ID = 'x'.repeat(24)

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

const [address = '', token = '', connections = '32', seconds = '20'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const body = JSON.stringify({
  batchId: ID,
  sessionId: 'session-1',
  page: { url: 'https://shop.example/checkout', title: 'Checkout' },
  events: Array.from({ length: 10 }, (_, n) => event(n)),
})

const latencies: number[] = []
let failures = 0
let sent = 0

async function sender(deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    const batch = body.replace(ID, `${process.pid}-${sent++}-`.padEnd(ID.length, 'x'))
    const sentAt = performance.now()
    const response = await fetch(address, { method: 'POST', headers, body: batch })
    await response.text()
    latencies.push(performance.now() - sentAt)
    if (response.status !== 202) failures++
  }
}

const startedAt = performance.now()
const deadline = startedAt + Number(seconds) * 1000
await Promise.all(Array.from({ length: Number(connections) }, () => sender(deadline)))
latencies.sort((a, b) => a - b)
const at = (share: number) => Number((latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2))
const load: Load = {
  requests: latencies.length,
  failures,
  seconds: (performance.now() - startedAt) / 1000,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
}
console.log(JSON.stringify(load))
