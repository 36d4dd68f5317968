import { basename } from 'node:path'
import { SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import type { SegmentContent } from '../../ingest/segment-counts.ts'
import { DuckdbImport } from '../duckdb/duckdb-import.ts'
import { DuckdbWarehouse, type EngineOptions } from '../duckdb/duckdb-warehouse.ts'
import type { ParquetFiles } from '../duckdb/parquet-files.ts'
import type { EventImport } from '../event-import.ts'
import type { Query } from '../query.ts'
import type { InsertProgress } from '../stored-engine.ts'
import type {
  Lane,
  Loaded,
  PendingEvents,
  Piece,
  ScanResult,
  SealedSegment,
  StoredPart,
  Warehouse,
} from '../warehouse.ts'
import { type ClickhouseAddress, ClickhouseClient, ClickhouseError } from './clickhouse-client.ts'
import { ClickhouseHistory } from './clickhouse-history.ts'
import { ClickhouseIntake, type RejectedSegment } from './clickhouse-intake.ts'
import { ClickhouseStorage } from './clickhouse-storage.ts'
import { prepareServers, probeServers, reasonOf } from './prepare-server.ts'

export interface ClickhouseOptions extends EngineOptions {
  address: ClickhouseAddress
  progress: InsertProgress
  /** Writes to the log. */
  info(message: string): void
}

const PROBE_TIMEOUT_MS = 10 * SECOND_MS
const RETRY_AFTER_S = 5
/** Number of rejected segments that a message names. */
const SHOWN_SEGMENTS = 5

/**
 * The history on a ClickHouse server or cluster. Segments are written to files by DuckDB first, which wait in the data folder until
 * ClickHouse has them, so the server may be away at any time, including at the start.
 */
export class ClickhouseWarehouse implements Warehouse {
  readonly readsSpool = false
  readonly failingMerges = 0
  private readonly history: ClickhouseHistory
  private readonly intake: ClickhouseIntake
  private readonly stored: ClickhouseStorage
  /** Parts on the server as of the last check; null before the first. */
  private parts: readonly StoredPart[] | null = null
  /** The same parts, divided among organizations. */
  private storedPieces: readonly Piece[] = []
  private isPrepared = false
  /** Why the last attempt to insert failed, as a sentence without a full stop; null if it succeeded. */
  private failure: string | null = null
  private hasReportedRejection = false

  private constructor(
    private readonly client: ClickhouseClient,
    private readonly staging: DuckdbWarehouse,
    private readonly options: ClickhouseOptions,
  ) {
    const { clock, callersTimeoutMs, progress, report = () => {} } = options
    this.history = new ClickhouseHistory({
      client,
      clock,
      report,
      ...(callersTimeoutMs === undefined ? {} : { callersTimeoutMs }),
    })
    this.intake = new ClickhouseIntake({
      client,
      staging,
      progress,
      rejected: (segments) => this.noteRejected(segments),
    })
    this.stored = new ClickhouseStorage(client)
  }

  /**
   * Opens the files in the data folder, and prepares the server unless it is away. Throws `AppError` with a sentence if
   * the server refuses: because of the password, the rights, or its version.
   */
  static async open(options: ClickhouseOptions): Promise<ClickhouseWarehouse> {
    const staging = await DuckdbWarehouse.open({ ...options, loadsCanaries: true })
    const warehouse = new ClickhouseWarehouse(new ClickhouseClient(options.address), staging, options)
    try {
      await warehouse.prepare()
      await warehouse.readParts()
    } catch (error) {
      if (!isAway(error)) {
        staging.close()
        throw new AppError('invalid', `TAGWARDEN_WAREHOUSE: ${reasonOf(error)}`)
      }
      warehouse.noteFailure(error)
    }
    return warehouse
  }

  /** The files that wait in the data folder. */
  get parquet(): ParquetFiles {
    return this.staging.parquet
  }

  query<T>(query: Query, signal?: AbortSignal, lane?: Lane): Promise<T[]> {
    return this.history.query(query, signal, lane)
  }

  /** Parts are as of the last check, so later windows may always have events. */
  hasEvents({ from, to }: Query['window']): boolean {
    const { parts } = this
    if (parts === null || this.staging.hasEvents({ from, to })) return true
    const days = parts.filter(({ kind }) => kind === 'events')
    const lastAt = days.reduce((last, part) => Math.max(last, part.lastAt), 0)
    return to > lastAt || days.some((part) => part.lastAt >= from && part.firstAt < to)
  }

  get runningQueries(): number {
    return this.history.runningQueries
  }

  /** Resolves when the segment's files are written. Inserts them at once unless earlier files wait. */
  async load(segment: SealedSegment, account: (content: SegmentContent) => void, release: () => void): Promise<void> {
    const isBehind = this.failure !== null || this.pending.since !== null
    await this.intake.load(segment, account, release)
    if (!isBehind) await this.send()
  }

  discard(segment: SealedSegment): Promise<void> {
    return this.staging.discard(segment)
  }

  get loaded(): Loaded {
    const { loaded } = this.staging
    const { lastSeq, lastReceivedAt } = this.options.progress.moved
    return {
      ...loaded,
      lastReceivedAt: Math.max(loaded.lastReceivedAt, lastReceivedAt),
      lastSeq: Math.max(loaded.lastSeq, lastSeq),
    }
  }

  get pending(): PendingEvents {
    return this.intake.pending
  }

  /** Writes the files of segments. Call `compact` afterwards to insert them. */
  importEvents(name: string): EventImport {
    const { client, parquet } = this
    const names = [this.loaded.last ?? '0', ...parquet.sources().spool.map((path) => basename(path, '.ndjson'))]
    return new DuckdbImport(parquet, name, {
      firstNumber: Math.max(...names.map(Number)) + 1,
      async saveTaken({ least, most }, path) {
        try {
          await client.saveParquet(`SELECT seq FROM events WHERE seq >= ${least} AND seq <= ${most}`, path)
        } catch (error) {
          throw error instanceof ClickhouseError ? new AppError('unavailable', reasonOf(error)) : error
        }
      },
    })
  }

  scanNewEvents<T>(query: Query): Promise<ScanResult<T> | null> {
    return this.staging.scanNewEvents(query)
  }

  /** Inserts waiting files. ClickHouse merges its parts on its own. */
  compact(): Promise<void> {
    return this.send()
  }

  /** Checks the waiting files, and reads the parts on the server unless it is away. */
  async check(): Promise<void> {
    await this.staging.check()
    await this.readParts()
  }

  private async readParts(): Promise<void> {
    if (!this.isPrepared) return
    try {
      await this.stored.drop(() => false, this.options.clock.now())
      await this.measure()
    } catch (error) {
      if (!isAway(error)) throw error
    }
  }

  private async measure(): Promise<void> {
    const parts = await this.stored.parts()
    this.storedPieces = await this.stored.pieces(parts, this.options.clock.now())
    this.parts = parts
  }

  storage(): readonly StoredPart[] {
    return [...this.staging.storage(), ...(this.parts ?? [])].sort((a, b) => a.firstAt - b.firstAt)
  }

  /** Size in bytes of the waiting files, the spool, and the parts on the server unless it is away. */
  get bytes(): number {
    const parts = this.failure === null ? (this.parts ?? []) : []
    return parts.reduce((sum, { bytes }) => sum + bytes, this.staging.bytes)
  }

  /** Waiting files, the spool, and parts on the server as of the last check, by organization. */
  async pieces(): Promise<Piece[]> {
    const isReachable = this.failure === null
    const stored = this.storedPieces.map((piece) => (isReachable ? piece : { ...piece, server: 'away' as const }))
    return [...(await this.staging.pieces()), ...stored]
  }

  async drop(isDropped: (part: StoredPart) => boolean, orgIds: ReadonlySet<string> = new Set()): Promise<void> {
    await this.staging.drop(isDropped)
    const names = new Set((this.parts ?? []).filter(isDropped).map(({ name }) => name))
    if (names.size > 0) {
      await this.stored.drop(({ name }) => names.has(name), this.options.clock.now())
      await this.measure()
    }
    if (orgIds.size > 0 && this.isPrepared) await this.stored.deleteOrganizations([...orgIds])
  }

  async probe(): Promise<void> {
    await this.staging.probe()
    try {
      await this.prepare()
      await probeServers(this.client, { timeoutMs: PROBE_TIMEOUT_MS })
    } catch (error) {
      throw new AppError('unavailable', this.sentenceOf(error), RETRY_AFTER_S)
    }
    if (this.failure !== null) throw new AppError('unavailable', this.failure, RETRY_AFTER_S)
  }

  warm(): Promise<void> {
    return Promise.resolve()
  }

  interrupt(): void {
    this.history.interrupt()
    this.intake.interrupt()
    this.staging.interrupt()
  }

  close(): void {
    this.staging.close()
  }

  private async prepare(): Promise<void> {
    if (this.isPrepared) return
    await prepareServers(this.client)
    this.isPrepared = true
  }

  /** Inserts waiting files. Never rejects: the failure is logged once and shown by the next probe. */
  private async send(): Promise<void> {
    try {
      await this.prepare()
      await this.intake.send()
      if (this.failure !== null) this.options.info('ClickHouse accepts events again')
      this.failure = null
    } catch (error) {
      if (!this.intake.isInterrupted) this.noteFailure(error)
    }
  }

  private noteFailure(error: unknown): void {
    const { report, info } = this.options
    const isFirst = this.failure === null
    this.failure = this.sentenceOf(error)
    if (!isFirst) return
    info(this.failure)
    // The full message helps to correct the settings of the server.
    if (!isAway(error)) report?.(error, 'inserting into ClickHouse')
  }

  private sentenceOf(error: unknown): string {
    return `${reasonOf(error)}; received events wait in the data folder`
  }

  private noteRejected(segments: readonly RejectedSegment[]): void {
    const { info, report, notifyOperator } = this.options
    for (const { name, error } of segments) {
      info(`segment ${name} can't be inserted into ClickHouse, and stays in the data folder`)
      report?.(error, `inserting segment ${name} into ClickHouse`)
    }
    // Once per start: if many segments are rejected, the log lists all.
    if (this.hasReportedRejection) return
    this.hasReportedRejection = true
    const names = segments.slice(0, SHOWN_SEGMENTS).map(({ name }) => name)
    notifyOperator?.({
      subject: "ClickHouse rejects events that can't be inserted",
      text: `ClickHouse rejects the files of these segments, although it accepts others: ${names.join(', ')}. Their events are missing from answers and alerts. The files stay in the folder events and are sent again after the next start. The log has the errors, and lists further segments.`,
    })
  }
}

/** True if the server can't be used at the moment. */
const isAway = (error: unknown) => error instanceof ClickhouseError && error.isTemporary
