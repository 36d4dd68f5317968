import type { ImportRules } from '../ingest/import-line.ts'
import type { ImportedSpan } from '../ingest/import-store.ts'
import type { SegmentContent } from '../ingest/segment-content.ts'

/** What became of the rows of a Parquet file. */
export interface TakenRows {
  rows: number
  /** Path of a file of lines with the rows that were not taken: bad ones, and those that need a closer look. Null: none. */
  others: string | null
}

/**
 * Events of before, on their way into the history. No query sees any of them before `store`, and of a process that dies
 * nothing is left. One at a time; `close` belongs behind each.
 */
export interface EventImport {
  /**
   * Takes the rows of a Parquet file of which SQL can tell that they are as they must be. Fails with `invalid` when it is
   * no Parquet file.
   */
  takeParquet(path: string, rules: ImportRules): Promise<TakenRows>
  /** Takes events that were read line by line: a file of `ImportedEvent`, one a line, which is deleted. */
  takeLines(path: string): Promise<void>
  /** Where files for `takeLines` may be written; what a process that dies leaves there is removed by the next start. */
  readonly draftFolder: string
  /** Number of events that were taken. */
  readonly events: number
  /**
   * Makes all of them, of which there must be one at least, part of the history, in one transaction with what `account` writes. `progress` hears the share that
   * is done, 0 to 1.
   */
  store(
    account: (content: SegmentContent, spans: readonly ImportedSpan[]) => void,
    progress: (done: number) => void,
  ): Promise<void>
  /** Removes what is left of it. */
  close(): Promise<void>
}
