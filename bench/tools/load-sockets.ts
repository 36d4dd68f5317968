/**
 * Sends the same load as `load.ts`, with a minimal client that uses plain sockets and prepared bytes. It needs about
 * half the CPU time of an ordinary client. The minimal server benefits more from the CPU time saved, so the ratios are
 * lower. With a rate in requests per second, each connection waits before its next request, so that all connections
 * together do not exceed the rate.
 */
import { BATCH_BODY, BATCH_ID, loadOf } from './batch.ts'

const [address = '', token = '', connections = '32', seconds = '20', perSecond = '0'] = process.argv.slice(2)
const url = new URL(address)

const head =
  `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(BATCH_BODY)}\r\n\r\n`
const template = Buffer.from(head + BATCH_BODY)
const idOffset = Buffer.byteLength(head) + BATCH_BODY.indexOf(BATCH_ID)

let requests = 0
let failures = 0
let stopping = false
const latencies: number[] = []
/** Minimum time between the starts of two consecutive requests on a connection, in ms. */
const pauseMs = Number(perSecond) > 0 ? (1000 * Number(connections)) / Number(perSecond) : 0

interface Flow {
  request: Buffer
  sentAt: number
  unsent: number
}

function send(socket: Bun.Socket<Flow>): void {
  const { data } = socket
  data.request.write(`${process.pid}-${requests++}-`.padEnd(BATCH_ID.length, 'x').slice(0, BATCH_ID.length), idOffset)
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
          // The status line begins with "HTTP/1.1 2…". Responses are small enough to arrive in one piece.
          if (answer[9] !== 50) failures++
          if (stopping || performance.now() >= deadline) {
            stopping = true
            socket.end()
          } else if (pauseMs === 0) send(socket)
          else setTimeout(send, Math.max(0, socket.data.sentAt + pauseMs - performance.now()), socket)
        },
        close: () => ended.resolve(),
        error: (_socket, error) => ended.reject(error),
      },
    })
    await ended.promise
  }),
)
console.log(JSON.stringify(loadOf(latencies, failures, started)))
