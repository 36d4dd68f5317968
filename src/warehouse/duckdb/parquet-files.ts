import { mkdirSync, renameSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import { type Clock, HOUR_MS, type Instant } from '../../core/clock.ts'
import { messageOf } from '../../core/error.ts'
import { fileChecksum } from '../../core/file-checksum.ts'
import type { Query } from '../query.ts'
import { quoteText } from './dialect.ts'
import type { ExecuteOptions } from './execute.ts'
import { FileCheck, type Flaw } from './file-check.ts'
import { type Lineage, metadataOf } from './lineage.ts'
import type { EventFile, Manifest, ManifestFile, PageFile, RollupFile } from './manifest.ts'
import { type PageSources, pagesIn } from './pages-relation.ts'
import type { Sources } from './relation.ts'
import { COUNTS, type CountSources } from './rollup.ts'
import { spoolRelation } from './spool-relation.ts'

export interface ParquetOptions {
  /** Where Parquet files lie, those of counts in `counts/`; `tmp/` below it is the engine's own. */
  folder: string
  manifest: Manifest
  clock: Clock
  /** Files that hold events the warehouse does not have yet; of a window: those that may hold events received in it. */
  spoolFiles(window?: Query['window']): string[]
  memoryLimit?: string
  /** Told of files that are not as they were written, and are left out from now on. */
  damaged?(flaws: readonly Flaw[]): void
  /** Told of such files that are whole again, and in use. */
  restored?(files: readonly ManifestFile[]): void
}

const MEMORY = '200MB'
/** Each thread that reads the spool has 32 MiB for a line, in each query. */
const READER_MEMORY = '400MB'
const READER_THREADS = Math.min(4, availableParallelism())

/**
 * Starts when it is first needed: many data folders are opened for one thing, and each engine that runs has threads. The
 * first loads the library, which has 40 MB.
 */
class Engine {
  private instance: Promise<DuckDBInstance> | null = null
  private isClosed = false

  /** What is asked of it. */
  readonly queries = new OutOfMemoryRetry()

  constructor(private readonly settings: Record<string, string>) {}

  /** Fails when it is closed. */
  async started(): Promise<DuckDBInstance> {
    if (this.isClosed) throw new Error('the engine is closed')
    this.instance ??= startEngine(this.settings)
    return this.instance
  }

  close(): void {
    this.isClosed = true
    void this.instance?.then(
      (instance) => instance.closeSync(),
      () => {},
    )
  }
}

/** How a file is written. */
interface FileForm {
  lineage?: Lineage
  /** Of DuckDB's Parquet writer. */
  options?: string
  /** How many columns it has for parameters; default 0. */
  keys?: number
  /** Unpacked rows of this size are written at a time; absent: the engine's default, in rows. */
  groupBytes?: number
}

/**
 * The writer sets memory aside for the dictionary of each column of texts: with hundreds of them, all that the engine has.
 * Less of it where rows are limited too, because they are sorted in the same memory.
 */
const DICTIONARIES_BYTES = { usual: 64 * 1024 * 1024, limited: 16 * 1024 * 1024 }
/** The engine's default. */
const DICTIONARY_BYTES = 1024 * 1024

function dictionaryBytes({ keys = 0, groupBytes }: FileForm): number {
  const all = groupBytes === undefined ? DICTIONARIES_BYTES.usual : DICTIONARIES_BYTES.limited
  return Math.min(DICTIONARY_BYTES, Math.floor(all / Math.max(1, keys)))
}

/** True when the engine failed because its memory was not enough. */
export const isOutOfMemory = (error: unknown) => /out of memory/i.test(messageOf(error))

const library = () => import('./execute.ts')

async function startEngine(settings: Record<string, string>): Promise<DuckDBInstance> {
  const { DuckDBInstance, execute } = await library()
  const instance = await DuckDBInstance.create(':memory:', settings)
  // Otherwise each query reads the footers of all its files anew. Not known to `create`: it is a setting of an extension.
  await execute(instance, 'SET GLOBAL parquet_metadata_cache = true')
  return instance
}

/** Who waits for an answer: each has an engine, so that none takes the memory of another. */
export type Reader = 'search' | 'insights' | 'jobs'

/** The files of the history, and the engines that write and read them. */
export class ParquetFiles {
  private readonly running = new Set<Promise<unknown>>()
  /** Of what the engines are at. */
  private interruption = new AbortController()
  /** True once they were interrupted. */
  isInterrupted = false
  readonly check: FileCheck

  private constructor(
    private readonly readers: Record<Reader, Engine>,
    /** Loads and compacts on one core, so that the collector keeps the others. */
    private readonly writer: Engine,
    private readonly options: ParquetOptions,
  ) {
    const { folder, manifest, clock, damaged = () => {}, restored = () => {} } = options
    const decode = (path: string) => this.decode(path)
    this.check = new FileCheck({ folder, manifest, clock, decode, damaged, restored })
  }

  static async open(options: ParquetOptions): Promise<ParquetFiles> {
    const tmp = join(options.folder, 'tmp')
    for (const path of [tmp, join(options.folder, COUNTS), join(options.folder, pagesIn(''))])
      mkdirSync(path, { recursive: true })
    const engine = (threads: number, memory: string) =>
      new Engine({
        memory_limit: options.memoryLimit ?? memory,
        threads: String(threads),
        temp_directory: tmp,
        // Otherwise memory that is freed goes back to the system only when the engine next works: not while it is idle.
        allocator_background_threads: 'true',
        // The system keeps what was read of files; the engine would keep it once more, up to all of its memory.
        enable_external_file_cache: 'false',
        // No network, no extension from anywhere: everything that is needed is linked in.
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        preserve_insertion_order: 'false',
      })
    const search = engine(READER_THREADS, READER_MEMORY)
    const readers = { search, insights: engine(READER_THREADS, READER_MEMORY), jobs: engine(READER_THREADS, MEMORY) }
    return new ParquetFiles(readers, engine(1, MEMORY), options)
  }

  /** Starts the engine of those who search, which loads the library. */
  async start(): Promise<void> {
    await this.readers.search.started()
  }

  get folder(): string {
    return this.options.folder
  }

  get manifest(): Manifest {
    return this.options.manifest
  }

  /** What stands behind `events`, `counts` and `pages` right now; of a window, without spool files that have nothing of it. */
  sources(window?: Query['window']): Sources & CountSources & PageSources {
    const { manifest, folder, spoolFiles } = this.options
    const [files, rollups, pages] = [manifest.files(), manifest.rollups(), manifest.pages()]
    return { files, rollups, pages, folder, spool: spoolFiles(window) }
  }

  /** When the oldest event was received that is in no Parquet file yet; null when all are. */
  async firstUnloadedAt(): Promise<Instant | null> {
    const paths = this.options.spoolFiles()
    if (paths.length === 0) return null
    const sql = `SELECT min(receivedAt) AS first FROM ${spoolRelation(paths, false)}`
    return (await this.look<{ first: Instant | null }>(sql))[0]?.first ?? null
  }

  /** Queries under way; of `run` those whose files stay. */
  get runningQueries(): number {
    return this.running.size
  }

  /**
   * Answers a query; the files that it reads stay until it ended. One that finds no memory beside others is asked again by itself.
   * Fails when the engine does, or one of the signals ends.
   */
  read<T>(reader: Reader, sql: string, options: ExecuteOptions): Promise<T[]> {
    const engine = this.readers[reader]
    return engine.queries.run(() => this.execute<T>(engine, sql, options))
  }

  /** Runs SQL of our own making, however long it takes. */
  run<T>(sql: string): Promise<T[]> {
    return this.execute<T>(this.writer, sql)
  }

  /** As `run`, with values: for what has time, on the one core that the collector can spare. */
  digest<T>(sql: string, options: Pick<ExecuteOptions, 'params' | 'read'>): Promise<T[]> {
    return this.execute<T>(this.writer, sql, options)
  }

  /** As `run`, on all cores: for a process that answers nobody meanwhile. */
  runWide<T>(sql: string): Promise<T[]> {
    return this.execute<T>(this.readers.search, sql)
  }

  /** Does what takes much memory for each core, such as sorting, on one of them. */
  async runAlone<T>(work: () => Promise<T>): Promise<T> {
    await this.runWide('SET threads = 1')
    try {
      return await work()
    } finally {
      await this.runWide(`SET threads = ${READER_THREADS}`)
    }
  }

  /** As `run`; the files that it reads stay until it ended. */
  look<T>(sql: string): Promise<T[]> {
    return this.track(this.run<T>(sql))
  }

  /** Keeps all files until the work has ended. */
  track<T>(work: Promise<T>): Promise<T> {
    this.running.add(work)
    const done = () => this.running.delete(work)
    work.then(done, done)
    return work
  }

  /** What the engines are at fails: queries, and writing that is as if it had never begun. */
  interrupt(): void {
    this.isInterrupted = true
    this.interruption.abort()
    this.interruption = new AbortController()
  }

  close(): void {
    for (const engine of [...Object.values(this.readers), this.writer]) engine.close()
  }

  /** Deletes files that left the manifest, once no query that may still read them is running. */
  async remove(paths: readonly string[]): Promise<void> {
    await Promise.allSettled([...this.running])
    // Not in the event loop: to let go of a large file takes milliseconds.
    for (const path of paths) await rm(path, { force: true })
  }

  /**
   * Writes the answer of a SELECT into a file that appears whole or not at all, with `options` of DuckDB's Parquet
   * writer. A file that is written in the place of others says so in itself. Answers its number of rows.
   */
  async write(path: string, select: string, form: FileForm = {}): Promise<number> {
    const [row] = await this.run<{ Count: number }>(this.copySql(path, select, form))
    await this.publish([path])
    return row?.Count ?? 0
  }

  /** As `write`, on all cores; nothing appears before `publish`. */
  async writeDraft(path: string, select: string, form: FileForm): Promise<number> {
    const [row] = await this.runWide<{ Count: number }>(this.copySql(path, select, form))
    return row?.Count ?? 0
  }

  /** Drafts become the files of these paths, for good. */
  async publish(paths: readonly string[]): Promise<void> {
    const { folder } = this.options
    // Not in the event loop: the collector's answers would wait for it.
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

  /** The manifest row of a written file. */
  async describe(path: string, rows: number, level: EventFile['level'], keys: string[] | null): Promise<EventFile> {
    const columns = `min(receivedAt) AS first, max(receivedAt) AS last, max(seq) AS maxSeq`
    const { orgId, first, last, maxSeq } = await this.spanOf<{ first: number; last: number; maxSeq: number }>(
      path,
      columns,
    )
    const span = { hour: Math.floor(first / HOUR_MS) * HOUR_MS, minReceivedAt: first, maxReceivedAt: last }
    return { path, orgId, ...span, maxSeq, rows, ...(await this.measure(path)), level, keys }
  }

  /** The manifest row of a written file of counts. */
  async describeRollup(path: string, rows: number, level: RollupFile['level']): Promise<RollupFile> {
    const span = await this.spanOf<{ minMinute: number; maxMinute: number }>(
      path,
      'min(minute) AS minMinute, max(minute) AS maxMinute',
    )
    return { path, ...span, rows, ...(await this.measure(path)), level }
  }

  /** The manifest row of a written file of `pages`. */
  async describePages(path: string, rows: number, level: PageFile['level']): Promise<PageFile> {
    const span = await this.spanOf<{ minReceivedAt: number; maxReceivedAt: number }>(
      path,
      'min(receivedAt) AS minReceivedAt, max(receivedAt) AS maxReceivedAt',
    )
    return { path, ...span, rows, ...(await this.measure(path)), level }
  }

  /** By what it is seen later whether a written file is still as it was. */
  async measure(path: string): Promise<{ sizeBytes: number; sum: number | null }> {
    const file = join(this.options.folder, path)
    return { sizeBytes: statSync(file).size, sum: await fileChecksum(file) }
  }

  /** Whose a file is, null: several organizations', and what else is asked of all its rows. */
  private async spanOf<T extends object>(path: string, columns: string): Promise<T & { orgId: string | null }> {
    const file = join(this.options.folder, path)
    const [found] = await this.run<T & { orgs: number; orgId: string }>(
      `SELECT ${columns}, count(DISTINCT orgId) AS orgs, min(orgId) AS orgId FROM read_parquet(${quoteText(file)})`,
    )
    if (!found) throw new Error(`${path} is empty`)
    const { orgs, orgId, ...span } = found
    return { ...(span as unknown as T), orgId: orgs === 1 ? orgId : null }
  }

  /** Every value of a file. */
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
 * Work that shares the memory of one engine: side by side, until something finds none. That is done again by itself, when
 * what was under way has ended and before anything new begins.
 */
export class OutOfMemoryRetry {
  private readonly underWay = new Set<Promise<unknown>>()
  private begun = 0
  /** Ends with what is done by itself; never rejects. */
  private alone: Promise<unknown> = Promise.resolve()

  /** Returns what `work` does. It is called twice at most, and once when it had the memory to itself. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.alone
    const wasAlone = this.underWay.size === 0
    const place = ++this.begun
    try {
      return await this.track(work())
    } catch (error) {
      if (!isMemoryError(error) || (wasAlone && this.begun === place)) throw error
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
