import { basename, join } from 'node:path'
import type { SegmentContent } from '../../ingest/segment-counts.ts'
import type { DuckdbWarehouse } from '../duckdb/duckdb-warehouse.ts'
import type { ManifestFile } from '../duckdb/manifest.ts'
import type { InsertProgress } from '../stored-engine.ts'
import type { PendingEvents, SealedSegment } from '../warehouse.ts'
import { type ClickhouseClient, ClickhouseError } from './clickhouse-client.ts'
import { insertFiles } from './insert-files.ts'

/** The files of one segment. */
interface StagedSegment {
  name: string
  events: string | null
  counts: string | null
  pages: string | null
  maxSeq: number
  isScanned: boolean
  sum: number
}

export interface IntakeOptions {
  client: ClickhouseClient
  /** Writes the files of segments, and lists them in the manifest until they are in ClickHouse. */
  staging: DuckdbWarehouse
  progress: InsertProgress
  /** Called for segments that ClickHouse rejects although it accepts others. */
  rejected?(segments: readonly RejectedSegment[]): void
}

/** A segment that can't be inserted. Its files stay on the disk, and are sent again after the next start. */
export interface RejectedSegment {
  name: string
  error: unknown
}

/** Number of segments in a row that ClickHouse may reject before it is considered to be at fault itself. */
const MAX_REJECTED = 100

/** Maximum number of segments whose files are removed at a time, because one transaction removes them from the manifest. */
const MAX_REMOVED = 200

/**
 * Receives events for ClickHouse. A segment is first written to files and accounted for, as without ClickHouse, and then
 * inserted. While the server is away, files wait on the disk. A process that is killed repeats the last inserts, which
 * ClickHouse recognizes by their tokens.
 */
export class ClickhouseIntake {
  /** Segments that this process has inserted, but whose files are still needed. */
  private readonly inserted = new Set<string>()
  private readonly rejected = new Set<string>()
  private visibleSeq = 0
  /** Segments up to this one are inserted or rejected. An earlier process may have inserted them. */
  private insertedTo: string
  private sending: Promise<void> | null = null
  private readonly interruption = new AbortController()

  constructor(private readonly options: IntakeOptions) {
    this.insertedTo = options.progress.insertedTo()
  }

  /** Writes the files of a sealed segment, as `Warehouse.load`. Call `send` afterwards. */
  load(segment: SealedSegment, account: (content: SegmentContent) => void, release: () => void): Promise<void> {
    return this.options.staging.load(segment, account, release)
  }

  /**
   * Inserts waiting segments, oldest first, and deletes their files after their events have been scanned for personal
   * data. The files of the newest segment stay, because event numbers continue from there. Throws the error of a failed
   * insert; the segment and all later ones then keep waiting. A segment that ClickHouse rejects doesn't delay later
   * ones.
   */
  send(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null
    })
    return this.sending
  }

  /** Loaded events that queries don't find yet. Rejected segments are not included. */
  get pending(): PendingEvents {
    const { manifest } = this.options.staging.parquet
    const isPending = (file: ManifestFile) => nameOf(file) > this.insertedTo
    const firsts = [manifest.files().find(isPending), manifest.pages().find(isPending)]
    const since = firsts.reduce(
      (first, file) => Math.min(first, file?.minReceivedAt ?? first),
      Number.POSITIVE_INFINITY,
    )
    return { since: Number.isFinite(since) ? since : null, visibleSeq: this.visibleSeq }
  }

  /** Cancels running inserts. Later ones fail. */
  interrupt(): void {
    this.interruption.abort()
  }

  get isInterrupted(): boolean {
    return this.interruption.signal.aborted
  }

  private async sendAll(): Promise<void> {
    await this.insertAll()
    await this.removeDone()
  }

  private async insertAll(): Promise<void> {
    const { progress } = this.options
    let failed: StagedSegment[] = []
    let fault: unknown = null
    let count = 0
    for (const segment of this.segments()) {
      const { name, maxSeq } = segment
      if (this.rejected.has(name)) continue
      const error = this.inserted.has(name) ? null : await this.insert(segment)
      if (error !== null) {
        failed.push(segment)
        fault ??= error
        if (failed.length === MAX_REJECTED) throw fault
        continue
      }
      await this.reject(failed)
      failed = []
      fault = null
      if (name > this.insertedTo) {
        progress.noteInserted(name)
        this.insertedTo = name
        this.visibleSeq = maxSeq || this.visibleSeq
      }
      if (++count % MAX_REMOVED === 0) await this.removeDone()
    }
    if (fault !== null) throw fault
  }

  /**
   * Inserts a segment. Returns null if that succeeds, otherwise why ClickHouse rejects it. Throws if the server is away
   * or the insert was cancelled.
   */
  private async insert(segment: StagedSegment): Promise<unknown> {
    const { name, sum } = segment
    try {
      await insertFiles(this.options.client, segment, `${name}:${sum}`, [this.interruption.signal])
      this.inserted.add(name)
      return null
    } catch (error) {
      if (this.isInterrupted || (error instanceof ClickhouseError && error.isTemporary)) throw error
      return error
    }
  }

  /** Sets segments aside that can't be inserted now either, when ClickHouse has just accepted a later one. */
  private async reject(segments: readonly StagedSegment[]): Promise<void> {
    const rejected: RejectedSegment[] = []
    for (const segment of segments) {
      const error = await this.insert(segment)
      if (error !== null) rejected.push({ name: segment.name, error })
    }
    for (const { name } of rejected) this.rejected.add(name)
    if (rejected.length > 0) this.options.rejected?.(rejected)
  }

  private async removeDone(): Promise<void> {
    const { manifest, folder } = this.options.staging.parquet
    const all = this.segments()
    const lastSeq = all.reduce((last, { maxSeq }) => Math.max(last, maxSeq), 0)
    const done = all
      .filter(({ name, isScanned, maxSeq }) => this.inserted.has(name) && isScanned && maxSeq < lastSeq)
      .slice(0, MAX_REMOVED)
    const paths = done.flatMap(({ events, counts, pages }) => [events, counts, pages].filter((path) => path !== null))
    manifest.drop(new Set(paths.map((path) => path.slice(folder.length + 1))))
    for (const { name } of done) this.inserted.delete(name)
    await this.options.staging.parquet.remove(paths)
  }

  /** Segments with files, oldest first. */
  private segments(): StagedSegment[] {
    const { manifest, folder } = this.options.staging.parquet
    const byName = <F extends ManifestFile>(files: readonly F[]) => new Map(files.map((file) => [nameOf(file), file]))
    const [events, counts, pages] = [byName(manifest.files()), byName(manifest.rollups()), byName(manifest.pages())]
    const pathOf = (file: ManifestFile | undefined) => (file ? join(folder, file.path) : null)
    return [...new Set([...events.keys(), ...pages.keys()])].sort().map((name) => {
      const [own, page] = [events.get(name), pages.get(name)]
      return {
        name,
        events: pathOf(own),
        counts: pathOf(counts.get(name)),
        pages: pathOf(page),
        maxSeq: own?.maxSeq ?? 0,
        isScanned: own === undefined || own.lookedAt !== undefined,
        sum: own?.sum ?? page?.sum ?? 0,
      }
    })
  }
}

/** Name of the segment from which a file was written. */
const nameOf = ({ path }: ManifestFile) => basename(path, '.parquet')
