import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Clock, type Instant, MINUTE_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { EVENT_COLUMNS } from '../../core/event.ts'
import { PAGE_COLUMNS } from '../../core/stored-page-view.ts'
import type { Db } from '../../store/database.ts'
import { type ClickhouseAddress, ClickhouseClient } from '../clickhouse/clickhouse-client.ts'
import { ClickhouseIntake } from '../clickhouse/clickhouse-intake.ts'
import { wholeEvents } from '../clickhouse/clickhouse-relations.ts'
import { prepareServers } from '../clickhouse/prepare-server.ts'
import { UNSORTED_PREFIX } from '../duckdb/compact-events.ts'
import { COUNTS } from '../duckdb/counts-rollup.ts'
import { quoteText } from '../duckdb/duckdb-dialect.ts'
import { DuckdbWarehouse } from '../duckdb/duckdb-warehouse.ts'
import type { Lineage } from '../duckdb/file-lineage.ts'
import { type EventFile, type Manifest, type PageFile, type RollupFile, readManifest } from '../duckdb/manifest.ts'
import { pagesIn } from '../duckdb/pages-relation.ts'
import { inOrder, shredded, shreddingOf } from '../duckdb/parameter-columns.ts'
import { isOutOfMemory, type ParquetFiles } from '../duckdb/parquet-files.ts'
import { RELATION_COLUMNS, STORED_COLUMNS } from '../duckdb/spool-relation.ts'
import { listedPaths } from '../duckdb/unlisted-files.ts'
import { insertProgress, unmarkClickhouse } from '../stored-engine.ts'
import { compareDay, DAY_TIMEOUT_MS, type DayDifference, hasMinutes, ofDay, storedDays } from './compare-day.ts'
import { copyHistory, type DayCopier, type DayProgress } from './copy-history.ts'
import { targetOf } from './migrate-to-clickhouse.ts'
import { allOf, MigrationProgress, type WrittenDay } from './migration-progress.ts'
import { ARRIVING, MOVED, makeArriving, moveAside, moveIn, pathsOf } from './moved-files.ts'

export interface ToFolderOptions {
  db: Db
  /** Folder of events. */
  folder: string
  clock: Clock
  address: ClickhouseAddress
  report: DayProgress
}

/** Result of a migration to files. If there are differences, the events are still in ClickHouse only. */
export interface MigratedToFolder {
  differences: DayDifference[]
  /** Segments that ClickHouse has never accepted. Their files stay in use. */
  rejected: string[]
}

/** Name of the target of this migration. */
const FOLDER_TARGET = 'folder'

/**
 * Copies the history from ClickHouse to files in the folder, compares both, and marks the folder. ClickHouse is not
 * changed. Can be repeated after it was interrupted at any point. The folder must be locked, and the spool loaded. Throws
 * `ClickhouseError`.
 */
export async function migrateToFolder(options: ToFolderOptions): Promise<MigratedToFolder> {
  const { db, folder, clock, address, report } = options
  const manifest = readManifest(db)
  const client = new ClickhouseClient(address)
  await prepareServers(client)
  const staging = await DuckdbWarehouse.open({ folder, manifest, clock, spoolFiles: () => [], loadsCanaries: true })
  try {
    const rejected: string[] = []
    const intake = new ClickhouseIntake({
      client,
      staging,
      progress: insertProgress(db),
      rejected: (segments) => rejected.push(...segments.map(({ name }) => name)),
    })
    await intake.send()
    const progress = new MigrationProgress(db)
    progress.start(FOLDER_TARGET, clock.now())
    makeArriving(folder)
    reopenLost(progress, folder)
    const copier = new ClickhouseCopier(staging.parquet, client, clock)
    const differences = await copyHistory(copier, progress, report)
    if (differences.length === 0) switchToFolder(db, manifest, folder, rejected)
    return { differences, rejected }
  } finally {
    staging.close()
  }
}

/**
 * Throws `conflict` if a database has none of the newest events that this folder has sent to ClickHouse, because it is
 * then probably not the one in which the folder's events are.
 */
export async function checkSource({ db, address }: Pick<ToFolderOptions, 'db' | 'address'>): Promise<void> {
  const progress = insertProgress(db)
  const sent = readManifest(db)
    .files()
    .filter(({ path }) => basename(path, '.parquet') <= progress.insertedTo())
    .map(({ maxSeq }) => maxSeq)
  const known = [...sent, progress.moved.lastSeq].filter((seq) => seq > 0)
  if (known.length === 0) return
  const found = await new ClickhouseClient(address).select(
    `SELECT 1 AS found FROM events WHERE seq IN (${known.join(', ')}) LIMIT 1`,
  )
  if (found.length === 0)
    throw new AppError('conflict', `the database ${targetOf(address)} does not have the newest events of this folder`)
}

