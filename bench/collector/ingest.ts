import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Load } from '../tools/batch.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { type Client, client, load, type Measured, makeFolder, start, tagwarden } from '../tools/server.ts'

const CONNECTIONS = 32
const SECONDS = sized(Number(process.env.BENCH_SECONDS ?? 20), 0.4)
const EVENTS_PER_REQUEST = 10
/**
 * Interval between probes. Each probe reads all unflushed events, so probes are infrequent enough not to add to the
 * load.
 */
const PROBE_EVERY_MS = sized(5000, 200)
/** Time after which the server has returned unused memory to the operating system. */
const SETTLED_AFTER_S = sized(10, 0)
const BARE_SECONDS = sized(Number(process.env.BENCH_BARE_SECONDS ?? 5), 0.2)

/** Raises the rate limits for the load test. */
const NO_LIMITS = { TAGWARDEN_RATE_COLLECT_PER_SECOND: '10000000', TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000' }

/** Measures ingest with durable storage and all background jobs running, compared with a minimal server. */
export async function benchIngest(): Promise<Budget[]> {
  const { folder, key, remove } = await makeFolder()
  const bare = await start([process.execPath, join(import.meta.dir, 'minimal-server.ts')])
  const args = tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0')
  const first = await start(args, NO_LIMITS)
  try {
    const { token } = await client(first.url, key)<{ token: string }>('POST', '/v1/domains', { name: 'bench.example' })
    const idleMb = first.rssMb()
    const run = (url: string, seconds: number, client: Client = 'ordinary') =>
      load(url, { token, connections: CONNECTIONS, seconds, client })
    const bareBefore = await run(bare.url, BARE_SECONDS)
    const watch = watchLoad(first, folder, key, token)
    const cpu = first.cpuMs()
    const own = await run(first.url, SECONDS)
    const cpuUs = ((first.cpuMs() - cpu) * 1000) / own.requests
    const seen = await watch.stop()
    const peakMb = first.peakMb()
    const drainedMs = await drained(first, key, own.requests * EVENTS_PER_REQUEST + seen.probes)
    const bareAfter = await run(bare.url, BARE_SECONDS)
    await Bun.sleep(Math.max(0, SETTLED_AFTER_S - BARE_SECONDS) * 1000)
    const settledMb = first.rssMb()
    const sockets = {
      own: await run(first.url, BARE_SECONDS, 'sockets'),
      bare: await run(bare.url, BARE_SECONDS, 'sockets'),
    }
    await first.stop()
    const second = await start(args, NO_LIMITS)
    const total = await client(second.url, key)<{ totalEvents: number }>('GET', '/v1/usage')
    await second.stop()
    const bareRate = (rateOf(bareBefore) + rateOf(bareAfter)) / 2
    console.log(
      `  bare ${Math.round(bareRate)} requests/s, tagwarden ${Math.round(rateOf(own))} requests/s ` +
        `(p50 ${own.p50Ms} ms, p90 ${own.p90Ms} ms, p99 ${own.p99Ms} ms, ${cpuUs.toFixed(1)} µs of CPU per request), failures ${own.failures}, ` +
        `maximum backlog ${seen.segments} segments, event files ${seen.files}`,
    )
    console.log(
      `  with a plain-socket client: bare ${Math.round(rateOf(sockets.bare))} requests/s, tagwarden ` +
        `${Math.round(rateOf(sockets.own))} requests/s, ratio ${(rateOf(sockets.own) / rateOf(sockets.bare)).toFixed(2)}`,
    )
    return [
      budget('events acknowledged durably / bare server', rateOf(own) / bareRate, 'at least', 0.3),
      budget('rejected or failed requests', own.failures, 'at most', 0),
      budget(
        'events in usage / events acknowledged',
        total.totalEvents / ((own.requests + sockets.own.requests) * EVENTS_PER_REQUEST + seen.probes),
        'is',
        1,
      ),
      budget('time from the 202 until visible in GET /v1/events, maximum, ms', seen.visibleMs, 'at most', 1000),
      budget('time from the end of the load until all events are in Parquet, ms', drainedMs, 'at most', 10_000),
      budget('peak resident memory under load, MB', peakMb, 'at most', 500),
      budget('resident memory idle, MB', idleMb, 'at most', 200),
      budget('resident memory idle, 10 s after the load, MB', settledMb, 'at most', 200),
      budget('time until ready at the second start, ms', second.readyMs, 'at most', 500),
    ]
  } finally {
    await Promise.all([bare.stop(), first.stop()])
    remove()
  }
}

function rateOf({ requests, seconds }: Load): number {
  return requests / seconds
}

/** Measures, during the load, the delay until an event is visible, and the number of files waiting to be flushed. */
function watchLoad(server: Measured, folder: string, key: string, token: string) {
  const get = client(server.url, key)
  const seen = { visibleMs: 0, segments: 0, files: 0, probes: 0 }
  let stopping = false
  const run = (async () => {
    while (!stopping) {
      const mark = `probe-${randomUUID()}`
      await fetch(`${server.url}/api/v1/events?token=${token}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ events: [{ id: mark, vendor: 'Probe', event: mark }] }),
      })
      const sentAt = performance.now()
      seen.probes++
      const path = `/v1/events?vendor=Probe&event=${mark}&from=${Date.now() - 60_000}`
      while ((await get<{ events: unknown[] }>('GET', path)).events.length === 0) await Bun.sleep(10)
      seen.visibleMs = Math.max(seen.visibleMs, performance.now() - sentAt)
      const waiting = readdirSync(join(folder, 'spool')).filter((name) => name.endsWith('.ndjson')).length
      seen.segments = Math.max(seen.segments, waiting)
      seen.files = readdirSync(join(folder, 'events')).filter((name) => name.endsWith('.parquet')).length
      await Bun.sleep(PROBE_EVERY_MS)
    }
  })()
  return {
    async stop() {
      stopping = true
      await run
      return seen
    },
  }
}

/** Returns the time until the usage figures, which count events in Parquet files, include all events. */
async function drained(server: Measured, key: string, events: number): Promise<number> {
  const started = performance.now()
  const get = client(server.url, key)
  while ((await get<{ totalEvents: number }>('GET', '/v1/usage')).totalEvents < events) {
    if (performance.now() - started > 60_000) return Number.POSITIVE_INFINITY
    await Bun.sleep(50)
  }
  return performance.now() - started
}
