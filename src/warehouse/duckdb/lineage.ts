import { quoteText } from './dialect.ts'

/**
 * What a merged file says of itself, inside it: so that files can be told from what they were made of without any list
 * of them. A file of a single segment has none.
 */
export interface Lineage {
  /** Paths of the files whose place it takes, relative to the folder of events. */
  replaces: readonly string[]
  /** How many files take that place together. */
  parts: number
}

/** Key of the file's metadata: https://parquet.apache.org/docs/file-format/metadata/ */
export const LINEAGE_KEY = 'tagwarden'

export function lineageOf(files: readonly { path: string }[], parts = 1): Lineage {
  return { replaces: files.map(({ path }) => path), parts }
}

/** As an option of DuckDB's Parquet writer. */
export function metadataOf({ replaces, parts }: Lineage): string {
  return `KV_METADATA {${LINEAGE_KEY}: ${quoteText(JSON.stringify({ replaces, parts }))}}`
}