/** Copies days again whose files are missing, as in a restored backup. */
function reopenLost(progress: MigrationProgress, folder: string): void {
  for (const day of progress.days()) {
    const paths = pathsOf(progress.written(day) ?? allOf([]))
    if (paths.some((path) => !existsSync(join(folder, ARRIVING, path)))) progress.reopen(day)
  }
}

function switchToFolder(db: Db, manifest: Manifest, folder: string, rejected: readonly string[]): void {
  const progress = new MigrationProgress(db)
  const written = allOf(progress.days().flatMap((day) => progress.written(day) ?? []))
  const retained = new Set(
    rejected.flatMap((name) => [name, `${COUNTS}/${name}`, pagesIn(name)].map((path) => `${path}.parquet`)),
  )
  const inserted = listedPaths(manifest).filter((path) => !retained.has(path))
  moveAside(folder, inserted)
  moveIn(folder, written)
  manifest.replaceAll(written, retained, () => {
    unmarkClickhouse(db)
    progress.clear()
  })
  // ClickHouse has their events, and so do the new files.
  for (const path of inserted) rmSync(join(folder, MOVED, path), { force: true })
  rmSync(join(folder, ARRIVING), { recursive: true, force: true })
}

/** The files replace no other files, so that the next start removes them if they are not in the manifest. */
const OWN: Lineage = { replaces: [], parts: 1 }
/** Number of events from which a file is closed. */
const FILE_ROWS = 100_000
/** Uncompressed size of a row group. */
const GROUP_BYTES = { sorted: 32 * 1024 * 1024, unsorted: 16 * 1024 * 1024 }

/** Events of one organization in consecutive minutes. */
interface Span {
  orgId: string
  from: Instant
  to: Instant
  rows: number
}

/** Writes the history in ClickHouse to files. */
class ClickhouseCopier implements DayCopier {
  constructor(
    private readonly parquet: ParquetFiles,
    private readonly client: ClickhouseClient,
    private readonly clock: Clock,
  ) {}

  days(): Promise<Map<Instant, number>> {
    return storedDays(this.client)
  }

  /** Replaces the files of an earlier copy of the day. */
  async copy(day: Instant): Promise<WrittenDay> {
    const name = new Date(day).toISOString().slice(0, 10).replaceAll('-', '')
    this.removeArrived(name)
    const files: EventFile[] = []
    for (const span of await this.spansOf(day)) files.push(await this.writeEvents(`m${name}-${files.length}`, span))
    const rollups = await this.writeCounts(name, day)
    const pages = await this.writePages(name, day)
    await this.parquet.remove([this.draft])
    return { files, rollups, pages }
  }

  compare(day: Instant, written: WrittenDay): Promise<DayDifference[]> {
    const { parquet, client } = this
    const folder = join(parquet.folder, ARRIVING)
    return compareDay({ parquet, client, now: this.clock.now() }, day, { folder, written })
  }

  private get draft(): string {
    return join(this.parquet.folder, 'tmp', 'downloaded.parquet')
  }

  private removeArrived(name: string): void {
    for (const part of ['', COUNTS, pagesIn('')]) {
      const folder = join(this.parquet.folder, ARRIVING, part)
      for (const file of readdirSync(folder)) if (file.includes(`${name}-`)) rmSync(join(folder, file), { force: true })
    }
  }

  /** Divides a day into spans of about `FILE_ROWS` events. */
  private async spansOf(day: Instant): Promise<Span[]> {
    const minutes = await this.client.select<{ orgId: string; minute: Instant; rows: number }>(
      `SELECT orgId, minute, toInt64(count(*)) AS rows FROM (
         SELECT orgId, intDiv(receivedAt, ${MINUTE_MS}) * ${MINUTE_MS} AS minute FROM events WHERE ${ofDay(day, 'receivedAt')}
       ) GROUP BY orgId, minute ORDER BY orgId, minute`,
      { timeoutMs: DAY_TIMEOUT_MS },
    )
    const spans: Span[] = []
    for (const { orgId, minute, rows } of minutes) {
      const open = spans.at(-1)
      if (open?.orgId === orgId && open.rows + rows <= FILE_ROWS) {
        open.to = minute + MINUTE_MS
        open.rows += rows
      } else spans.push({ orgId, from: minute, to: minute + MINUTE_MS, rows })
    }
    return spans
  }

