import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { SegmentContent } from '../ingest/segment-counts.ts'
import type { Db } from '../store/database.ts'
import { type ClickhouseAddress, ClickhouseClient, ClickhouseError } from './clickhouse/clickhouse-client.ts'
import { insertFiles } from './clickhouse/insert-files.ts'
import { reasonOf } from './clickhouse/prepare-server.ts'
import { writeNames } from './duckdb/counted-event-names.ts'
import { readManifest } from './duckdb/manifest.ts'
import { ParquetFiles } from './duckdb/parquet-files.ts'
import { type LoadedSegment, writeSegment } from './duckdb/write-segment.ts'
import type { Query } from './query.ts'
import type { SealedSegment } from './warehouse.ts'

/** Changes to the names that are counted separately. */
export interface NameChanges {
  tracked: { domainId: string; vendor: string; event: string; events: number; lastDay: number }[]
  evicted: { domainId: string; vendor: string; event: string }[]
}

/** Stores the segments of a collector in an event history on other machines. */
export interface SegmentOutlet {
  /**
   * Stores a segment, and runs a query on its events alone. Has no effect on the event history if the segment was stored
   * before with the same token. Throws `unavailable` with the reason if ClickHouse can't store it at the moment, and
   * `upstream` if it rejects it.
   */
  insert(segment: SealedSegment, token: string, scan: Query): Promise<{ content: SegmentContent; names: NameChanges }>
  /** To be called after names that are counted separately have changed in the database. */
  namesChanged(): void
  interrupt(): void
  close(): void
}

export interface OutletOptions {
  /** Folder for the files of a segment while it is being inserted. */
  folder: string
  /** Database with the names that are counted separately. */
  db: Db
  clock: Clock
  address: ClickhouseAddress
}

/** Opens the outlet of a collector. DuckDB converts a segment to Parquet, and ClickHouse stores it. */
export async function openSegmentOutlet({ folder, db, clock, address }: OutletOptions): Promise<SegmentOutlet> {
  const manifest = readManifest(db)
  const parquet = await ParquetFiles.open({ folder, manifest, clock, spoolFiles: () => [] })
  const client = new ClickhouseClient(address)
  let interruption = new AbortController()
  /** The segment that could not be inserted. Its files are reused, because every second writes them again otherwise. */
  let waiting: { token: string; written: LoadedSegment } | null = null
  return {
    async insert(segment, token, scan) {
      const written = waiting?.token === token ? waiting.written : await writeSegment(parquet, segment)
      waiting = { token, written }
      const { content, file, rollup, pages = null, naming = null } = written
      const names = [file, rollup, pages].map((one) => one && join(folder, one.path))
      const [events = null, counts = null, paged = null] = names
      try {
        await insertFiles(client, { events, counts, pages: paged }, token, [interruption.signal])
        if (file) await parquet.scan([file], scan)
      } catch (error) {
        // Otherwise, the files themselves may be at fault.
        if (!(error instanceof ClickhouseError && error.isTemporary)) waiting = null
        if (!(error instanceof ClickhouseError)) throw error
        throw new AppError(error.isTemporary ? 'unavailable' : 'upstream', reasonOf(error))
      }
      waiting = null
      await parquet.remove(names.flatMap((path) => path ?? []))
      return { content, names: { tracked: [...(naming?.tracked ?? [])], evicted: [...(naming?.evicted ?? [])] } }
    },
    namesChanged: () => manifest.names.clear(),
    interrupt() {
      interruption.abort()
      interruption = new AbortController()
      parquet.interrupt()
    },
    close: () => parquet.close(),
  }
}

/** Stores the changes that a collector's segment makes to the names, in the caller's transaction. */
export function recordNameChanges(db: Db, changes: NameChanges): void {
  writeNames(db, changes)
}
