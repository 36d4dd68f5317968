import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import { type Clock, HOUR_MS, type Instant } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { fileChecksum } from '../../core/file-checksum.ts'
import { type Query, writeQuery } from '../query.ts'
import { COUNTS, type CountSources } from './counts-rollup.ts'
import { duckdbDialect, quoteText } from './duckdb-dialect.ts'
import { eventsRelation, type Sources } from './events-relation.ts'
import type { ExecuteOptions } from './execute-sql.ts'
import { FileCheck, type Flaw } from './file-check.ts'
import { type Lineage, metadataOf } from './file-lineage.ts'
import type { EventFile, Manifest, ManifestFile, PageFile, RollupFile } from './manifest.ts'
import { type PageSources, pagesIn } from './pages-relation.ts'
import { spoolRelation } from './spool-relation.ts'

export interface ParquetOptions {
  /** Folder of Parquet files. Count files are in `counts/`, the engine's temporary files in `tmp/`. */
  folder: string
  manifest: Manifest
  clock: Clock
  /**
   * Spool files with events that are not loaded yet. With a window, only files that may have events received in the
   * window.
   */
  spoolFiles(window?: Query['window']): string[]
  /** Folder of the engine's temporary files, which must exist. Nothing is then written to `folder`. Default: `tmp/` in it. */
  temporaryFolder?: string
  memoryLimit?: string
  /** Called with files that were found to be damaged and have been excluded. */
  damaged?(flaws: readonly Flaw[]): void
  /** Called with damaged files that are intact again and back in use. */
  restored?(files: readonly ManifestFile[]): void
}

const MEMORY = '200MB'
/** Each thread that reads the spool allocates a 32 MiB line buffer per query. */
const READER_MEMORY = '400MB'
const READER_THREADS = Math.min(4, availableParallelism())

/**
 * An engine that starts on first use. Many data folders are opened for a single task, and every running engine has its
 * own threads. The first engine to start loads the library (40 MB).
 */
class Engine {
  private instance: Promise<DuckDBInstance> | null = null
  private isClosed = false

  readonly queries = new OutOfMemoryRetry()

  constructor(private readonly settings: Record<string, string>) {}

  /** Throws after `close`. */
  async started(): Promise<DuckDBInstance> {
    if (this.isClosed) throw new Error('the engine is closed')
    this.instance ??= startEngine(this.settings)
    return this.instance
  }

  /** True if the engine has been started and not closed. */
  get isRunning(): boolean {
    return this.instance !== null && !this.isClosed
  }

  close(): void {
    this.isClosed = true
    void this.instance?.then(
      (instance) => instance.closeSync(),
      () => {},
    )
  }
}

/** Format options for a file. */
interface FileForm {
  lineage?: Lineage
  /** Options for DuckDB's Parquet writer. */
  options?: string
  /** Number of parameter columns. Default: 0. */
  keys?: number
  /** Uncompressed size of a row group. Default: the engine's own limit, which is a number of rows. */
  groupBytes?: number
}

/**
 * Memory for dictionaries. The writer reserves it per text column, so the default for hundreds of columns would use up
 * the engine's memory. Lower if row groups are limited, because rows are then sorted in the same memory.
 */
const DICTIONARIES_BYTES = { usual: 64 * 1024 * 1024, limited: 16 * 1024 * 1024 }
/** The engine's default size per column. */
const DICTIONARY_BYTES = 1024 * 1024

function dictionaryBytes({ keys = 0, groupBytes }: FileForm): number {
  const all = groupBytes === undefined ? DICTIONARIES_BYTES.usual : DICTIONARIES_BYTES.limited
  return Math.min(DICTIONARY_BYTES, Math.floor(all / Math.max(1, keys)))
}

/** True if the engine ran out of memory. */
export const isOutOfMemory = (error: unknown) => /out of memory/i.test(messageOf(error))

/** Folder for the files of `writePieces`. */
export const PIECES = 'tmp/pieces'
const PIECE_ROWS = 65_536

const library = () => import('./execute-sql.ts')

async function startEngine(settings: Record<string, string>): Promise<DuckDBInstance> {
  const { DuckDBInstance, execute } = await library()
  const instance = await DuckDBInstance.create(':memory:', settings)
  // Without this, each query rereads the footers of all its files. The setting belongs to an extension, so it can't be
  // passed to `create`.
  await execute(instance, 'SET GLOBAL parquet_metadata_cache = true')
  return instance
}

