import type { ImportRules } from '../ingest/import-line.ts'
import type { ImportedSpan } from '../ingest/import-store.ts'
import type { SegmentContent } from '../ingest/segment-content.ts'

/** Result of importing a Parquet file. */
export interface TakenRows {
  rows: number
  /** Path of a file with the rows that SQL did not accept, as lines to be parsed one by one; null without any. */
  others: string | null
}

/**
 * An import of past events. Queries see them only after `store`, and a process that dies leaves nothing behind. Only one
 * import may be open at a time; `close` it afterwards.
 */
export interface EventImport {
  /**
   * Stages the rows of a Parquet file that SQL can verify to be valid. Throws `invalid` when it is not a Parquet file.
   */
  takeParquet(path: string, rules: ImportRules): Promise<TakenRows>
  /** Stages events that were parsed line by line: a file of `ImportedEvent`, one per line, which is then deleted. */
  takeLines(path: string): Promise<void>
  /** Folder for files for `takeLines`. Leftovers of a killed process are removed at the next start. */
  readonly draftFolder: string
  /** Number of staged events. */
  readonly events: number
  /**
   * Adds all staged events (at least one) to the history, in the transaction in which `account` writes. `progress` gets the
   * completed share, 0 to 1.
   */
  store(
    account: (content: SegmentContent, spans: readonly ImportedSpan[]) => void,
    progress: (done: number) => void,
  ): Promise<void>
  /** Removes temporary files. */
  close(): Promise<void>
}
