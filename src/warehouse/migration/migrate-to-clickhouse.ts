import { type Clock, DAY_MS, type Instant, SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { PAGE_COLUMNS } from '../../core/stored-page-view.ts'
import type { Db } from '../../store/database.ts'
import { type ClickhouseAddress, ClickhouseClient } from '../clickhouse/clickhouse-client.ts'
import { localTable, type Table } from '../clickhouse/clickhouse-schema.ts'
import { insertFiles } from '../clickhouse/insert-files.ts'
import { prepareServers, serversOf } from '../clickhouse/prepare-server.ts'
import { countsRelation } from '../duckdb/counts-rollup.ts'
import { quoteText } from '../duckdb/duckdb-dialect.ts'
import { eventsRelation } from '../duckdb/events-relation.ts'
import {
  type FileScope,
  isInScope,
  type Manifest,
  type ManifestFile,
  readManifest,
  spanOf,
} from '../duckdb/manifest.ts'
import { pagesRelation } from '../duckdb/pages-relation.ts'
import { ParquetFiles } from '../duckdb/parquet-files.ts'
import { STORED_COLUMNS } from '../duckdb/spool-relation.ts'
import { listedPaths } from '../duckdb/unlisted-files.ts'
import { markClickhouse } from '../stored-engine.ts'
import { compareDay, type DayDifference, storedDays } from './compare-day.ts'
import { copyHistory, type DayCopier, type DayProgress } from './copy-history.ts'
import { MigrationProgress, type WrittenDay } from './migration-progress.ts'
import { moveAside } from './moved-files.ts'

export interface ToClickhouseOptions {
  db: Db
  /** Folder of events. */
  folder: string
  clock: Clock
  address: ClickhouseAddress
  /** True to leave damaged files out. */
  skipsDamaged: boolean
  report: DayProgress
}

/** Result of a migration. If any list has entries that are not accepted, the events are still where they were. */
export interface Migrated {
  isDone: boolean
  differences: DayDifference[]
  /** Paths of damaged files, whose events were not copied. */
  damaged: string[]
}

/**
 * Copies the history from the files in the folder to ClickHouse, compares both, and marks the folder. The files are then
 * in the subfolder `moved`. Can be repeated after it was interrupted at any point. The folder must be locked, and the
 * spool loaded. Throws `conflict` if the database already has events, and `ClickhouseError`.
 */
export async function migrateToClickhouse(options: ToClickhouseOptions): Promise<Migrated> {
  const { db, folder, clock, address, skipsDamaged, report } = options
  const manifest = readManifest(db)
  const client = new ClickhouseClient(address)
  await prepareServers(client)
  const progress = new MigrationProgress(db)
  if (progress.target === null) await checkEmpty(client)
  progress.start(targetOf(address), clock.now())
  const parquet = await ParquetFiles.open({ folder, manifest, clock, spoolFiles: () => [] })
  try {
    await parquet.check.start()
    const differences = await copyHistory(new FilesCopier(parquet, client, clock), progress, report)
    const damaged = manifest.damaged().map(({ file }) => file.path)
    const isDone = differences.length === 0 && (damaged.length === 0 || skipsDamaged)
    if (isDone) switchToClickhouse(db, manifest, folder)
    return { isDone, differences, damaged }
  } finally {
    parquet.close()
  }
}

/** Name of a database on a server, without the password. */
export function targetOf({ url, database }: Pick<ClickhouseAddress, 'url' | 'database'>): string {
  return `${new URL(url).host}/${database}`
}

async function checkEmpty(client: ClickhouseClient): Promise<void> {
  for (const table of ['events', 'counts', 'counts_quarter', 'pages']) {
    const found = await client.select(`SELECT 1 AS found FROM ${table} LIMIT 1`)
    if (found.length > 0)
      throw new AppError(
        'conflict',
        `the database ${targetOf(client.address)} already has data of a Tagwarden server; use an empty database`,
      )
  }
}

function switchToClickhouse(db: Db, manifest: Manifest, folder: string): void {
  const paths = listedPaths(manifest)
  moveAside(folder, paths)
  const [segment, lastSeq, lastReceivedAt] = [manifest.lastSegment(), manifest.lastSeq(), manifest.lastReceivedAt()]
  manifest.replaceAll({ files: [], rollups: [], pages: [] }, new Set(), () => {
    markClickhouse(db, { segment: segment ?? '', lastSeq, lastReceivedAt })
    new MigrationProgress(db).clear()
  })
}

/** Maximum number of events in files that are read together, unless a single file has more. */
const GROUP_ROWS = 500_000

const COUNTS = 'orgId, domainId, vendor, event, env, minute, events, weight'
const PAGES = Object.keys(PAGE_COLUMNS).join(', ')
const NOTHING: WrittenDay = { files: [], rollups: [], pages: [] }

/** Inserts the files of a folder into ClickHouse. */
class FilesCopier implements DayCopier {
  constructor(
    private readonly parquet: ParquetFiles,
    private readonly client: ClickhouseClient,
    private readonly clock: Clock,
  ) {}

  async days(): Promise<Map<Instant, number>> {
    const { manifest } = this.parquet
    const days = new Map<Instant, number>()
    for (const file of manifest.present()) {
      const { first, last } = spanOf(file)
      const own = 'maxSeq' in file ? file.rows : 0
      for (let day = dayOf(first); day <= last; day += DAY_MS)
        days.set(day, (days.get(day) ?? 0) + (day === dayOf(first) ? own : 0))
    }
    // Days that only ClickHouse has differ, and are deleted from it.
    for (const day of (await storedDays(this.client)).keys()) if (!days.has(day)) days.set(day, 0)
    return days
  }

  /** Replaces the day's partitions if an earlier copy was interrupted, so no insert has to be recognized as repeated. */
  async copy(day: Instant, attempt: number): Promise<WrittenDay> {
    const { parquet, client } = this
    const { manifest, folder } = parquet
    if (attempt > 1) await clearDay(client, day)
    const scope = { orgId: null, window: { from: day, to: day + DAY_MS } }
    await parquet.check.excludeDamaged(manifest.present().filter((file) => isInScope(file, scope)))
    const token = `migration:${Bun.randomUUIDv7()}`
    let inserts = 0
    const insert = async (select: string, kind: 'events' | 'counts' | 'pages') => {
      for (const path of await parquet.writePieces(select)) {
        const files = { events: null, counts: null, pages: null, [kind]: path }
        await insertFiles(client, files, `${token}:${inserts++}`)
      }
    }
    for (const files of groupsOf(inScope(manifest.files(), scope))) {
      const events = eventsRelation({ files, folder, spool: [] }, { ...scope, wholeParams: true })
      await insert(`SELECT ${STORED_COLUMNS.join(', ')}, to_json(params)::VARCHAR AS params FROM (${events})`, 'events')
    }
    const counts = countsRelation({ rollups: manifest.rollups(), folder, spool: [] }, scope)
    await insert(`SELECT ${COUNTS} FROM (${counts})`, 'counts')
    await insert(`SELECT ${PAGES} FROM (${pagesRelation({ pages: manifest.pages(), folder }, scope)})`, 'pages')
    await parquet.removePieces()
    return NOTHING
  }

  compare(day: Instant): Promise<DayDifference[]> {
    const { parquet, client } = this
    const { manifest, folder } = parquet
    const written = { files: [...manifest.files()], rollups: [...manifest.rollups()], pages: [...manifest.pages()] }
    return compareDay({ parquet, client, now: this.clock.now() }, day, { folder, written })
  }
}

const dayOf = (instant: Instant) => Math.floor(instant / DAY_MS) * DAY_MS

const inScope = <File extends ManifestFile>(files: readonly File[], scope: FileScope) =>
  files.filter((file) => isInScope(file, scope))

/** Splits files into groups that are read together. */
function groupsOf<File extends ManifestFile>(files: readonly File[]): File[][] {
  const groups: File[][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const file of files) {
    rows += file.rows
    if (rows > GROUP_ROWS) {
      groups.push([])
      rows = file.rows
    }
    groups.at(-1)?.push(file)
  }
  return groups
}

/** Interval and limit for waiting until inserts of a killed process have ended. */
const WAIT = { everyMs: 200, timeoutMs: 120 * SECOND_MS }

/** Deletes the data of a day. Waits before for inserts that a killed process has left running. */
async function clearDay(client: ClickhouseClient, day: Instant): Promise<void> {
  const servers = await serversOf(client)
  for (const server of servers) await untilNoInsertRuns(server)
  const name = quoteText(new Date(day).toISOString().slice(0, 10))
  for (const server of servers) {
    const local = (table: Table) => localTable(table, server.address)
    for (const table of ['events', 'counts', 'pages'] as const)
      await server.run(`ALTER TABLE ${local(table)} DROP PARTITION ${name}`)
    await server.run(`DELETE FROM ${local('counts_quarter')} WHERE minute >= ${day} AND minute < ${day + DAY_MS}`)
  }
}

async function untilNoInsertRuns(server: ClickhouseClient): Promise<void> {
  const running = `SELECT toInt64(count(*)) AS running FROM system.processes
    WHERE query_kind = 'Insert' AND current_database = currentDatabase()`
  for (const end = performance.now() + WAIT.timeoutMs; ; await Bun.sleep(WAIT.everyMs)) {
    const [row] = await server.select<{ running: number }>(running)
    if (!row?.running) return
    if (performance.now() > end) throw new AppError('unavailable', 'another process is inserting into the database')
  }
}
