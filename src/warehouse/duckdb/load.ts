import { unlinkSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { StoredPage } from '../../core/page.ts'
import { EMPTY_SEGMENT, type SegmentContent } from '../../ingest/segment-count.ts'
import type { SealedSegment } from '../warehouse.ts'
import type { Crowd, Naming } from './counted-names.ts'
import { countsFrom, foldedIn, nameEvents, type ProfileRow, profileOf, spanOf } from './file-profile.ts'
import type { EventFile, PageFile, RollupFile, SegmentFiles } from './manifest.ts'
import { pageLines, pagesIn } from './pages-relation.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { COUNTS, countsOf, named } from './rollup.ts'
import { freshRelation, spooledEvents } from './spooled.ts'

/**
 * Fresh files are small and short-lived: smaller groups take less memory and both cores, and nobody looks for one value
 * in them, which is what Bloom filters are for.
 */
const FRESH = 'ROW_GROUP_SIZE 20480, WRITE_BLOOM_FILTER false'

/** What a segment became: files that are written and not listed yet, and what is in them. */
interface LoadedSegment extends SegmentFiles {
  content: SegmentContent
}

/** Writes the files of a sealed segment: of its events, of their counts and of its `pages`. Again: the same ones. */
export async function writeSegment(
  parquet: ParquetFiles,
  { name, path, pages }: SealedSegment,
): Promise<LoadedSegment> {
  const own = `${name}.parquet`
  const rows = await parquet.write(own, `SELECT * FROM ${spooledEvents([path])}`, { options: FRESH })
  const paged = pages?.length ? await writePages(parquet, own, pages) : null
  if (rows === 0) {
    unlinkSync(join(parquet.folder, own))
    return { file: null, rollup: null, pages: paged, naming: null, content: EMPTY_SEGMENT }
  }
  const { file, naming, content } = await profile(parquet, own, rows)
  return { file, rollup: await rollUp(parquet, file, naming.crowds), pages: paged, naming, content }
}

async function writePages(parquet: ParquetFiles, name: string, pages: readonly StoredPage[]): Promise<PageFile> {
  const draft = join(parquet.folder, 'tmp', `${name}.ndjson`)
  const path = pagesIn(name)
  try {
    await writeFile(draft, pages.map((page) => `${JSON.stringify(page)}\n`).join(''))
    const rows = await parquet.write(path, `SELECT * FROM ${pageLines(draft)}`, { options: FRESH })
    return await parquet.describePages(path, rows, 'fresh')
  } finally {
    await rm(draft, { force: true })
  }
}

/** What is known of a new file of events. */
async function profile(
  parquet: ParquetFiles,
  path: string,
  rows: number,
): Promise<{ file: EventFile; naming: Naming; content: SegmentContent }> {
  const events = freshRelation([join(parquet.folder, path)])
  const found = await parquet.run<ProfileRow>(profileOf(events))
  const naming = await nameEvents((sql) => parquet.run(sql), parquet.manifest.names, events)
  const span = spanOf(found)
  const hour = Math.floor(span.minReceivedAt / HOUR_MS) * HOUR_MS
  const file = { path, ...span, hour, rows, ...(await parquet.measure(path)), level: 'fresh' as const, keys: null }
  const counts = countsFrom(found)
  return { file, naming, content: { counts, vendors: naming.vendors, folded: foldedIn(counts, naming.crowds) } }
}

/** The counts of a fresh file, written beside it; null when nothing in it counts. */
async function rollUp(
  parquet: ParquetFiles,
  { path, orgId, minReceivedAt, maxReceivedAt }: EventFile,
  crowds: readonly Crowd[],
): Promise<RollupFile | null> {
  const own = `${COUNTS}/${path}`
  const events = named(freshRelation([join(parquet.folder, path)]), crowds)
  const rows = await parquet.write(own, countsOf(events), { options: FRESH })
  if (rows === 0) {
    unlinkSync(join(parquet.folder, own))
    return null
  }
  const [minMinute, maxMinute] = [minuteOf(minReceivedAt), minuteOf(maxReceivedAt)]
  return { path: own, orgId, minMinute, maxMinute, rows, ...(await parquet.measure(own)), level: 'fresh' }
}

const minuteOf = (instant: Instant) => Math.floor(instant / MINUTE_MS) * MINUTE_MS