/** Kinds of queries. Each kind has its own engine, so that different kinds don't compete for memory. */
export type Reader = 'search' | 'insights' | 'jobs'

/** The files of the history, with the engines that write and read them. */
export class ParquetFiles {
  private readonly running = new Set<Promise<unknown>>()
  /** Aborts running queries and writes. */
  private interruption = new AbortController()
  /** True after `interrupt`. */
  isInterrupted = false
  readonly check: FileCheck

  private constructor(
    private readonly readers: Record<Reader, Engine>,
    /** The engine that loads and compacts. It uses one core and leaves the other cores to the collector. */
    private readonly writer: Engine,
    private readonly options: ParquetOptions,
  ) {
    const { folder, manifest, clock, damaged = () => {}, restored = () => {} } = options
    const decode = (path: string) => this.decode(path)
    this.check = new FileCheck({ folder, manifest, clock, decode, damaged, restored })
  }

  static async open(options: ParquetOptions): Promise<ParquetFiles> {
    const tmp = options.temporaryFolder ?? join(options.folder, 'tmp')
    const own = [tmp, join(options.folder, COUNTS), join(options.folder, pagesIn(''))]
    if (options.temporaryFolder === undefined) for (const path of own) mkdirSync(path, { recursive: true })
    const engine = (threads: number, memory: string) =>
      new Engine({
        memory_limit: options.memoryLimit ?? memory,
        threads: String(threads),
        temp_directory: tmp,
        // Without this, an idle engine returns freed memory to the system only when it is next used.
        allocator_background_threads: 'true',
        // The system already caches files. The engine's own cache would use up all of its memory.
        enable_external_file_cache: 'false',
        // Prevents downloads of extensions. All required extensions are linked in.
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        preserve_insertion_order: 'false',
      })
    const search = engine(READER_THREADS, READER_MEMORY)
    const readers = { search, insights: engine(READER_THREADS, READER_MEMORY), jobs: engine(READER_THREADS, MEMORY) }
    return new ParquetFiles(readers, engine(1, MEMORY), options)
  }

  /** Starts the engine for searches. This loads the library. */
  async start(): Promise<void> {
    await this.readers.search.started()
  }

  get folder(): string {
    return this.options.folder
  }

  get now(): Instant {
    return this.options.clock.now()
  }

  get manifest(): Manifest {
    return this.options.manifest
  }

  /** Current files of `events`, `counts` and `pages`. With a window, spool files outside it are omitted. */
  sources(window?: Query['window']): Sources & CountSources & PageSources {
    const { manifest, folder, spoolFiles } = this.options
    const [files, rollups, pages] = [manifest.files(), manifest.rollups(), manifest.pages()]
    return { files, rollups, pages, folder, spool: spoolFiles(window) }
  }

  /** `receivedAt` of the oldest event that is not in a Parquet file yet; null if there is none. */
  async firstUnloadedAt(): Promise<Instant | null> {
    const paths = this.options.spoolFiles()
    if (paths.length === 0) return null
    const sql = `SELECT min(receivedAt) AS first FROM ${spoolRelation(paths, false)}`
    return (await this.runTracked<{ first: Instant | null }>(sql))[0]?.first ?? null
  }

  /** Number of running queries. The files that they use are not deleted. */
  get runningQueries(): number {
    return this.running.size
  }

  /**
   * Runs a query, and keeps its files until the query ends. A query that runs out of memory while other queries are
   * running is retried alone. Throws if the engine fails or one of the signals aborts.
   */
  read<T>(reader: Reader, sql: string, options: ExecuteOptions): Promise<T[]> {
    const engine = this.readers[reader]
    return engine.queries.run(() => this.execute<T>(engine, sql, options))
  }

  /** Runs a trivial query on every engine that has been started. Throws if one of them fails. */
  async probe(): Promise<void> {
    const running = [...Object.values(this.readers), this.writer].filter(({ isRunning }) => isRunning)
    await Promise.all(running.map((engine) => this.execute(engine, 'SELECT 1')))
  }

  /** Runs an internal query without a time limit. */
  run<T>(sql: string): Promise<T[]> {
    return this.execute<T>(this.writer, sql)
  }

