import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, type Instant, systemClock } from '../src/core/clock.ts'
import { EVENT_COLUMNS } from '../src/core/event.ts'
import { openDatabase } from '../src/store/database.ts'
import { runMerge } from '../src/warehouse/duckdb/compact.ts'
import { quoteText } from '../src/warehouse/duckdb/dialect.ts'
import { Manifest } from '../src/warehouse/duckdb/manifest.ts'
import { isCompacted, planMerges } from '../src/warehouse/duckdb/plan-merges.ts'
import { DuckdbWarehouse } from '../src/warehouse/duckdb/warehouse.ts'
import { query } from '../src/warehouse/query.ts'
import { type Budget, budget } from './budget.ts'
import { FILE_QUESTIONS, type FileStand, openClickhouse, openPlain } from './file-stands.ts'
import { writePastEvents } from './past-events.ts'
import { sized } from './size.ts'
import { quantile } from './spread.ts'

const EVENTS = sized(Number(process.env.BENCH_EVENTS ?? 300_000), 3000)
const DAYS = sized(30, 2)
const END: Instant = Date.UTC(2026, 1, 2)
const START = END - DAYS * DAY_MS
const OVER = END + DAY_MS
const [COLD_RUNS, WARM_RUNS] = [sized(5, 1), sized(15, 2)]

const ORG = 'org_01k9m2c4d0e0f0g0h0j0k0m0n0'
const DOMAINS = Array.from({ length: 20 }, (_, n) => `dom_01k9m2c4d0e0f0g0h0j0k0m0${String(n).padStart(2, '0')}`)

/** Our files, in a folder of their own. */
interface OurFiles {
  folder: string
  manifest: Manifest
}

/**
 * The same month of 20 domains in a file for each hour, in joined ones, in plain DuckDB over one sorted file of columns, and in
 * ClickHouse: how long three questions take, the bytes of an event, and what joining adds to compaction.
 */
export async function benchFiles(): Promise<Budget[]> {
  const root = mkdtempSync(join(tmpdir(), 'tagwarden-files-'))
  const db = openDatabase(join(root, 'tagwarden.db'))
  const ours: OurFiles = { folder: join(root, 'events'), manifest: new Manifest(db) }
  mkdirSync(ours.folder)
  try {
    const month = join(root, 'month.parquet')
    await writePastEvents(month, { events: EVENTS, days: DAYS, until: END, domainIds: DOMAINS, params: 'json' })
    const compactMs = await fillHours(ours, month)
    const [hourFiles, hourBytes] = sizeOf(ours)
    const answers = new Map<string, string>()
    const inHours = await measure(() => openOurs(ours), `${hourFiles} files`, answers)
    const joinMs = await joinDays(ours)
    const [joinedFiles, joinedBytes] = sizeOf(ours)
    const joined = await measure(() => openOurs(ours), `${joinedFiles} files`, answers)
    const plainFile = join(root, 'plain.parquet')
    const plainBytes = await openPlain.write(month, plainFile)
    const plain = await measure(() => openPlain(plainFile), 'plain DuckDB', answers)
    const clickhouse = await openClickhouse(month, ORG)
    const beside = clickhouse && (await measure(async () => clickhouse.stand, 'ClickHouse', answers))
    clickhouse?.remove()
    console.log(
      `  bytes an event: ${perEvent(hourBytes)} in ${hourFiles} files, ${perEvent(joinedBytes)} in ${joinedFiles}, ${perEvent(plainBytes)} in plain columns, ${clickhouse ? perEvent(clickhouse.bytes) : 'unknown'} in ClickHouse`,
    )
    console.log(`  compacted hours in ${Math.round(compactMs)} ms, joined days in ${Math.round(joinMs)} ms`)
    const figures = FILE_QUESTIONS.flatMap(({ name }) =>
      (['cold', 'warm'] as const).flatMap((state) => {
        const [own, split, bare, other] = [joined, inHours, plain, beside].map((times) => times?.[name]?.[state] ?? 0)
        const ofSplit = `${name}, ${state}: joined / ${hourFiles} files`
        return [
          budget(`${name}, ${state}: joined / plain DuckDB`, own / bare, 'at most', 1.5),
          budget(ofSplit, own / split, 'at most', 1),
          ...(other ? [budget(`${name}, ${state}: joined / ClickHouse`, own / other, 'at most', 1)] : []),
        ]
      }),
    )
    return [
      budget('different answers', new Set(answers.values()).size - FILE_QUESTIONS.length, 'is', 0),
      ...figures,
      budget('bytes an event, joined', joinedBytes / EVENTS, 'at most', 24),
      budget('compaction with joining / without', (compactMs + joinMs) / compactMs, 'at most', 1.3),
    ]
  } finally {
    db.close()
    rmSync(root, { recursive: true, force: true })
  }
}

