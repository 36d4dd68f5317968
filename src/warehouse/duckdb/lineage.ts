import { join } from 'node:path'
import { quoteText } from './dialect.ts'
import type { DuckdbWarehouse } from './warehouse.ts'

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
const KEY = 'tagwarden'

export function lineageOf(files: readonly { path: string }[], parts = 1): Lineage {
  return { replaces: files.map(({ path }) => path), parts }
}

/** As an option of DuckDB's Parquet writer. */
export function metadataOf({ replaces, parts }: Lineage): string {
  return `KV_METADATA {${KEY}: ${quoteText(JSON.stringify({ replaces, parts }))}}`
}

/** Null of a file that replaces none, and of one that can't be read. `path` is relative to the folder of events. */
export async function readLineage(warehouse: DuckdbWarehouse, folder: string, path: string): Promise<Lineage | null> {
  const sql = `SELECT decode(value) AS text FROM parquet_kv_metadata(${quoteText(join(folder, path))})
    WHERE decode(key) = ${quoteText(KEY)}`
  try {
    const [row] = await warehouse.run<{ text: string }>(sql)
    return row ? (JSON.parse(row.text) as Lineage) : null
  } catch {
    // Whether it can be read is asked elsewhere; here it only says nothing.
    return null
  }
}
