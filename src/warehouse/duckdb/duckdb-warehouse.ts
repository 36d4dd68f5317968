import { join } from 'node:path'
import { attemptEach } from '../../core/attempt-each.ts'
import { MINUTE_MS } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { abortedError } from '../../core/fair-queue.ts'
import type { SegmentContent } from '../../ingest/segment-counts.ts'
import type { EventImport } from '../event-import.ts'
import { type Query, type WrittenQuery, writeQuery } from '../query.ts'
import { type LaneOptions, QueryLanes, queryFailed, tookTooLong } from '../query-lanes.ts'
import type { Lane, Loaded, Piece, ScanResult, SealedSegment, StoredPart, Warehouse } from '../warehouse.ts'
import { compactEvents } from './compact-events.ts'
import { compactPages } from './compact-pages.ts'
import { compactRollups } from './compact-rollups.ts'
import { countsRelation } from './counts-rollup.ts'
import { DiskUse } from './disk-use.ts'
import { duckdbDialect, quoteText } from './duckdb-dialect.ts'
import { DuckdbImport } from './duckdb-import.ts'
import { eventsRelation, filterFor, type Sources } from './events-relation.ts'
import { type EventFile, isInScope, type Manifest, type ManifestFile, spanOf } from './manifest.ts'
import { maskedCounts, maskedEvents } from './masked-events.ts'
import { MergeRetries } from './merge-retries.ts'
import { pagesRelation } from './pages-relation.ts'
import { parameterRelations } from './parameter-relations.ts'
import { ParquetFiles, type ParquetOptions, type Reader } from './parquet-files.ts'
import { spoolRelation } from './spool-relation.ts'
import { writeSegment } from './write-segment.ts'

export interface EngineOptions extends ParquetOptions, LaneOptions {
  /** Sends a message to the operator. */
  notifyOperator?(notice: { subject: string; text: string }): void
  /** Called with the error of each failed query. */
  report?(error: unknown, where: string): void
  /** True if the server's own canary events are also loaded. Default: they are only in the spool. */
  loadsCanaries?: boolean
}

/** Maximum number of attempts per query. Each attempt excludes files found to be damaged. */
const MAX_ATTEMPTS = 4
/**
 * When a query fails, files that were found intact within this time are not checked, so that repeated failures don't
 * reread them.
 */
const RECHECK_MS = MINUTE_MS

const RELATIONS = { events: eventsRelation, counts: countsRelation, pages: pagesRelation, names: namesRelation }

/** Maximum number of events per scan. All results of a scan are in memory at the same time. */
const SCAN_ROWS = 400_000

/** The first files that together have up to `SCAN_ROWS` rows; at least one file. */
function firstOf(files: readonly EventFile[]): EventFile[] {
  let rows = 0
  return files.filter((file, index) => {
    rows += file.rows
    return index === 0 || rows <= SCAN_ROWS
  })
}

/** The embedded warehouse: DuckDB on Parquet files and the open spool. */
export class DuckdbWarehouse implements Warehouse {
  readonly readsSpool = true
  readonly pending = { since: null, visibleSeq: Number.POSITIVE_INFINITY }
  private readonly lanes: QueryLanes
  private readonly use: DiskUse
  private readonly retries = new MergeRetries()

  private constructor(
    readonly parquet: ParquetFiles,
    private readonly options: EngineOptions,
  ) {
    this.lanes = new QueryLanes(options)
    this.use = new DiskUse(parquet, options.report ?? (() => {}))
  }

  static async open(options: EngineOptions): Promise<DuckdbWarehouse> {
    return new DuckdbWarehouse(await ParquetFiles.open(options), options)
  }

  query<T>(query: Query, signal?: AbortSignal, lane?: Lane): Promise<T[]> {
    const statement = writeQuery(query, duckdbDialect)
    const work = (own: Lane | 'jobs') => {
      const reader = own === 'signals' ? 'jobs' : own
      return this.parquet.track(this.read<T>(query, statement, { signal, reader }))
    }
    return this.lanes.run(work, signal, lane)
  }

  hasEvents(window: Query['window']): boolean {
    const { files, spool } = this.parquet.sources(window)
    return spool.length > 0 || files.some((file) => isInScope(file, { orgId: null, window }))
  }

  get runningQueries(): number {
    return this.parquet.runningQueries
  }

