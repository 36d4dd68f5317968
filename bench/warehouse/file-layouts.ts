import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, type Instant, systemClock } from '../../src/core/clock.ts'
import { EVENT_COLUMNS } from '../../src/core/event.ts'
import { openDatabase } from '../../src/store/database.ts'
import { runMerge } from '../../src/warehouse/duckdb/compact-events.ts'
import { quoteText } from '../../src/warehouse/duckdb/duckdb-dialect.ts'
import { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import { type EventFile, Manifest } from '../../src/warehouse/duckdb/manifest.ts'
import { GRACE_MS, isCompacted, planMerges } from '../../src/warehouse/duckdb/plan-merges.ts'
import { query } from '../../src/warehouse/query.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { quantile, spreadOf } from '../tools/percentiles.ts'
import { writePastEvents } from './past-events.ts'
import {
  ENGINE_QUERIES,
  type EngineQuery,
  openClickhouse,
  openPlain,
  type QueryEngine,
  writePlain,
} from './query-engines.ts'

const EVENTS = sized(Number(process.env.BENCH_EVENTS ?? 300_000), 3000)
const DAYS = sized(30, 2)
const END: Instant = Date.UTC(2026, 1, 2)
const START = END - DAYS * DAY_MS
const OVER = END + DAY_MS
/** Number of files that arrive per hour on the first day. */
const FILES_AN_HOUR = sized(16, 2)
const [COLD_RUNS, WARM_RUNS] = [sized(9, 1), sized(15, 2)]

const ORG = 'org_01k9m2c4d0e0f0g0h0j0k0m0n0'
const DOMAINS = Array.from({ length: 20 }, (_, n) => `dom_01k9m2c4d0e0f0g0h0j0k0m0${String(n).padStart(2, '0')}`)

/** The warehouse's files, in a separate folder. */
interface OurFiles {
  folder: string
  manifest: Manifest
}

/**
 * Compares hourly files, merged files, plain DuckDB over one sorted columnar file, and ClickHouse. All contain the same
 * month of 20 domains. Measures the times of three queries, the bytes per event, and the additional cost of merging.
 */
export async function benchFileLayouts(): Promise<Budget[]> {
  const root = mkdtempSync(join(tmpdir(), 'tagwarden-files-'))
  try {
    const month = join(root, 'month.parquet')
    await writePastEvents(month, {
      events: EVENTS,
      days: DAYS,
      until: END,
      domainIds: DOMAINS,
      params: 'json',
      randomIds: true,
    })
    const hours = filesIn(join(root, 'hours'))
    const compactMs = await fillHours(hours, month)
    const days = copyOf(hours, join(root, 'days'))
    const joinMs = await joinDays(days)
    const plainFile = join(root, 'plain.parquet')
    const plainBytes = await writePlain(month, plainFile)
    const clickhouse = await openClickhouse(month, ORG)
    const stands: Record<string, () => Promise<QueryEngine>> = {
      joined: () => openOurs(days),
      plain: () => openPlain(plainFile),
      hours: () => openOurs(hours),
      ...(clickhouse && { clickhouse: async () => clickhouse.stand }),
    }
    const bytes = {
      joined: bytesOf(days),
      hours: bytesOf(hours),
      plain: plainBytes,
      clickhouse: clickhouse?.bytes ?? 0,
    }
    for (const [name, own] of Object.entries(bytes))
      console.log(`  ${name}: ${(own / EVENTS).toFixed(1)} bytes per event`)
    console.log(
      `  ${hours.manifest.files().length} hourly files; the first day compacted in ${Math.round(compactMs)} ms`,
    )
    console.log(
      `  ${days.manifest.files().length} files after joining; the first day joined in ${Math.round(joinMs)} ms`,
    )
    const budgets: Budget[] = []
    for (const question of ENGINE_QUERIES) budgets.push(...figuresOf(question.name, await ask(question, stands)))
    clickhouse?.remove()
    return [
      ...budgets,
      budget('bytes per event, joined', bytes.joined / EVENTS, 'at most', 24),
      budget('CPU time of compaction with joining / without', (compactMs + joinMs) / compactMs, 'at most', 1.3),
    ]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function filesIn(folder: string): OurFiles {
  mkdirSync(folder, { recursive: true })
  return { folder, manifest: new Manifest(openDatabase(':memory:')) }
}

function copyOf({ folder, manifest }: OurFiles, to: string): OurFiles {
  cpSync(folder, to, { recursive: true })
  const copy = filesIn(to)
  copy.manifest.swap([], manifest.files())
  return copy
}

/** Returns the CPU time used so far by all threads of this process, in ms. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const bytesOf = ({ manifest }: OurFiles) => manifest.files().reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

function openWarehouse({ folder, manifest }: OurFiles): Promise<DuckdbWarehouse> {
  return DuckdbWarehouse.open({ folder, manifest, clock: systemClock, spoolFiles: () => [] })
}

/**
 * Writes the month into one compacted file per hour. Returns the CPU time for merging and compacting the first day, in
 * ms. The first day's events arrive in `FILES_AN_HOUR` files per hour. In production there are 900 files per hour, most
 * of which are merged twice before compaction.
 */
async function fillHours(ours: OurFiles, month: string): Promise<number> {
  const warehouse = await openWarehouse(ours)
  let tookMs = 0
  for (let hour = 0; hour < DAYS * 24; hour++) {
    const from = START + hour * HOUR_MS
    const count = hour < 24 ? FILES_AN_HOUR : 1
    for (let n = 0; n < count; n++) {
      const path = `${hour}-${n}.parquet`
      const part = [from + (n * HOUR_MS) / count, from + ((n + 1) * HOUR_MS) / count] as const
      const rows = await warehouse.parquet.write(path, freshSql(month, ...part))
      if (rows > 0)
        ours.manifest.swap(
          [],
          [await warehouse.parquet.describe(path, { rows, level: 'fresh', keys: null, hasSegments: true })],
        )
    }
    const before = cpuMs()
    for (const now of [from, from + HOUR_MS + GRACE_MS]) await merge(warehouse, ours, now, isOfHours)
    if (hour < 24) tookMs += cpuMs() - before
  }
  warehouse.close()
  return tookMs
}

const isOfHours = (files: readonly EventFile[]) => !files.every(isCompacted)

/** Runs the planned merges that `isWanted` selects. */
async function merge(
  { parquet }: DuckdbWarehouse,
  { manifest, folder }: OurFiles,
  now: Instant,
  isWanted: (files: readonly EventFile[]) => boolean = () => true,
): Promise<void> {
  for (const planned of planMerges(manifest.files(), now))
    if (isWanted(planned.files)) await runMerge(parquet, manifest, folder, planned)
}

/** Merges hourly files into daily ones. Returns the CPU time for the first day, in ms. */
async function joinDays(ours: OurFiles): Promise<number> {
  const warehouse = await openWarehouse(ours)
  const before = cpuMs()
  await merge(warehouse, ours, START + DAY_MS + GRACE_MS)
  const tookMs = cpuMs() - before
  while (planMerges(ours.manifest.files(), OVER).length > 0) await merge(warehouse, ours, OVER)
  warehouse.close()
  return tookMs
}

/** Returns the SQL that selects a part of the month, in the format of new files. */
function freshSql(month: string, from: Instant, to: Instant): string {
  const own: Record<string, string> = {
    seq: 'receivedAt * 1000 + file_row_number % 1000',
    orgId: quoteText(ORG),
    violations: 'NULL',
  }
  const given = new Set(['ts', 'receivedAt', 'domainId', 'vendor', 'event', 'account', 'kind', 'host', 'path', 'title'])
  for (const name of ['sessionId', 'status', 'execMs', 'durMs', 'version']) given.add(name)
  const columns = Object.entries(EVENT_COLUMNS).map(
    ([name, type]) => `(${own[name] ?? (given.has(name) ? name : 'NULL')})::${type} AS ${name}`,
  )
  return `SELECT ${columns.join(', ')}, false AS violated, params::JSON AS params
    FROM read_parquet(${quoteText(month)}, file_row_number = true)
    WHERE receivedAt >= ${from} AND receivedAt < ${to}`
}

/** Opens the warehouse for queries in the same way as the program. */
async function openOurs(ours: OurFiles): Promise<QueryEngine> {
  const warehouse = await openWarehouse(ours)
  await warehouse.warm()
  const { signal } = new AbortController()
  return {
    async ask({ sql, key }) {
      const asked = query('bench.files', {
        orgId: ORG,
        window: { from: START, to: END + HOUR_MS },
        write: (binder) => ({ sql: sql(binder), keys: key === null ? [] : [key] }),
      })
      return warehouse.query<Record<string, unknown>>(asked, signal)
    },
    close: () => warehouse.close(),
  }
}

/** Times of the queries, in ms. */
interface Times {
  cold: number[]
  warm: number[]
  /** CPU time of all threads in queries with warm caches, in ms. */
  cpu: number[]
  /** The distinct results, as JSON text. */
  answers: Set<string>
}

/** Runs the query on all layouts in turn. Cold queries use a newly opened engine. */
async function ask(question: EngineQuery, stands: Record<string, () => Promise<QueryEngine>>) {
  const times = Object.fromEntries(
    Object.keys(stands).map((name): [string, Times] => [name, { cold: [], warm: [], cpu: [], answers: new Set() }]),
  )
  const timed = async (name: string, stand: QueryEngine, state: 'cold' | 'warm') => {
    const [startedAt, cpu] = [performance.now(), cpuMs()]
    const rows = await stand.ask(question)
    times[name]?.[state].push(performance.now() - startedAt)
    if (state === 'warm') times[name]?.cpu.push(cpuMs() - cpu)
    times[name]?.answers.add(JSON.stringify(rows.map((row) => Object.values(row).map(String))))
  }
  for (let run = 0; run < COLD_RUNS; run++) {
    for (const [name, open] of Object.entries(stands)) {
      const stand = await open()
      await stand.cool?.()
      await timed(name, stand, 'cold')
      stand.close()
    }
  }
  const opened: [string, QueryEngine][] = []
  for (const [name, open] of Object.entries(stands)) opened.push([name, await open()])
  for (const [, stand] of opened) await stand.ask(question)
  for (let run = 0; run < WARM_RUNS; run++) for (const [name, stand] of opened) await timed(name, stand, 'warm')
  for (const [, stand] of opened) stand.close()
  return times
}

function figuresOf(name: string, times: Record<string, Times>): Budget[] {
  const { joined, ...others } = times
  if (!joined) return []
  const bounds: Record<string, number> = { plain: 1.5, hours: 1, clickhouse: 1 }
  for (const [stand, { cold, warm, cpu }] of Object.entries(times)) {
    console.log(`  ${name}, ${stand}: cold ${spreadOf(cold)}; warm ${spreadOf(warm)}; CPU ${spreadOf(cpu)}`)
  }
  const different = new Set(Object.values(times).flatMap(({ answers }) => [...answers])).size - 1
  return [
    budget(`${name}: different answers`, different, 'is', 0),
    ...(['cold', 'warm'] as const).flatMap((state) =>
      Object.entries(others).map(([stand, { [state]: own }]) => {
        const ratio = quantile(joined[state], 0.5) / quantile(own, 0.5)
        return budget(`${name}, ${state}: joined / ${stand}`, ratio, 'at most', bounds[stand] ?? 1)
      }),
    ),
  ]
}
