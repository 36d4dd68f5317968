import { readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { quoteText } from '../../src/warehouse/duckdb/duckdb-dialect.ts'
import { hookReceiver } from '../organizations/neighbours.ts'
import { MINUTES, sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { quantile } from '../tools/percentiles.ts'
import { client, type Measured, makeFolder, start, tagwarden } from '../tools/server.ts'
import { type ApiInterval, startDashboardClient } from './dashboard-client.ts'
import { type RecordedBatches, readRecordedBatches } from './recorded-batches.ts'
import { soakAlerts } from './soak-alerts.ts'
import type { LoadInterval, SoakLoad } from './soak-load.ts'
import { type Point, trendOf } from './trend.ts'

const SOAK_MS = sized((MINUTES ?? 30) * MINUTE_MS, 3 * SECOND_MS)
const SAMPLE_MS = sized(10 * SECOND_MS, 200)
const PEAK_MS = sized(15 * SECOND_MS, 1500)
const ALERTS = sized(200, 20)
const DOMAINS = sized(8, 2)
const CONNECTIONS = 32
/** Maximum number of batches in flight at a third of the peak, so that a pause of the server does not delay the sender. */
const OPEN_CONNECTIONS = 256
const SHARE_OF_PEAK = 1 / 3
/** Minimum time between lines of the table. All samples are judged. */
const LINE_MS = sized(MINUTE_MS, 1000)
const DRAIN_MS = 2 * MINUTE_MS
/** The first third, in which caches fill and code is compiled, is not judged. */
const JUDGED_SHARE = 2 / 3

const ENV = {
  TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
  TAGWARDEN_LOG_LEVEL: 'error',
  TAGWARDEN_RATE_COLLECT_PER_SECOND: '10000000',
  TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
}

/** A server with domains and alerts, in a folder that `remove` deletes. */
interface SoakServer {
  server: Measured
  folder: string
  key: string
  domains: { id: string; token: string }[]
  args: string[]
  remove(): void
}

/** The state of the server, and what happened since the previous sample. */
interface Sample {
  /** Time since the start, in ms. */
  at: number
  rssMb: number
  heapMb: number
  /** Number of descriptors that are connections, and of all others. */
  connections: number
  descriptors: number
  files: number
  eventFiles: number
  walMb: number
  databaseMb: number
  folderMb: number
  loopP99Ms: number
  loopMaxMs: number
  load: LoadInterval
  api: ApiInterval
}

/**
 * Sends a third of the peak load for half an hour, with 200 alerts and a dashboard client, and measures whether memory,
 * descriptors and files grow.
 */
export async function benchSoak(): Promise<Budget[]> {
  if (!(SOAK_MS >= 3 * SAMPLE_MS)) throw new Error('--minutes: must be a number of at least 0.5')
  const recorded = await readRecordedBatches()
  const hooks = hookReceiver()
  try {
    const peak = await measurePeak(recorded, hooks.url)
    const perSecond = Math.max(1, peak * SHARE_OF_PEAK)
    console.log(
      `  peak ${peak.toFixed(0)} batches/s with ${CONNECTIONS} connections; soak of ${(SOAK_MS / MINUTE_MS).toFixed(1)} min ` +
        `at ${perSecond.toFixed(0)} batches/s, ${ALERTS} alerts, ${DOMAINS} domains, ` +
        `${recorded.batches.length} different batches of ${recorded.vendors.length} vendors\n`,
    )
    return await soak(recorded, hooks.url, perSecond)
  } finally {
    hooks.stop()
  }
}

async function startSoakServer(recorded: RecordedBatches, hookUrl: string): Promise<SoakServer> {
  const { folder, key, remove } = await makeFolder()
  const args = tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0')
  const server = await start(args, ENV)
  try {
    return { server, folder, key, domains: await setUp(client(server.url, key), recorded, hookUrl), args, remove }
  } catch (error) {
    await server.stop()
    remove()
    throw error
  }
}

/** Creates the domains and alerts. */
async function setUp(
  call: ReturnType<typeof client>,
  { vendors }: RecordedBatches,
  hookUrl: string,
): Promise<SoakServer['domains']> {
  const domains: SoakServer['domains'] = []
  for (let n = 0; n < DOMAINS; n++) domains.push(await call('POST', '/v1/domains', { name: `site-${n}.example` }))
  const hook = { provider: 'webhook', label: 'Hook', config: { url: hookUrl } }
  const { id: target } = await call<{ id: string }>('POST', '/v1/integrations', hook)
  const alerts = soakAlerts(ALERTS, {
    domains: domains.map(({ id }) => id),
    vendors: vendors.slice(0, 10),
    channels: [{ type: 'webhook', target }],
  })
  const made = await call<{ failed: number }>('POST', '/v1/alerts/bulk', { alerts })
  if (made.failed > 0) throw new Error(`alerts were rejected: ${JSON.stringify(made)}`)
  return domains
}

/** Returns the number of batches per second that a server acknowledges when all connections are always busy. */
async function measurePeak(recorded: RecordedBatches, hookUrl: string): Promise<number> {
  const one = await startSoakServer(recorded, hookUrl)
  try {
    const load = startLoad(one, recorded, { perSecond: 0, connections: CONNECTIONS, intervalMs: PEAK_MS / 3 })
    await Bun.sleep(PEAK_MS)
    const { intervals, stop } = load
    // The first third warms up, and the last interval is not complete.
    const full = intervals.slice(1)
    const rates = full.map(({ acknowledged }) => (acknowledged * SECOND_MS) / (PEAK_MS / 3))
    await stop()
    return quantile(rates, 0.5)
  } finally {
    await one.server.stop()
    one.remove()
  }
}

function startLoad(
  { server, folder, domains }: SoakServer,
  { batches }: RecordedBatches,
  order: Pick<SoakLoad, 'perSecond' | 'connections' | 'intervalMs'>,
) {
  const file = `${folder}-load.json`
  const tokens = domains.map(({ token }) => token)
  writeFileSync(file, JSON.stringify({ url: server.url, tokens, batches, ...order } satisfies SoakLoad))
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'soak-load.ts'), file], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const intervals: LoadInterval[] = []
  const reading = (async () => {
    let text = ''
    for await (const part of child.stdout) {
      const lines = (text + new TextDecoder().decode(part)).split('\n')
      text = lines.pop() ?? ''
      intervals.push(...lines.map((line) => JSON.parse(line) as LoadInterval))
    }
  })()
  return {
    intervals,
    async stop() {
      child.stdin.end()
      await reading
      await child.exited
      rmSync(file, { force: true })
    },
  }
}