  /** Runs a query on the events of these files, on a single core. The files are kept until it ends. */
  scan<T>(files: readonly EventFile[], query: Query): Promise<T[]> {
    const { folder } = this.options
    const { orgId, window, read } = query
    const { params, sql, ...statement } = writeQuery(query, duckdbDialect)
    const relation = eventsRelation({ files, folder, spool: [] }, { ...statement, orgId, window })
    const whole = `WITH events AS NOT MATERIALIZED (${relation})\n${sql}`
    return this.track(this.execute<T>(this.writer, whole, { params, read }))
  }

  /** Like `run`, but on all cores. For processes that serve no requests. */
  runWide<T>(sql: string): Promise<T[]> {
    return this.execute<T>(this.readers.search, sql)
  }

  /** Runs work that needs a lot of memory per core, such as sorting, on a single core. */
  async runAlone<T>(work: () => Promise<T>): Promise<T> {
    await this.runWide('SET threads = 1')
    try {
      return await work()
    } finally {
      await this.runWide(`SET threads = ${READER_THREADS}`)
    }
  }

  /** Like `run`, but keeps the files until the query ends. */
  runTracked<T>(sql: string): Promise<T[]> {
    return this.track(this.run<T>(sql))
  }

  /** Keeps all files until the work ends. */
  track<T>(work: Promise<T>): Promise<T> {
    this.running.add(work)
    const done = () => this.running.delete(work)
    work.then(done, done)
    return work
  }

  /** Cancels running queries and writes. A cancelled write leaves no trace. */
  interrupt(): void {
    this.isInterrupted = true
    this.interruption.abort()
    this.interruption = new AbortController()
  }

  close(): void {
    for (const engine of [...Object.values(this.readers), this.writer]) engine.close()
  }

  /** Deletes files that are no longer in the manifest once all running queries have ended. */
  async remove(paths: readonly string[]): Promise<void> {
    await Promise.allSettled([...this.running])
    // Asynchronous, because deleting a large file takes several milliseconds.
    for (const path of paths) await rm(path, { force: true })
  }

  /**
   * Atomically writes the result of a SELECT to a file and returns the number of rows. If the file replaces other
   * files, its metadata lists their names.
   */
  async write(path: string, select: string, form: FileForm = {}): Promise<number> {
    const [row] = await this.run<{ Count: number }>(this.copySql(path, select, form))
    await this.publish([path])
    return row?.Count ?? 0
  }

  /** Like `write`, but on all cores. The file appears only after `publish`. */
  async writeDraft(path: string, select: string, form: FileForm): Promise<number> {
    const [row] = await this.runWide<{ Count: number }>(this.copySql(path, select, form))
    return row?.Count ?? 0
  }