  async load(segment: SealedSegment, account: (content: SegmentContent) => void, release: () => void): Promise<void> {
    const { manifest, clock, loadsCanaries = false } = this.options
    if (manifest.hasSegment(segment.name)) return release()
    const { content, ...files } = await writeSegment(this.parquet, segment, loadsCanaries)
    manifest.addSegment(segment.name, files, clock.now(), () => account(content))
    // Called synchronously. Otherwise, a query could see these events in both the new files and the spool.
    release()
  }

  discard({ path }: SealedSegment): Promise<void> {
    return this.parquet.remove([path])
  }

  importEvents(name: string): EventImport {
    return new DuckdbImport(this.parquet, name)
  }

  get loaded(): Loaded {
    const { manifest } = this.options
    return {
      has: (segment) => manifest.hasSegment(segment),
      last: manifest.lastSegment(),
      lastReceivedAt: manifest.lastReceivedAt(),
      lastSeq: manifest.lastSeq(),
    }
  }

  async scanNewEvents<T>(query: Query): Promise<ScanResult<T> | null> {
    const { manifest, clock } = this.options
    const all = manifest.files().filter(({ lookedAt }) => !lookedAt)
    const files = firstOf(all)
    if (files.length === 0) return null
    const rows = await this.parquet.scan<T>(files, query)
    const eventsIn = (some: readonly { rows: number }[]) => some.reduce((sum, { rows }) => sum + rows, 0)
    return {
      rows,
      events: eventsIn(files),
      left: eventsIn(all) - eventsIn(files),
      commit: (account) => manifest.markScanned(files, clock.now(), account),
    }
  }

  compact(): Promise<void> {
    const { manifest, folder, clock, notifyOperator } = this.options
    const { parquet, retries } = this
    const events = () => compactEvents({ parquet, manifest, folder, retries, notifyOperator }, clock.now())
    const others = [compactRollups, compactPages].map((merge) => () => merge(parquet, manifest, folder, clock.now()))
    return attemptEach('merges', [events, ...others], (merge) => merge())
  }

  get failingMerges(): number {
    return this.retries.failing
  }

  check(): Promise<void> {
    return this.parquet.check.round()
  }

  storage(): readonly StoredPart[] {
    return storedParts(this.options.manifest)
  }

  get bytes(): number {
    return this.use.bytes()
  }

  pieces(): Promise<Piece[]> {
    return this.use.pieces()
  }

  async drop(isDropped: (part: StoredPart) => boolean): Promise<void> {
    const { manifest, folder } = this.options
    const names = new Set(this.storage().flatMap((part) => (isDropped(part) ? [part.name] : [])))
    manifest.drop(names)
    // Otherwise, names of inactive domains would remain in memory.
    manifest.names.clear()
    await this.parquet.remove([...names].map((name) => join(folder, name)))
  }

  probe(): Promise<void> {
    return this.parquet.probe()
  }

  async warm(): Promise<void> {
    if (this.options.manifest.files().length > 0) await this.parquet.start()
  }

  interrupt(): void {
    this.parquet.interrupt()
  }

  close(): void {
    this.parquet.close()
  }

  private async read<T>(
    query: Query,
    { params, ...statement }: WrittenQuery,
    asked: { signal: AbortSignal | undefined; reader: Reader },
    attempts = 1,
  ): Promise<T[]> {
    const { over = 'events', read, orgId, window, stepMs, masking } = query
    const { signal, reader } = asked
    const { report } = this.options
    const timeoutMs = this.lanes.timeoutMs(signal)
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    const sources = this.parquet.sources(window)
    await using cleanup = new AsyncDisposableStack()
    try {
      const scope = { ...statement, orgId, window, ...(stepMs && { stepMs }) }
      const signals = signal ? [signal, late.signal] : [late.signal]
      const parts = { parquet: this.parquet, reader, signals, cleanup }
      const relations =
        masking && over === 'events'
          ? [await maskedEvents(sources, scope, masking, parts)]
          : masking && over === 'counts'
            ? [await maskedCounts(sources, scope, masking, parts)]
            : over === 'parameters'
              ? parameterRelations(sources, scope)
              : [RELATIONS[over](sources, scope)]
      const rows: T[] = []
      for (const relation of relations) {
        const sql = `WITH ${over} AS NOT MATERIALIZED (${relation})\n${statement.sql}`
        const options = { params, read, signals }
        for (const row of await this.parquet.read<T>(reader, sql, options)) rows.push(row)
      }
      return rows
    } catch (error) {
      if (signal?.aborted) throw abortedError()
      if (late.signal.aborted) throw tookTooLong(timeoutMs)
      const { files: events, rollups: counts, pages } = sources
      const files = { events, counts, pages, names: events, parameters: events }[over]
      const inScope = files.filter((file) => isInScope(file, query))
      if (attempts < MAX_ATTEMPTS && (await this.foundDamage(error, inScope, attempts === 1)))
        return this.read(query, { params, ...statement }, asked, attempts + 1)
      // The engine's message may quote SQL, paths and values, so it is shown to the operator only.
      if (!this.parquet.isInterrupted) report?.(error, 'query')
      throw queryFailed()
    } finally {
      clearTimeout(timer)
    }
  }