async function soak(recorded: RecordedBatches, hookUrl: string, perSecond: number): Promise<Budget[]> {
  const one = await startSoakServer(recorded, hookUrl)
  const { server, folder, key, domains, args, remove } = one
  const load = startLoad(one, recorded, { perSecond, connections: OPEN_CONNECTIONS, intervalMs: SAMPLE_MS })
  const dashboard = startDashboardClient(
    server.url,
    key,
    domains.map(({ id }) => id),
  )
  try {
    const samples: Sample[] = []
    const startedAt = performance.now()
    let printedAt = Number.NEGATIVE_INFINITY
    console.log(HEAD)
    for (let n = 1; n * SAMPLE_MS <= SOAK_MS; n++) {
      await Bun.sleep(Math.max(0, startedAt + n * SAMPLE_MS - performance.now()))
      const at = performance.now() - startedAt
      const interval = load.intervals.at(-1)
      if (!interval) continue
      samples.push({ at, ...(await stateOf(server, folder)), load: interval, api: dashboard.take() })
      if (at - printedAt < LINE_MS && (n + 1) * SAMPLE_MS <= SOAK_MS) continue
      printedAt = at
      console.log(rowOf(samples.at(-1) as Sample))
    }
    await dashboard.stop()
    await load.stop()
    const total = sumOf(load.intervals)
    const stored = await storedEvents(one, total.events)
    const peakMb = server.peakMb()
    await server.stop()
    const afterRestart = await storedAfterRestart(args, key)
    const inFiles = await eventsInFiles(folder)
    console.log(
      `\n  ${total.acknowledged} batches with ${total.events} events acknowledged, ${total.failures} failed, ${total.rejected} items rejected; ` +
        `${stored} events in usage, ${afterRestart} after a restart, ${inFiles} in Parquet files; ` +
        `${dashboard.times.length} API requests, ${dashboard.streamed} events in the stream; ` +
        `peak memory ${peakMb.toFixed(0)} MB`,
    )
    printSlowest(dashboard.slowest(8))
    const differing = [stored, afterRestart, inFiles].find((count) => count !== total.events)
    return budgetsOf(samples, { total, stored: differing ?? total.events, times: dashboard.times })
  } finally {
    await dashboard.stop()
    await load.stop()
    await server.stop()
    remove()
  }
}