  /**
   * Writes the result of a SELECT to temporary files of at most `PIECE_ROWS` rows, and returns their absolute paths.
   * Replaces those of an earlier call.
   */
  async writePieces(select: string): Promise<string[]> {
    await this.removePieces()
    const folder = join(this.options.folder, PIECES)
    const format = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${PIECE_ROWS}, ROW_GROUPS_PER_FILE 1`
    await this.run(`COPY (${select}) TO ${quoteText(folder)} (${format})`)
    return readdirSync(folder).map((name) => join(folder, name))
  }

  async removePieces(): Promise<void> {
    await rm(join(this.options.folder, PIECES), { recursive: true, force: true })
  }

  /** Durably renames draft files to their final paths. */
  async publish(paths: readonly string[]): Promise<void> {
    const { folder } = this.options
    // Asynchronous, because syncing would block the event loop.
    await Promise.all(paths.map((path) => syncPath(this.draftOf(path))))
    for (const path of paths) renameSync(this.draftOf(path), join(folder, path))
    for (const place of new Set(paths.map((path) => dirname(join(folder, path))))) await syncPath(place)
  }

  private copySql(path: string, select: string, form: FileForm): string {
    const { lineage, options = '', groupBytes } = form
    const format = [
      'FORMAT parquet',
      'PARQUET_VERSION v2',
      'COMPRESSION zstd',
      `STRING_DICTIONARY_PAGE_SIZE_LIMIT ${dictionaryBytes(form)}`,
      groupBytes === undefined ? '' : `ROW_GROUP_SIZE_BYTES ${groupBytes}`,
      options,
      lineage ? metadataOf(lineage) : '',
    ]
    return `COPY (${select}) TO ${quoteText(this.draftOf(path))} (${format.filter(Boolean).join(', ')})`
  }

  private draftOf(path: string): string {
    return join(this.options.folder, 'tmp', path.replaceAll('/', '-'))
  }

  /** Returns the manifest entry for a written event file. */
  async describe(path: string, form: Pick<EventFile, 'rows' | 'level' | 'keys' | 'hasSegments'>): Promise<EventFile> {
    const columns = `min(receivedAt) AS first, max(receivedAt) AS last, max(seq) AS maxSeq`
    const { orgId, first, last, maxSeq } = await this.spanOf<{ first: number; last: number; maxSeq: number }>(
      path,
      columns,
    )
    const span = { hour: Math.floor(first / HOUR_MS) * HOUR_MS, minReceivedAt: first, maxReceivedAt: last }
    return { path, orgId, ...span, maxSeq, ...form, ...(await this.measure(path)) }
  }

  /** Returns the manifest entry for a written count file. */
  async describeRollup(path: string, rows: number, level: RollupFile['level']): Promise<RollupFile> {
    const span = await this.spanOf<{ minMinute: number; maxMinute: number }>(
      path,
      'min(minute) AS minMinute, max(minute) AS maxMinute',
    )
    return { path, ...span, rows, ...(await this.measure(path)), level }
  }

  /** Returns the manifest entry for a written file of `pages`. */
  async describePages(path: string, rows: number, level: PageFile['level']): Promise<PageFile> {
    const span = await this.spanOf<{ minReceivedAt: number; maxReceivedAt: number }>(
      path,
      'min(receivedAt) AS minReceivedAt, max(receivedAt) AS maxReceivedAt',
    )
    return { path, ...span, rows, ...(await this.measure(path)), level }
  }

  /** Returns the size and checksum, which are used to detect damage later. */
  async measure(path: string): Promise<{ sizeBytes: number; sum: number | null }> {
    const file = join(this.options.folder, path)
    return { sizeBytes: statSync(file).size, sum: await fileChecksum(file) }
  }

  /** Returns a file's organization (null for several) and aggregates over all rows. */
  private async spanOf<T extends object>(path: string, columns: string): Promise<T & { orgId: string | null }> {
    const file = join(this.options.folder, path)
    const [found] = await this.run<T & { orgs: number; orgId: string }>(
      `SELECT ${columns}, count(DISTINCT orgId) AS orgs, min(orgId) AS orgId FROM read_parquet(${quoteText(file)})`,
    )
    if (!found) throw new Error(`${path} is empty`)
    const { orgs, orgId, ...span } = found
    return { ...(span as unknown as T), orgId: orgs === 1 ? orgId : null }
  }

  /** Decodes every value of a file. */
  private async decode(path: string): Promise<void> {
    await this.run(`SELECT bit_xor(hash(file)) FROM read_parquet(${quoteText(path)}) AS file`)
  }

  private async execute<T>(engine: Engine, sql: string, options: ExecuteOptions = {}): Promise<T[]> {
    const signals = [this.interruption.signal, ...(options.signals ?? [])]
    const instance = await engine.started()
    const { execute } = await library()
    return execute<T>(instance, sql, { ...options, signals })
  }
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Runs work that shares an engine's memory concurrently. Work that runs out of memory is retried alone, after all
 * running work has ended and before any other work starts.
 */
export class OutOfMemoryRetry {
  private readonly underWay = new Set<Promise<unknown>>()
  private started = 0
  /** Resolves when the work that runs alone has ended. Never rejects. */
  private alone: Promise<unknown> = Promise.resolve()

  /** Returns the result of `work`. Calls `work` at most twice, or only once if the first call ran alone. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.alone
    const wasAlone = this.underWay.size === 0
    const position = ++this.started
    try {
      return await this.track(work())
    } catch (error) {
      if (!isMemoryError(error) || (wasAlone && this.started === position)) throw error
    }
    const again = this.alone.then(() => Promise.allSettled([...this.underWay])).then(work)
    this.alone = again.catch(() => undefined)
    return again
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.underWay.add(work)
    const done = () => this.underWay.delete(work)
    work.then(done, done)
    return work
  }
}

const isMemoryError = (error: unknown) => messageOf(error).startsWith('Out of Memory Error')