  /** Returns whether a query on these files failed because one of them is damaged. Damaged files are then excluded. */
  private async foundDamage(error: unknown, files: readonly ManifestFile[], isFirst: boolean): Promise<boolean> {
    const { check } = this.parquet
    const message = messageOf(error)
    if (message.startsWith('INTERRUPT')) return false
    // The engine doesn't always name the file, and several files may be damaged.
    const named = isFirst ? files.filter(({ path }) => message.includes(path)) : []
    if (named.length > 0 && (await check.excludeDamaged(named))) return true
    return check.excludeDamaged(files, this.options.clock.now() - RECHECK_MS)
  }
}

/**
 * The relation `names` as one SELECT that returns each parameter name once. Names with columns come from the manifest,
 * even if no event in the window has them. All other names are read from the events.
 */
function namesRelation({ files, folder, spool }: Sources, { orgId, window }: Pick<Query, 'orgId' | 'window'>): string {
  const inScope = files.filter((file) => isInScope(file, { orgId, window }))
  const branches = [
    ...Map.groupBy(inScope, (file) => `${file.keys === null}${filterFor(file, { orgId, window })}`),
  ].map(([, [first, ...rest]]) => (first ? namesIn(folder, [first, ...rest], filterFor(first, { orgId, window })) : ''))
  const columns = new Set(inScope.flatMap(({ keys }) => keys ?? []))
  if (columns.size > 0) branches.push(`SELECT unnest([${[...columns].map(quoteText).join(', ')}]) AS name`)
  if (spool.length > 0) {
    const org = orgId === null ? '' : ` AND orgId = ${quoteText(orgId)}`
    const when = `receivedAt >= ${window.from} AND receivedAt < ${window.to}${org}`
    branches.push(`SELECT unnest(map_keys(params)) AS name FROM ${spoolRelation(spool)} WHERE ${when}`)
  }
  if (branches.length === 0) return 'SELECT NULL::VARCHAR AS name WHERE false'
  return `SELECT DISTINCT name FROM (${branches.join('\nUNION ALL\n')})`
}

/**
 * Parameter names in the maps of these files. Either all files must be compacted, or all must store parameters as JSON.
 */
function namesIn(folder: string, files: readonly EventFile[], filter: string): string {
  const list = files.map(({ path }) => quoteText(`${folder}/${path}`)).join(', ')
  const keys = files[0]?.keys === null ? 'json_keys(params)' : 'map_keys(params)'
  return `SELECT unnest(${keys}) AS name FROM read_parquet([${list}])${filter}`
}

/** All files in the manifest, including damaged ones. */
function storedParts(manifest: Manifest): StoredPart[] {
  return [
    ...manifest.present().map((file) => partOf(file, false)),
    ...manifest.damaged().map(({ file }) => partOf(file, true)),
  ]
}

function partOf(file: ManifestFile, isDamaged: boolean): StoredPart {
  const { path: name, orgId, rows, sizeBytes: bytes } = file
  const { first: firstAt, last: lastAt } = spanOf(file)
  return { name, kind: kindOf(file), orgId, firstAt, lastAt, rows, bytes, isDamaged }
}

function kindOf(file: ManifestFile): StoredPart['kind'] {
  if ('minMinute' in file) return 'counts'
  return 'maxSeq' in file ? 'events' : 'pages'
}
