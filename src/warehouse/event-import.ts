import type { ImportRules } from '../ingest/import-line.ts'
import type { ImportedSpan } from '../ingest/import-store.ts'
import type { SegmentContent } from '../ingest/segment-counts.ts'

/** Result of importing a Parquet file. */
export interface ImportedRows {
  rows: number
  /**
   * Path of a file that contains the rows not accepted by SQL, as lines to be parsed individually; null if there are
   * none.
   */
  others: string | null
}

/**
 * An import of past events. Queries see the events only after `store`, and a crashed process leaves nothing behind.
 * Only one import may be open at a time. Call `close` afterwards.
 */
export interface EventImport {
  /**
   * Stages the rows of a Parquet file that SQL can verify to be valid. Throws `invalid` if the file is not a Parquet
   * file.
   */
  takeParquet(path: string, rules: ImportRules): Promise<ImportedRows>
  /**
   * Stages events that were parsed line by line. The file contains one `ImportedEvent` per line, and is deleted
   * afterwards.
   */
  takeLines(path: string): Promise<void>
  /** Folder for the files passed to `takeLines`. The next start removes any files left by a killed process. */
  readonly draftFolder: string
  /** Number of staged events. */
  readonly events: number
  /**
   * Adds all staged events (at least one) to the history and runs `account` in the same transaction. `progress` is
   * called with the completed fraction, 0 to 1.
   */
  store(
    account: (content: SegmentContent, spans: readonly ImportedSpan[]) => void,
    progress: (done: number) => void,
  ): Promise<void>
  /** Removes temporary files. */
  close(): Promise<void>
}
