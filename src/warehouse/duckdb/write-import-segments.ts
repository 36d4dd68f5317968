import { join } from 'node:path'
import { COUNTS, countsOf, named } from './counts-rollup.ts'
import { quoteText } from './duckdb-dialect.ts'
import { type Batch, batchesOf, numbered, numbersNear } from './import-batches.ts'
import type { EventFile, RollupFile } from './manifest.ts'
import { STORED_COLUMNS } from './spool-relation.ts'
import { BATCH, type Cut, type CutFiles, makeBatch, OWN, rowsWhere } from './write-import-files.ts'

/** How events are imported into an engine that receives segments. */
export interface ImportSegments {
  /** Number of the first segment. Later segments have higher numbers. */
  firstNumber: number
  /** Writes the column `seq` of the events that the engine has in this range to a Parquet file. */
  saveTaken(range: { least: number; most: number }, path: string): Promise<void>
}

/** Maximum number of events in a segment. */
const SEGMENT_ROWS = 100_000

/** Name of a segment, as in the spool. */
const segmentName = (number: number) => String(number).padStart(12, '0')

/**
 * Writes the events and counts of an import as the files of segments. Returns the name of the last segment with the
 * files.
 */
export async function cutIntoSegments(
  cut: Cut,
  { firstNumber, saveTaken }: ImportSegments,
  progress: (done: number) => void,
): Promise<CutFiles & { segment: string }> {
  const { parquet, events, hours, name } = cut
  const taken = join(parquet.folder, 'tmp', `import-${name}-taken.parquet`)
  const all = hours.reduce((sum, { rows }) => sum + rows, 0)
  const written: Written[] = []
  let done = 0
  for (const batch of batchesOf(hours)) {
    await saveTaken(numbersNear(batch), taken)
    await makeBatch(parquet, numbered(parquet, events, batch, `SELECT seq FROM read_parquet(${quoteText(taken)})`))
    try {
      written.push(...(await writeBatch(cut, batch, firstNumber + written.length)))
    } finally {
      await parquet.runWide(`DROP TABLE ${BATCH}`)
    }
    done += batch.rows
    progress((0.95 * done) / all)
  }
  await parquet.remove([taken])
  await parquet.publish(written.flatMap(({ path, counts }) => (counts > 0 ? [path, `${COUNTS}/${path}`] : [path])))
  const files: EventFile[] = []
  const rollups: RollupFile[] = []
  for (const { path, rows, counts } of written) {
    files.push(await parquet.describe(path, { rows, level: 'fresh', keys: null, hasSegments: true }))
    if (counts > 0) rollups.push(await parquet.describeRollup(`${COUNTS}/${path}`, counts, 'fresh'))
  }
  return { files, rollups, segment: segmentName(firstNumber + written.length - 1) }
}

/** Draft files of a segment, with their numbers of rows. */
interface Written {
  path: string
  rows: number
  counts: number
}

async function writeBatch({ parquet, crowds }: Cut, { rows: all }: Batch, firstNumber: number): Promise<Written[]> {
  const written: Written[] = []
  for (let after = 0; after < all; after += SEGMENT_ROWS) {
    const path = `${segmentName(firstNumber + written.length)}.parquet`
    const source = rowsWhere(`place > ${after} AND place <= ${after + SEGMENT_ROWS}`)
    const events = `SELECT ${STORED_COLUMNS.join(', ')}, to_json(params) AS params FROM ${source}`
    const rows = await parquet.writeDraft(path, events, { lineage: OWN })
    const counts = await parquet.writeDraft(`${COUNTS}/${path}`, countsOf(named(source, crowds)), { lineage: OWN })
    written.push({ path, rows, counts })
  }
  return written
}
