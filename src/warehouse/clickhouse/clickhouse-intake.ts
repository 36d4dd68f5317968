import { basename, join } from 'node:path'
import type { Instant } from '../../core/clock.ts'
import type { SegmentContent } from '../../ingest/segment-counts.ts'
import type { DuckdbWarehouse } from '../duckdb/duckdb-warehouse.ts'
import type { ManifestFile } from '../duckdb/manifest.ts'
import type { SealedSegment } from '../warehouse.ts'
import type { ClickhouseClient } from './clickhouse-client.ts'
import { insertFiles } from './insert-files.ts'

/** The files of one segment. */
interface StagedSegment {
  name: string
  events: string | null
  counts: string | null
  pages: string | null
  /** First `receivedAt` of its events and pages. */
  firstAt: Instant
  maxSeq: number
  isScanned: boolean
  sum: number
}

export interface IntakeOptions {
  client: ClickhouseClient
  /** Writes the files of segments, and lists them in the manifest until they are in ClickHouse. */
  staging: DuckdbWarehouse
}

/**
 * Receives events for ClickHouse. A segment is first written to files and accounted for, as without ClickHouse, and then
 * inserted. While the server is away, files wait on the disk. A process that is killed repeats the last inserts, which
 * ClickHouse recognizes by their tokens.
 */
export class ClickhouseIntake {
  /** Segments that this process has inserted, but whose files are still needed. */
  private readonly inserted = new Set<string>()
  private sending: Promise<void> | null = null
  private readonly interruption = new AbortController()

  constructor(private readonly options: IntakeOptions) {}

  /** Writes the files of a sealed segment, as `Warehouse.load`. Call `send` afterwards. */
  load(segment: SealedSegment, account: (content: SegmentContent) => void, release: () => void): Promise<void> {
    return this.options.staging.load(segment, account, release)
  }

  /**
   * Inserts waiting segments, oldest first, and deletes their files after their events have been scanned for personal
   * data. The files of the newest segment stay, because event numbers continue from there. Throws `ClickhouseError` if
   * an insert fails; the segment and all later ones then keep waiting.
   */
  send(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null
    })
    return this.sending
  }

  /** Time at which the oldest event that queries can't find yet was received; null if all loaded events are visible. */
  get waitingSince(): Instant | null {
    const waiting = this.segments().filter(({ name }) => !this.inserted.has(name))
    return waiting.reduce<Instant | null>((first, { firstAt }) => Math.min(first ?? firstAt, firstAt), null)
  }

  /** Cancels running inserts. Later ones fail. */
  interrupt(): void {
    this.interruption.abort()
  }

  private async sendAll(): Promise<void> {
    const { client, staging } = this.options
    for (const segment of this.segments()) {
      const { name, sum } = segment
      if (this.inserted.has(name)) continue
      await insertFiles(client, segment, `${name}:${sum}`, [this.interruption.signal])
      this.inserted.add(name)
    }
    const all = this.segments()
    const lastSeq = all.reduce((last, { maxSeq }) => Math.max(last, maxSeq), 0)
    const done = all.filter(({ name, isScanned, maxSeq }) => this.inserted.has(name) && isScanned && maxSeq < lastSeq)
    const { manifest, folder } = staging.parquet
    const paths = done.flatMap(({ events, counts, pages }) => [events, counts, pages].filter((path) => path !== null))
    manifest.drop(new Set(paths.map((path) => path.slice(folder.length + 1))))
    for (const { name } of done) this.inserted.delete(name)
    await staging.parquet.remove(paths)
  }

  /** Segments with files, oldest first. */
  private segments(): StagedSegment[] {
    const { manifest, folder } = this.options.staging.parquet
    const nameOf = ({ path }: ManifestFile) => basename(path, '.parquet')
    const [counts, pages] = [manifest.rollups(), manifest.pages()].map(
      (files) => new Map(files.map((file) => [nameOf(file), file])),
    )
    const events = new Map(manifest.files().map((file) => [nameOf(file), file]))
    const pathOf = (file: ManifestFile | undefined) => (file ? join(folder, file.path) : null)
    return [...new Set([...events.keys(), ...(pages?.keys() ?? [])])].sort().map((name) => {
      const [own, page] = [events.get(name), pages?.get(name)]
      const firsts = [own, page].flatMap((file) => (file && 'minReceivedAt' in file ? [file.minReceivedAt] : []))
      return {
        name,
        events: pathOf(own),
        counts: pathOf(counts?.get(name)),
        pages: pathOf(page),
        firstAt: Math.min(...firsts),
        maxSeq: own?.maxSeq ?? 0,
        isScanned: own === undefined || own.lookedAt !== undefined,
        sum: own?.sum ?? page?.sum ?? 0,
      }
    })
  }
}
