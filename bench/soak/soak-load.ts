import { readFileSync } from 'node:fs'
import { loadOf } from '../tools/batch.ts'
import type { RecordedBatch } from './recorded-batches.ts'

/**
 * Sends recorded traffic in a separate process: `bun bench/soak/soak-load.ts FILE`, where FILE contains a `SoakLoad` as
 * JSON. Three batches share a session, and each has its own id and order. Prints a `LoadInterval` as a line of JSON at the end of each interval, and stops when its standard input is closed.
 */
export interface SoakLoad {
  url: string
  tokens: string[]
  batches: RecordedBatch[]
  /** Batches per second; 0: each connection sends its next batch as soon as the previous one is acknowledged. */
  perSecond: number
  connections: number
  intervalMs: number
}

/** Results of an interval. */
export interface LoadInterval {
  acknowledged: number
  /** Responses other than 202, and broken connections. */
  failures: number
  /** Number of events in the acknowledged batches. */
  events: number
  /** Number of items that the responses count as rejected. */
  rejected: number
  /** Latencies since the time at which each batch was due. */
  p50Ms: number
  p99Ms: number
  maxMs: number
}

const TICK_MS = 5

async function main(order: SoakLoad): Promise<void> {
  const { url, tokens, batches, perSecond, connections, intervalMs } = order
  let latencies: number[] = []
  let counts = { failures: 0, events: 0, rejected: 0 }
  let sent = 0
  let inFlight = 0
  let isOver = false

  const sendOne = async (n: number, dueAt: number) => {
    inFlight++
    const { json = '', events = 0 } = batches[n % batches.length] ?? {}
    const ids = `"batchId":"soak-${process.pid}-${n}","sessionId":"session-${Math.floor(n / 3)}"`
    const body = `{${ids},${json.replace('ORDER', `T-${n}`)}`
    const headers = { authorization: `Bearer ${tokens[n % tokens.length]}`, 'content-type': 'application/json' }
    try {
      const response = await fetch(`${url}/api/v1/events`, { method: 'POST', headers, body })
      const text = await response.text()
      if (response.status === 202) {
        latencies.push(performance.now() - dueAt)
        counts.events += events
        counts.rejected += (JSON.parse(text) as { rejected: number }).rejected
      } else counts.failures++
    } catch {
      counts.failures++
    }
    inFlight--
  }
  const report = () => {
    const { requests, p50Ms, p99Ms } = loadOf(latencies, 0, 0)
    const maxMs = latencies.reduce((most, ms) => Math.max(most, ms), 0)
    console.log(JSON.stringify({ acknowledged: requests, ...counts, p50Ms, p99Ms, maxMs } satisfies LoadInterval))
    latencies = []
    counts = { failures: 0, events: 0, rejected: 0 }
  }

  const startedAt = performance.now()
  const closedLoop = async () => {
    while (!isOver) await sendOne(sent++, performance.now())
  }
  // A late batch counts from the time at which it was due, even if all connections were busy then.
  const tick = () => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond)
    while (!isOver && sent < due && inFlight < connections) {
      const dueAt = startedAt + (sent / perSecond) * 1000
      void sendOne(sent++, dueAt)
    }
  }
  const sending = perSecond === 0 ? Array.from({ length: connections }, closedLoop) : []
  const ticking = perSecond === 0 ? undefined : setInterval(tick, TICK_MS)
  const reporting = setInterval(report, intervalMs)
  for await (const _ of Bun.stdin.stream());
  isOver = true
  clearInterval(ticking)
  await Promise.all(sending)
  while (inFlight > 0) await Bun.sleep(TICK_MS)
  clearInterval(reporting)
  report()
}

await main(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')))