  private async writeEvents(name: string, { orgId, from, to, rows }: Span): Promise<EventFile> {
    const { parquet, client, draft, clock } = this
    const columns = [...RELATION_COLUMNS, 'params'].join(', ')
    await client.saveParquet(`SELECT ${columns} FROM (${wholeEvents(orgId, { from, to })})`, draft)
    const given: Record<string, string> = {
      violations: 'CASE WHEN len(violations) > 0 THEN violations END AS violations',
    }
    const read = Object.entries(EVENT_COLUMNS).map(
      ([column, type]) => given[column] ?? `${column}::${type} AS ${column}`,
    )
    const source = `(SELECT ${read.join(', ')}, violated, params FROM read_parquet(${quoteText(draft)}))`
    const entry = async (path: string, keys: string[] | null): Promise<EventFile> => {
      const form = { rows, level: 'compacted', keys, hasSegments: true } as const
      return { ...(await parquet.describe(join(ARRIVING, path), form)), path, lookedAt: clock.now() }
    }
    try {
      const shredding = await shreddingOf(parquet, source, rows)
      const path = `c${name}.parquet`
      const form = { lineage: OWN, keys: shredding.keys.length, groupBytes: GROUP_BYTES.sorted }
      await parquet.write(join(ARRIVING, path), shredded(inOrder(source), shredding), form)
      return await entry(path, shredding.keys)
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
    }
    const path = `${UNSORTED_PREFIX}${name}.parquet`
    const select = `SELECT ${STORED_COLUMNS.join(', ')}, to_json(params) AS params FROM ${source}`
    await parquet.write(join(ARRIVING, path), select, { lineage: OWN, groupBytes: GROUP_BYTES.unsorted })
    return entry(path, null)
  }

  private async writeCounts(name: string, day: Instant): Promise<RollupFile[]> {
    const isFine = hasMinutes(day, this.clock.now())
    await this.client.saveParquet(
      `SELECT orgId, domainId, vendor, event, env, minute, toInt64(sum(events)) AS events, sum(weight) AS weight
       FROM ${isFine ? 'counts' : 'counts_quarter'} WHERE ${ofDay(day, 'minute')}
       GROUP BY orgId, domainId, vendor, event, env, minute`,
      this.draft,
      DAY_TIMEOUT_MS,
    )
    // No query reads the number of sessions.
    return this.writeByOrganization(
      (at) => `${COUNTS}/${isFine ? 'd' : 'q'}${name}-${at}.parquet`,
      '*, 0::BIGINT AS sessions',
      'orgId, domainId, vendor, event, minute',
      (path, rows) => this.parquet.describeRollup(path, rows, isFine ? 'day' : 'quarters'),
    )
  }

  private async writePages(name: string, day: Instant): Promise<PageFile[]> {
    const columns = Object.keys(PAGE_COLUMNS).join(', ')
    const select = `SELECT ${columns} FROM pages WHERE ${ofDay(day, 'receivedAt')}`
    await this.client.saveParquet(select, this.draft, DAY_TIMEOUT_MS)
    const read = Object.entries(PAGE_COLUMNS).map(([column, type]) => `${column}::${type} AS ${column}`)
    return this.writeByOrganization(
      (at) => pagesIn(`day${name}-${at}.parquet`),
      read.join(', '),
      'orgId, domainId, vendor, receivedAt',
      (path, rows) => this.parquet.describePages(path, rows, 'day'),
    )
  }

  /** Writes a file for each organization in the downloaded file. */
  private async writeByOrganization<File extends { path: string }>(
    pathOf: (at: number) => string,
    columns: string,
    order: string,
    describe: (path: string, rows: number) => Promise<File>,
  ): Promise<File[]> {
    const { parquet } = this
    const source = `read_parquet(${quoteText(this.draft)})`
    const orgIds = await parquet.run<{ orgId: string }>(`SELECT DISTINCT orgId FROM ${source} ORDER BY orgId`)
    const files: File[] = []
    for (const [at, { orgId }] of orgIds.entries()) {
      const path = pathOf(at)
      const select = `SELECT ${columns} FROM ${source} WHERE orgId = ${quoteText(orgId)} ORDER BY ${order}`
      const rows = await parquet.write(join(ARRIVING, path), select, { lineage: OWN })
      files.push({ ...(await describe(join(ARRIVING, path), rows)), path })
    }
    return files
  }
}