async function stateOf({ url, pid, rssMb }: Measured, folder: string) {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const metric = (name: string) => {
    const line = metrics.split('\n').find((text) => text.startsWith(`${name} `))
    return line ? Number(line.slice(name.length)) : Number.NaN
  }
  const delayMs = (part: string) => metric(`tagwarden_event_loop_delay_seconds{quantile="${part}"}`) * SECOND_MS
  const files = filesIn(folder)
  const descriptors = descriptorsOf(pid)
  const mbOf = (name: string) => (files.get(name) ?? 0) / 1e6
  return {
    rssMb: rssMb(),
    heapMb: metric('tagwarden_heap_bytes') / 1e6,
    connections: descriptors.filter((target) => target.startsWith('socket:')).length,
    descriptors: descriptors.filter((target) => !target.startsWith('socket:')).length,
    files: files.size,
    eventFiles: metric('tagwarden_event_files'),
    walMb: mbOf('tagwarden.db-wal'),
    databaseMb: mbOf('tagwarden.db'),
    folderMb: [...files.values()].reduce((sum, bytes) => sum + bytes, 0) / 1e6,
    loopP99Ms: delayMs('0.99'),
    loopMaxMs: delayMs('1'),
  }
}

/** Returns the targets of the open descriptors. Those that are closed in the meantime are left out. */
function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)]
    } catch {
      return []
    }
  })
}

/** Returns the sizes of all files in the folder. Files that are deleted in the meantime are left out. */
function filesIn(folder: string): Map<string, number> {
  const sizes = new Map<string, number>()
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false })
    if (stats?.isFile()) sizes.set(name, stats.size)
  }
  return sizes
}

const HEAD = [
  '| min | RSS, MB | heap, MB | connections | other descriptors | files | event files | WAL, MB | database, MB | folder, MB | batches/s | collector p50, ms | p99, ms | max, ms | API p50, ms | p99, ms | event loop p99, ms | max, ms |',
  `|${'---|'.repeat(18)}`,
].join('\n')

function rowOf({ load, api, ...one }: Sample): string {
  const cells = [
    (one.at / MINUTE_MS).toFixed(1),
    ...[one.rssMb, one.heapMb, one.connections, one.descriptors, one.files, one.eventFiles].map((value) =>
      value.toFixed(0),
    ),
    ...[one.walMb, one.databaseMb, one.folderMb].map((value) => value.toFixed(1)),
    ((load.acknowledged * SECOND_MS) / SAMPLE_MS).toFixed(0),
    ...[load.p50Ms, load.p99Ms, load.maxMs, api.p50Ms, api.p99Ms, one.loopP99Ms, one.loopMaxMs].map((ms) =>
      ms.toFixed(1),
    ),
  ]
  return `| ${cells.join(' | ')} |`
}

function printSlowest(paths: ReturnType<ReturnType<typeof startDashboardClient>['slowest']>): void {
  console.log('\n| slowest paths of the API | requests | p50, ms | p99, ms | max, ms |\n|---|---|---|---|---|')
  for (const { path, requests, p50Ms, p99Ms, maxMs } of paths) {
    console.log(`| ${path} | ${requests} | ${p50Ms.toFixed(0)} | ${p99Ms.toFixed(0)} | ${maxMs.toFixed(0)} |`)
  }
  console.log('')
}

function sumOf(intervals: readonly LoadInterval[]) {
  const total = { acknowledged: 0, failures: 0, events: 0, rejected: 0 }
  for (const one of intervals)
    for (const name of ['acknowledged', 'failures', 'events', 'rejected'] as const) total[name] += one[name]
  return total
}

