/**
 * A load generator in a process of its own: `bun bench/load.ts URL TOKEN CONNECTIONS SECONDS`. Each connection is
 * kept alive and has one request under way; each request is a batch of 10 events with an id of its own. Prints
 * `{requests, failures, seconds, p50Ms, p99Ms}` as JSON. Plain sockets, because the client must not be the bottleneck.
 */
export {}

const [address = '', token = '', connections = '32', seconds = '20'] = process.argv.slice(2)
const url = new URL(address)
const BATCH_ID_LENGTH = 24

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
const body = JSON.stringify({
  batchId: 'x'.repeat(BATCH_ID_LENGTH),
  sessionId: 'session-1',
  page: { url: 'https://shop.example/checkout', title: 'Checkout' },
  events: Array.from({ length: 10 }, (_, n) => event(n)),
})
const head =
  `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
const template = Buffer.from(head + body)
const idOffset = Buffer.byteLength(head) + body.indexOf('x'.repeat(BATCH_ID_LENGTH))

let requests = 0
let failures = 0
let stopping = false
const latencies: number[] = []

interface Flow {
  request: Buffer
  sentAt: number
  unsent: number
}

function send(socket: Bun.Socket<Flow>): void {
  const { data } = socket
  data.request.write(`${process.pid}-${requests++}-`.padEnd(BATCH_ID_LENGTH, 'x').slice(0, BATCH_ID_LENGTH), idOffset)
  data.sentAt = performance.now()
  data.unsent = data.request.length - socket.write(data.request)
}

const started = performance.now()
const deadline = started + Number(seconds) * 1000
await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    const ended = Promise.withResolvers<void>()
    await Bun.connect<Flow>({
      hostname: url.hostname,
      port: Number(url.port),
      data: { request: Buffer.from(template), sentAt: 0, unsent: 0 },
      socket: {
        open: send,
        drain(socket) {
          const { data } = socket
          if (data.unsent > 0) data.unsent -= socket.write(data.request.subarray(-data.unsent))
        },
        data(socket, answer) {
          latencies.push(performance.now() - socket.data.sentAt)
          // "HTTP/1.1 2…": the answers are small enough to come in one piece.
          if (answer[9] !== 50) failures++
          if (stopping || performance.now() >= deadline) {
            stopping = true
            socket.end()
          } else send(socket)
        },
        close: () => ended.resolve(),
        error: (_socket, error) => ended.reject(error),
      },
    })
    await ended.promise
  }),
)
latencies.sort((a, b) => a - b)
const at = (share: number) => Number((latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2))
console.log(
  JSON.stringify({
    requests: latencies.length,
    failures,
    seconds: (performance.now() - started) / 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }),
)
