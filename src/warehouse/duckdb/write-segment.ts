import { createReadStream, unlinkSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import type { StoredPage } from '../../core/stored-page-view.ts'
import { EMPTY_SEGMENT, type SegmentContent } from '../../ingest/segment-counts.ts'
import { INTERNAL_ORG_ID } from '../../org/internal-org.ts'
import type { SealedSegment } from '../warehouse.ts'
import type { NameOverflow, NamePlan } from './counted-event-names.ts'
import { COUNTS, countsOf, named } from './counts-rollup.ts'
import { quoteText } from './duckdb-dialect.ts'
import { countsFrom, foldedIn, nameEvents, type ProfileRow, profileOf, spanOf } from './file-profile.ts'
import type { EventFile, PageFile, RollupFile, SegmentFiles } from './manifest.ts'
import { pageLines, pagesIn } from './pages-relation.ts'
import { isOutOfMemory, type ParquetFiles } from './parquet-files.ts'
import { freshRelation, readFiles, spooledEvents } from './spool-relation.ts'

/**
 * Fresh files are small and short-lived. Smaller row groups use less memory and both cores. Bloom filters would be
 * useless, because no query searches these files for a single value.
 */
const FRESH = 'ROW_GROUP_SIZE 20480, WRITE_BLOOM_FILTER false'

/** Events of one kilobyte each fill half of such a group within `STALE_MS`. */
const FRESH_GROUP_BYTES = 32 * 1024 * 1024

/** Files of a segment that are written but not in the manifest yet, and their content. */
export interface LoadedSegment extends SegmentFiles {
  content: SegmentContent
}

/**
 * Writes the files for a sealed segment: events, their counts and `pages`. Idempotent.
 * @param withCanaries also writes the server's own canary events, which are never part of the content
 */
export async function writeSegment(
  parquet: ParquetFiles,
  { name, path, pages }: SealedSegment,
  withCanaries = false,
): Promise<LoadedSegment> {
  const own = `${name}.parquet`
  const { size } = await stat(path)
  const rows = await writeEvents(parquet, own, path, withCanaries)
  const paged = pages?.length ? await writePages(parquet, own, pages) : null
  if (rows === 0) {
    unlinkSync(join(parquet.folder, own))
    return { file: null, rollup: null, pages: paged, naming: null, content: EMPTY_SEGMENT }
  }
  const { file, naming, content } = await profile(parquet, own, rows)
  return {
    file: { ...file, unpackedBytes: size },
    rollup: await rollUp(parquet, file, naming.overflows),
    pages: paged,
    naming,
    content,
  }
}

/**
 * Writes the events of a segment and returns their number. The engine reads 2,048 lines at a time. If these lines
 * exceed its memory, all lines are first copied to smaller files.
 */
async function writeEvents(
  parquet: ParquetFiles,
  own: string,
  segment: string,
  withCanaries: boolean,
): Promise<number> {
  const form = { options: FRESH, groupBytes: FRESH_GROUP_BYTES }
  const tenants = withCanaries ? '' : `WHERE orgId <> ${quoteText(INTERNAL_ORG_ID)}`
  const write = (paths: readonly string[]) =>
    parquet.write(own, `SELECT * FROM ${spooledEvents(paths)} ${tenants}`, form)
  try {
    return await write([segment])
  } catch (error) {
    if (parquet.isInterrupted || !isOutOfMemory(error)) throw error
    const pieces: string[] = []
    try {
      for await (const text of piecesOf(segment)) {
        const path = join(parquet.folder, 'tmp', `${own}-${pieces.length}.ndjson`)
        pieces.push(path)
        await writeFile(path, text)
      }
      return await write(pieces)
    } finally {
      for (const path of pieces) await rm(path, { force: true })
    }
  }
}

const PIECE_BYTES = 4 * 1024 * 1024

/** Yields whole lines from a file in chunks of about `PIECE_BYTES`. */
async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  for await (const chunk of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    const bytes = Buffer.concat([rest, chunk as Buffer])
    const end = bytes.lastIndexOf(0x0a) + 1
    if (end > 0) yield bytes.subarray(0, end)
    rest = bytes.subarray(end)
  }
  if (rest.length > 0) yield rest
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

/** Determines the manifest entry and the content of a new event file. */
async function profile(
  parquet: ParquetFiles,
  path: string,
  rows: number,
): Promise<{ file: EventFile; naming: NamePlan; content: SegmentContent }> {
  const events = freshRelation(readFiles(parquet.folder, [{ path, hasSegments: true }]))
  const found = await parquet.run<ProfileRow>(profileOf(events))
  const naming = await nameEvents((sql) => parquet.run(sql), parquet.manifest.names, events)
  const span = spanOf(found)
  const hour = Math.floor(span.minReceivedAt / HOUR_MS) * HOUR_MS
  const file = {
    path,
    ...span,
    hour,
    rows,
    ...(await parquet.measure(path)),
    level: 'fresh' as const,
    keys: null,
    hasSegments: true,
  }
  const counts = countsFrom(found).filter(({ orgId }) => orgId !== INTERNAL_ORG_ID)
  const domains = new Set(counts.map(({ domainId }) => domainId))
  const vendors = naming.vendors.filter(({ domainId }) => domains.has(domainId))
  return { file, naming, content: { counts, vendors, folded: foldedIn(counts, naming.overflows) } }
}

/** Writes the counts for a fresh file; returns null if none of its events are counted. */
async function rollUp(
  parquet: ParquetFiles,
  { path, orgId, minReceivedAt, maxReceivedAt }: EventFile,
  crowds: readonly NameOverflow[],
): Promise<RollupFile | null> {
  const own = `${COUNTS}/${path}`
  const events = named(freshRelation(readFiles(parquet.folder, [{ path, hasSegments: true }])), crowds)
  const rows = await parquet.write(own, countsOf(events), { options: FRESH })
  if (rows === 0) {
    unlinkSync(join(parquet.folder, own))
    return null
  }
  const [minMinute, maxMinute] = [minuteOf(minReceivedAt), minuteOf(maxReceivedAt)]
  return { path: own, orgId, minMinute, maxMinute, rows, ...(await parquet.measure(own)), level: 'fresh' }
}

const minuteOf = (instant: Instant) => Math.floor(instant / MINUTE_MS) * MINUTE_MS