const perEvent = (bytes: number) => (bytes / EVENTS).toFixed(1)

function sizeOf({ manifest }: OurFiles): [files: number, bytes: number] {
  const files = manifest.files()
  return [files.length, files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)]
}

function openWarehouse({ folder, manifest }: OurFiles): Promise<DuckdbWarehouse> {
  return DuckdbWarehouse.open({ folder, manifest, clock: systemClock, spoolFiles: () => [] })
}

/** Puts the month into a compacted file for each hour. Returns how long compaction took, ms. */
async function fillHours(ours: OurFiles, month: string): Promise<number> {
  const warehouse = await openWarehouse(ours)
  let tookMs = 0
  for (let hour = 0; hour < DAYS * 24; hour++) {
    const path = `hour-${hour}.parquet`
    const rows = await warehouse.parquet.write(path, hourSql(month, START + hour * HOUR_MS))
    if (rows === 0) continue
    const file = await warehouse.parquet.describe(path, rows, 'fresh', null)
    ours.manifest.addSegment(String(hour + 1).padStart(12, '0'), { file, rollup: null }, END, () => undefined)
    const [merge] = planMerges(ours.manifest.files(), OVER).filter(({ files }) => !files.every(isCompacted))
    const startedAt = performance.now()
    if (merge) await runMerge(warehouse.parquet, ours.manifest, ours.folder, merge)
    tookMs += performance.now() - startedAt
  }
  warehouse.close()
  return tookMs
}

/** Returns how long it took, ms. */
async function joinDays(ours: OurFiles): Promise<number> {
  const warehouse = await openWarehouse(ours)
  const startedAt = performance.now()
  for (;;) {
    const merges = planMerges(ours.manifest.files(), OVER)
    if (merges.length === 0) break
    for (const merge of merges) await runMerge(warehouse.parquet, ours.manifest, ours.folder, merge)
  }
  const tookMs = performance.now() - startedAt
  warehouse.close()
  return tookMs
}

/** Returns the SQL of an hour of the month as fresh files keep it. */
function hourSql(month: string, from: Instant): string {
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
    WHERE receivedAt >= ${from} AND receivedAt < ${from + HOUR_MS}`
}

/** Our warehouse as callers ask it. */
async function openOurs(ours: OurFiles): Promise<FileStand> {
  const warehouse = await openWarehouse(ours)
  const { signal } = new AbortController()
  return {
    async ask({ sql, key }) {
      const asked = query('bench.files', {
        orgId: ORG,
        window: { from: START, to: END + HOUR_MS },
        write: ({ dialect }) => ({ sql: sql('events', key === null ? '' : dialect.key(key)), keys: key ? [key] : [] }),
      })
      return warehouse.query<Record<string, unknown>>(asked, signal)
    },
    close: () => warehouse.close(),
  }
}

/** Medians of each question, ms. */
type Times = Record<string, { cold: number; warm: number }>

/** `cold`: the first question to an engine that was just opened; `answers` gets what is answered. */
async function measure(open: () => Promise<FileStand>, label: string, answers: Map<string, string>): Promise<Times> {
  const times: Times = {}
  for (const question of FILE_QUESTIONS) {
    const [cold, warm]: [number[], number[]] = [[], []]
    for (let run = 0; run < COLD_RUNS; run++) {
      const stand = await open()
      await stand.cool?.()
      const warmRuns = run === 0 ? WARM_RUNS : 0
      for (let again = 0; again <= warmRuns; again++) {
        const startedAt = performance.now()
        const rows = await stand.ask(question)
        const tookMs = performance.now() - startedAt
        if (again === 0) cold.push(tookMs)
        else warm.push(tookMs)
        answers.set(`${label} ${question.name}`, JSON.stringify(rows.map((row) => Object.values(row).map(String))))
      }
      stand.close()
    }
    times[question.name] = { cold: quantile(cold, 0.5), warm: quantile(warm, 0.5) }
    console.log(
      `  ${question.name}, ${label}: cold ${quantile(cold, 0.5).toFixed(1)} ms, warm ${quantile(warm, 0.5).toFixed(1)} ms`,
    )
  }
  return times
}
