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

/** Named after what went in, so that a repeat after a crash replaces the same file. */
export function nameOf(kind: string, files: readonly { path: string }[]): string {
  const paths = files.map((file) => file.path).sort()
  return `${kind}-${Bun.hash(paths.join('\n')).toString(16).padStart(16, '0')}.parquet`
}