const usageOf = async (url: string, key: string) =>
  (await client(url, key)<{ totalEvents: number }>('GET', '/v1/usage')).totalEvents

/** Waits until all acknowledged events are in the usage figures, which count the events in Parquet files. */
async function storedEvents({ server, key }: SoakServer, events: number): Promise<number> {
  const deadline = performance.now() + DRAIN_MS
  let stored = await usageOf(server.url, key)
  while (stored < events && performance.now() < deadline) {
    await Bun.sleep(200)
    stored = await usageOf(server.url, key)
  }
  return stored
}

async function storedAfterRestart(args: string[], key: string): Promise<number> {
  const server = await start(args, ENV)
  try {
    return await usageOf(server.url, key)
  } finally {
    await server.stop()
  }
}

/** Counts the events in the files of a stopped server, without its code. */
async function eventsInFiles(folder: string): Promise<number> {
  const engine = await DuckDBInstance.create(':memory:')
  const connection = await engine.connect()
  const files = quoteText(join(folder, 'events', '*.parquet'))
  const [row] = (await connection.runAndReadAll(`SELECT count(*)::INTEGER AS n FROM read_parquet(${files})`)).getRows()
  connection.closeSync()
  engine.closeSync()
  return Number(row?.[0])
}

interface Outcome {
  total: ReturnType<typeof sumOf>
  /** The number of events as counted by the server or in its files, if any of the counts differs from `total`. */
  stored: number
  times: readonly number[]
}

function budgetsOf(samples: readonly Sample[], { total, stored, times }: Outcome): Budget[] {
  const judged = samples.slice(Math.floor(samples.length * (1 - JUDGED_SHARE)))
  const points = (of: (sample: Sample) => number) => judged.map((sample): Point => [sample.at, of(sample)])
  const trends = {
    'memory, MB': trendOf(points(({ rssMb }) => rssMb)),
    'heap, MB': trendOf(points(({ heapMb }) => heapMb)),
    descriptors: trendOf(points((sample) => sample.descriptors)),
    connections: trendOf(points((sample) => sample.connections)),
    files: trendOf(points((sample) => sample.files)),
    'WAL, MB': trendOf(points(({ walMb }) => walMb)),
    'database, MB': trendOf(points(({ databaseMb }) => databaseMb)),
    'folder, MB': trendOf(points(({ folderMb }) => folderMb)),
  }
  console.log('| last two thirds | change per hour | 95 % confidence interval |\n|---|---|---|')
  for (const [name, { perHour, low, high }] of Object.entries(trends)) {
    console.log(`| ${name} | ${perHour.toFixed(1)} | ${low.toFixed(1)} to ${high.toFixed(1)} |`)
  }
  const collectorP99s = samples.map(({ load }) => load.p99Ms)
  const failedApi = samples.reduce((sum, { api }) => sum + api.failures, 0)
  const most = (of: (sample: Sample) => number) => Math.max(...samples.map(of))
  return [
    // Half an hour is too short to tell a slower growth from noise.
    budget('memory, certain growth, MB per hour', trends['memory, MB'].low, 'at most', 20),
    budget('descriptors other than connections, certain growth per hour', trends.descriptors.low, 'at most', 0),
    budget('files, certain growth per hour', trends.files.low, 'at most', 0),
    budget(
      'write-ahead log, maximum, MB',
      most(({ walMb }) => walMb),
      'at most',
      64,
    ),
    // As in `answers`: the largest queries of the dashboard run next to the load.
    budget(
      'memory, maximum, MB',
      most(({ rssMb }) => rssMb),
      'at most',
      900,
    ),
    budget('collector p99, median of the intervals, ms', quantile(collectorP99s, 0.5), 'at most', 100),
    budget('collector p99, worst interval, ms', Math.max(...collectorP99s), 'at most', 1000),
    budget('API p99, ms', quantile(times, 0.99), 'at most', 3000),
    budget('failed requests of the API', failedApi, 'is', 0),
    budget('rejected or failed batches', total.failures, 'is', 0),
    budget('events stored / events acknowledged', stored / total.events, 'is', 1),
  ]
}
