import { quoteText } from './duckdb-dialect.ts'

/**
 * Metadata that distinguishes a merged file from its sources without the manifest. Files with a single segment have no
 * such metadata.
 */
export interface Lineage {
  /** Paths of the replaced files, relative to the events folder. */
  replaces: readonly string[]
  /** Number of files that together replace the sources. */
  parts: number
}

/** Key of the metadata in the file: https://parquet.apache.org/docs/file-format/metadata/ */
export const LINEAGE_KEY = 'tagwarden'

export function lineageOf(files: readonly { path: string }[], parts = 1): Lineage {
  return { replaces: files.map(({ path }) => path), parts }
}

/** Returns the metadata option for DuckDB's Parquet writer. */
export function metadataOf({ replaces, parts }: Lineage): string {
  return `KV_METADATA {${LINEAGE_KEY}: ${quoteText(JSON.stringify({ replaces, parts }))}}`
}

/** Returns a name derived from the source files, so that repeating a merge after a crash overwrites the same file. */
export function nameOf(kind: string, files: readonly { path: string }[]): string {
  const paths = files.map((file) => file.path).sort()
  return `${kind}-${Bun.hash(paths.join('\n')).toString(16).padStart(16, '0')}.parquet`
}
