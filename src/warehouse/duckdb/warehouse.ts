import { mkdirSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { type Clock, HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/error.ts'
import { FairQueue, givenUp } from '../../core/fair-queue.ts'
import { sumOf } from '../../core/file-sum.ts'
import type { StoredPage } from '../../core/page.ts'
import { EMPTY_SEGMENT, type SegmentContent } from '../../ingest/segment-count.ts'
import { type Query, type WrittenQuery, writeQuery } from '../query.ts'
import type { Warehouse } from '../warehouse.ts'
import { type AskOptions, ask } from './ask.ts'
import type { Crowd, Naming } from './counted-names.ts'
import { duckdbDialect, quoteText } from './dialect.ts'
import { FileCheck, type Flaw } from './file-check.ts'
import { countsFrom, foldedIn, nameEvents, type ProfileRow, profileOf, spanOf } from './file-profile.ts'
import { type Lineage, metadataOf } from './lineage.ts'
import {
  type EventFile,
  isInScope,
  type Manifest,
  type ManifestFile,
  type PageFile,
  type RollupFile,
} from './manifest.ts'
import { type PageSources, pageLines, pagesIn, pagesRelation } from './pages-relation.ts'
import { eventsRelation, type Sources } from './relation.ts'
import { COUNTS, type CountSources, countsOf, countsRelation, named } from './rollup.ts'
import { freshRelation, spooledEvents, spoolRelation } from './spooled.ts'

export interface EngineOptions {
  /** Where Parquet files lie, those of counts in `counts/`; `tmp/` below it is the engine's own. */
  folder: string
  manifest: Manifest
  clock: Clock
  /** Files that hold events the warehouse does not have yet. */
  spoolFiles(): string[]
  memoryLimit?: string
  /** A query that takes longer is given up. */
  timeoutMs?: number
  /** Told why a query failed. */
  report?(error: unknown, where: string): void
  /** Told of files that are not as they were written, and are left out from now on. */
  damaged?(flaws: readonly Flaw[]): void
  /** Told of such files that are whole again, and in use. */
  restored?(files: readonly ManifestFile[]): void
}

const RETRY_AFTER_S = 5
/**
 * Fresh files are small and short-lived: smaller groups take less memory and both cores, and nobody looks for one value
 * in them, which is what Bloom filters are for.
 */
const FRESH = 'ROW_GROUP_SIZE 20480, WRITE_BLOOM_FILTER false'
/** Queries of callers' questions, and of jobs, at once: neither waits for the other. */
const MAX_RUNNING = { questions: 4, jobs: 2 }
const QUERY_TIMEOUT_MS = 60_000
/** A query is asked so often, each time without the files that turned out to be damaged. */
const MAX_ATTEMPTS = 4
/** Files that were sound so lately are not why a query fails: one that always fails would have them read each time. */
const RECHECK_MS = MINUTE_MS
const MEMORY = '200MB'
/** Each thread that reads the spool has 32 MiB for a line, in each query. */
const READER_MEMORY = '400MB'
const READER_THREADS = Math.min(4, availableParallelism())

const RELATIONS = { events: eventsRelation, counts: countsRelation, pages: pagesRelation }

/** What is known of a new file of events. */
interface Surveyed {
  file: EventFile | null
  naming: Naming | null
  content: SegmentContent
}

const NOTHING: Surveyed = { file: null, naming: null, content: EMPTY_SEGMENT }

/** The embedded warehouse: DuckDB over Parquet files and the open spool. */
export class DuckdbWarehouse implements Warehouse {
  private readonly running = new Set<Promise<unknown>>()
  private readonly queue = { questions: new FairQueue(MAX_RUNNING.questions), jobs: new FairQueue(MAX_RUNNING.jobs) }
  /** Of what the engine is at. */
  private interruption = new AbortController()
  private isInterrupted = false
  readonly files: FileCheck

  private constructor(
    /** Answers callers' questions, on several cores. */
    private readonly reader: DuckDBInstance,
    /** Answers jobs' queries, so that no question takes their memory. */
    private readonly judge: DuckDBInstance,
    /** Loads and compacts on one, so that the collector keeps the others. */
    private readonly writer: DuckDBInstance,
    private readonly options: EngineOptions,
  ) {
    const { folder, manifest, clock, damaged = () => {}, restored = () => {} } = options
    const decode = (path: string) => this.decode(path)
    this.files = new FileCheck({ folder, manifest, clock, decode, damaged, restored })
  }

  static async open(options: EngineOptions): Promise<DuckdbWarehouse> {
    const tmp = join(options.folder, 'tmp')
    for (const path of [tmp, join(options.folder, COUNTS), join(options.folder, pagesIn(''))])
      mkdirSync(path, { recursive: true })
    const engine = (threads: number, memory: string) =>
      DuckDBInstance.create(':memory:', {
        memory_limit: options.memoryLimit ?? memory,
        threads: String(threads),
        temp_directory: tmp,
        // Otherwise memory that is freed goes back to the system only when the engine next works: not while it is idle.
        allocator_background_threads: 'true',
        // No network, no extension from anywhere: everything that is needed is linked in.
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        preserve_insertion_order: 'false',
      })
    const [reader, judge] = [await engine(READER_THREADS, READER_MEMORY), await engine(READER_THREADS, MEMORY)]
    return new DuckdbWarehouse(reader, judge, await engine(1, MEMORY), options)
  }

  query<T>(query: Query, signal?: AbortSignal): Promise<T[]> {
    const statement = writeQuery(query, duckdbDialect)
    const work = () => this.track(this.read<T>(query, statement, signal))
    return (signal ? this.queue.questions : this.queue.jobs).run(work, { signal })
  }

  /** Queries under way, of jobs too. */
  get runningQueries(): number {
    return this.running.size
  }

  /**
   * Takes in one sealed spool segment: Parquet file, others with its counts and its `pages`, then manifest and `account`
   * in one transaction; `release` is called as soon as queries read the files instead. Dying anywhere and doing it again
   * changes nothing.
   */
  async load(
    segment: { name: string; path: string; pages?: readonly StoredPage[] },
    account: (content: SegmentContent) => void,
    release: () => void,
  ): Promise<void> {
    const { manifest, clock, folder } = this.options
    if (manifest.hasSegment(segment.name)) return release()
    const path = `${segment.name}.parquet`
    const rows = await this.write(path, `SELECT * FROM ${spooledEvents([segment.path])}`, { options: FRESH })
    const { file, naming, content } = rows > 0 ? await this.survey(path, rows) : NOTHING
    const rollup = file ? await this.rollUp(file, naming?.crowds ?? []) : null
    const pages = segment.pages?.length ? await this.writePages(path, segment.pages) : null
    manifest.addSegment(segment.name, { file, rollup, pages, naming }, clock.now(), () => account(content))
    // In the same turn, or a query could see these events twice: in the new files and in the spool.
    release()
    if (!file) unlinkSync(join(folder, path))
  }

  private async writePages(name: string, pages: readonly StoredPage[]): Promise<PageFile> {
    const draft = join(this.options.folder, 'tmp', `${name}.ndjson`)
    const path = pagesIn(name)
    try {
      await writeFile(draft, pages.map((page) => `${JSON.stringify(page)}\n`).join(''))
      const rows = await this.write(path, `SELECT * FROM ${pageLines(draft)}`, { options: FRESH })
      return await this.describePages(path, rows, 'fresh')
    } finally {
      await rm(draft, { force: true })
    }
  }

  /** The counts of a fresh file, written beside it; null when nothing in it counts. */
  private async rollUp(
    { path, orgId, minReceivedAt, maxReceivedAt }: EventFile,
    crowds: readonly Crowd[],
  ): Promise<RollupFile | null> {
    const { folder } = this.options
    const own = `${COUNTS}/${path}`
    const rows = await this.write(own, countsOf(named(freshRelation([join(folder, path)]), crowds)), { options: FRESH })
    if (rows === 0) {
      unlinkSync(join(folder, own))
      return null
    }
    const [minMinute, maxMinute] = [minuteOf(minReceivedAt), minuteOf(maxReceivedAt)]
    return { path: own, orgId, minMinute, maxMinute, rows, ...(await this.measure(own)), level: 'fresh' }
  }

  /**
   * Writes the answer of a SELECT into a file that appears whole or not at all, with `options` of DuckDB's Parquet
   * writer. A file that is written in the place of others says so in itself. Answers its number of rows.
   */
  async write(
    path: string,
    select: string,
    { lineage, options = '' }: { lineage?: Lineage; options?: string } = {},
  ): Promise<number> {
    const { folder } = this.options
    const [draft, file] = [join(folder, 'tmp', path.replaceAll('/', '-')), join(folder, path)]
    const format = ['FORMAT parquet', 'COMPRESSION zstd', options, lineage ? metadataOf(lineage) : '']
      .filter(Boolean)
      .join(', ')
    const [row] = await this.run<{ Count: number }>(`COPY (${select}) TO ${quoteText(draft)} (${format})`)
    // Not in the event loop: the collector's answers would wait for it.
    await syncPath(draft)
    renameSync(draft, file)
    await syncPath(dirname(file))
    return row?.Count ?? 0
  }

  /** The manifest row of a written file. */
  async describe(path: string, rows: number, level: EventFile['level'], keys: string[] | null): Promise<EventFile> {
    const file = join(this.options.folder, path)
    const [span] = await this.run<{ first: number; last: number; maxSeq: number; orgs: number; orgId: string }>(
      `SELECT min(receivedAt) AS first, max(receivedAt) AS last, max(seq) AS maxSeq,
         count(DISTINCT orgId) AS orgs, min(orgId) AS orgId
       FROM read_parquet(${quoteText(file)})`,
    )
    if (!span) throw new Error(`${path} is empty`)
    return {
      path,
      orgId: span.orgs === 1 ? span.orgId : null,
      hour: Math.floor(span.first / HOUR_MS) * HOUR_MS,
      minReceivedAt: span.first,
      maxReceivedAt: span.last,
      maxSeq: span.maxSeq,
      rows,
      ...(await this.measure(path)),
      level,
      keys,
    }
  }

  /** By what it is seen later whether a written file is still as it was. */
  private async measure(path: string): Promise<{ sizeBytes: number; sum: number | null }> {
    const file = join(this.options.folder, path)
    return { sizeBytes: statSync(file).size, sum: await sumOf(file) }
  }

  /** The manifest row of a written file of counts. */
  async describeRollup(path: string, rows: number, level: RollupFile['level']): Promise<RollupFile> {
    const file = join(this.options.folder, path)
    const [span] = await this.run<{ minMinute: number; maxMinute: number; orgs: number; orgId: string }>(
      `SELECT min(minute) AS minMinute, max(minute) AS maxMinute, count(DISTINCT orgId) AS orgs, min(orgId) AS orgId
       FROM read_parquet(${quoteText(file)})`,
    )
    if (!span) throw new Error(`${path} is empty`)
    const { minMinute, maxMinute, orgs, orgId } = span
    const own = await this.measure(path)
    return { path, orgId: orgs === 1 ? orgId : null, minMinute, maxMinute, rows, ...own, level }
  }

  /** The manifest row of a written file of `pages`. */
  async describePages(path: string, rows: number, level: PageFile['level']): Promise<PageFile> {
    const file = join(this.options.folder, path)
    const [span] = await this.run<{ minReceivedAt: number; maxReceivedAt: number; orgs: number; orgId: string }>(
      `SELECT min(receivedAt) AS minReceivedAt, max(receivedAt) AS maxReceivedAt, count(DISTINCT orgId) AS orgs,
         min(orgId) AS orgId FROM read_parquet(${quoteText(file)})`,
    )
    if (!span) throw new Error(`${path} is empty`)
    const { orgs, orgId, ...times } = span
    return { path, orgId: orgs === 1 ? orgId : null, ...times, rows, ...(await this.measure(path)), level }
  }

  /** When the oldest event was received that is in no Parquet file yet; null when all are. */
  async firstUnloadedAt(): Promise<Instant | null> {
    const paths = this.options.spoolFiles()
    if (paths.length === 0) return null
    const sql = `SELECT min(receivedAt) AS first FROM ${spoolRelation(paths, false)}`
    return (await this.look<{ first: Instant | null }>(sql))[0]?.first ?? null
  }

  /** Runs SQL of our own making, however long it takes; for queries from rules and callers there is `query`. */
  run<T>(sql: string): Promise<T[]> {
    return this.ask<T>(this.writer, sql)
  }

  /** As `run`; the files that it reads stay until it ended. */
  look<T>(sql: string): Promise<T[]> {
    return this.track(this.run<T>(sql))
  }

  /** Deletes files that left the manifest, once no query that may still read them is running. */
  async remove(paths: readonly string[]): Promise<void> {
    await Promise.allSettled([...this.running])
    // Not in the event loop: to let go of a large file takes milliseconds.
    for (const path of paths) await rm(path, { force: true })
  }

  /** What stands behind `events`, `counts` and `pages` right now. */
  sources(): Sources & CountSources & PageSources {
    const { manifest, folder, spoolFiles } = this.options
    const [files, rollups, pages] = [manifest.files(), manifest.rollups(), manifest.pages()]
    return { files, rollups, pages, folder, spool: spoolFiles() }
  }

  /** What the engine is at fails: queries, and writing that is as if it had never begun. */
  interrupt(): void {
    this.isInterrupted = true
    this.interruption.abort()
    this.interruption = new AbortController()
  }

  close(): void {
    this.reader.closeSync()
    this.judge.closeSync()
    this.writer.closeSync()
  }

  private async read<T>(
    query: Query,
    { params, ...statement }: WrittenQuery,
    signal: AbortSignal | undefined,
    attempts = 1,
  ): Promise<T[]> {
    const { over = 'events', read, orgId, window } = query
    const sources = this.sources()
    try {
      const sql = `WITH ${over} AS NOT MATERIALIZED (${RELATIONS[over](sources, { ...statement, orgId, window })})\n${statement.sql}`
      const { timeoutMs = QUERY_TIMEOUT_MS } = this.options
      return await this.ask<T>(signal ? this.reader : this.judge, sql, { params, read, timeoutMs }, signal)
    } catch (error) {
      if (signal?.aborted) throw givenUp()
      const files = { events: sources.files, counts: sources.rollups, pages: sources.pages }[over]
      const inScope = files.filter((file) => isInScope(file, query))
      if (attempts < MAX_ATTEMPTS && (await this.isDamagesDoing(error, inScope, attempts === 1)))
        return this.read(query, { params, ...statement }, signal, attempts + 1)
      // What the engine says may quote SQL, paths and values: it is for the operator only.
      if (!this.isInterrupted) this.options.report?.(error, 'query')
      throw new AppError('unavailable', 'the warehouse did not answer', RETRY_AFTER_S)
    }
  }

  /** Whether a query over these files failed because of one of them; it is left out from now on. */
  private async isDamagesDoing(error: unknown, files: readonly ManifestFile[], isFirst: boolean): Promise<boolean> {
    const message = messageOf(error)
    if (message.startsWith('INTERRUPT')) return false
    // The engine names the file, but not always; where one is damaged there may be many.
    const named = isFirst ? files.filter(({ path }) => message.includes(path)) : []
    if (named.length > 0 && (await this.files.leaveOutDamaged(named))) return true
    return this.files.leaveOutDamaged(files, this.options.clock.now() - RECHECK_MS)
  }

  /** Every value of a file. */
  private async decode(path: string): Promise<void> {
    await this.run(`SELECT bit_xor(hash(file)) FROM read_parquet(${quoteText(path)}) AS file`)
  }

  private ask<T>(engine: DuckDBInstance, sql: string, options: AskOptions = {}, signal?: AbortSignal): Promise<T[]> {
    const signals = [this.interruption.signal, ...(signal ? [signal] : [])]
    return ask<T>(engine, sql, { ...options, signals })
  }

  private async survey(path: string, rows: number): Promise<Surveyed> {
    const absolute = join(this.options.folder, path)
    const events = freshRelation([absolute])
    const found = await this.run<ProfileRow>(profileOf(events))
    const naming = await nameEvents((sql) => this.run(sql), this.options.manifest.names, events)
    const span = spanOf(found)
    const hour = Math.floor(span.minReceivedAt / HOUR_MS) * HOUR_MS
    const file = { path, ...span, hour, rows, ...(await this.measure(path)), level: 'fresh' as const, keys: null }
    const counts = countsFrom(found)
    return { file, naming, content: { counts, vendors: naming.vendors, folded: foldedIn(counts, naming.crowds) } }
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.running.add(work)
    const done = () => this.running.delete(work)
    work.then(done, done)
    return work
  }
}

const minuteOf = (instant: Instant) => Math.floor(instant / MINUTE_MS) * MINUTE_MS

async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
