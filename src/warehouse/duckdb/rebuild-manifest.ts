import { join } from 'node:path'
import { HOUR_MS, type Instant } from '../../core/clock.ts'
import type { VendorSighting } from '../../domains/record-sightings.ts'
import type { SegmentContent } from '../../ingest/segment-counts.ts'
import { OTHER } from '../relation-columns.ts'
import { UNSORTED_PREFIX } from './compact-events.ts'
import { COUNTS, countsRelation } from './counts-rollup.ts'
import { keyOfColumn, quoteText } from './duckdb-dialect.ts'
import { eventsRelation } from './events-relation.ts'
import { countsFrom, type ProfileRow, profileOf } from './file-profile.ts'
import type { EventFile, PageFile, RollupFile } from './manifest.ts'
import { pagesIn } from './pages-relation.ts'
import type { ParquetFiles } from './parquet-files.ts'
import type { UnlistedFile } from './unlisted-files.ts'

/**
 * Selects the unlisted files to add to the manifest. Omits files that were replaced by other files, and files that are
 * an incomplete replacement of other files. The omitted files become leftovers once the selected files are listed.
 */
export function selectListable(strays: readonly UnlistedFile[], onDisk: readonly string[]): string[] {
  const replaced = new Set(strays.flatMap(({ lineage }) => lineage?.replaces ?? []))
  const there = new Set(onDisk)
  const isUnfinished = (file: UnlistedFile) =>
    file.lineage?.replaces.every((path) => there.has(path)) === true &&
    !partsOf(file).every((path) => there.has(path) || replaced.has(path))
  const whole = strays.filter((file) => !isUnfinished(file))
  const taken = new Set(whole.flatMap(({ lineage }) => lineage?.replaces ?? []))
  return whole.map(({ path }) => path).filter((path) => !taken.has(path))
}

/** Paths of the files that were written together with this one, including itself. They differ only in their number. */
function partsOf({ path, lineage }: UnlistedFile): string[] {
  const named = /^(.*?)(\d+)(-[0-9a-f]{16}\.parquet)$/.exec(path)
  if (!named || lineage === null || lineage.parts === 1) return [path]
  return Array.from({ length: lineage.parts }, (_, part) => `${named[1]}${part}${named[3]}`)
}

/** Manifest entries. */
export interface Listing {
  files: EventFile[]
  rollups: RollupFile[]
  pages: PageFile[]
}

/**
 * Reads an unlisted file and adds it to `listing`. The file's level is derived from its name. Throws if the file is
 * unreadable.
 */
export async function addToListing(
  listing: Listing,
  parquet: ParquetFiles,
  folder: string,
  path: string,
): Promise<void> {
  const source = `read_parquet(${quoteText(join(folder, path))})`
  const [{ rows } = { rows: 0 }] = await parquet.run<{ rows: number }>(`SELECT count(*) AS rows FROM ${source}`)
  const name = path.split('/').at(-1) ?? ''
  if (path.startsWith(`${COUNTS}/`)) {
    listing.rollups.push(await parquet.describeRollup(path, rows, rollupLevel(name)))
  } else if (path.startsWith(pagesIn(''))) {
    listing.pages.push(await parquet.describePages(path, rows, pageLevel(name)))
  } else {
    const level = eventLevel(name)
    const columns = await parquet.run<{ column_name: string }>(`DESCRIBE SELECT * FROM ${source}`)
    const keys =
      level === 'compacted' && !name.startsWith(UNSORTED_PREFIX)
        ? columns.flatMap(({ column_name }) => keyOfColumn(column_name) ?? [])
        : null
    const hasSegments = columns.some(({ column_name }) => column_name === 'browser')
    listing.files.push(await parquet.describe(path, { rows, level, keys, hasSegments }))
  }
}

function eventLevel(name: string): EventFile['level'] {
  if (/^\d/.test(name)) return 'fresh'
  return name.startsWith('c') || name.startsWith(UNSORTED_PREFIX) ? 'compacted' : 'merged'
}

const ROLLUP_LEVELS = { m: 'merged', h: 'hour', d: 'day', q: 'quarters', o: 'hours' } as const

function rollupLevel(name: string): RollupFile['level'] {
  return ROLLUP_LEVELS[name[0] as keyof typeof ROLLUP_LEVELS] ?? 'fresh'
}

function pageLevel(name: string): PageFile['level'] {
  return (['merged', 'hour', 'day'] as const).find((level) => name.startsWith(level)) ?? 'fresh'
}

const EVERYTHING = { orgId: null, window: { from: 0, to: Number.MAX_SAFE_INTEGER } }

/** An organization and a domain that have events. */
export interface Owner {
  orgId: string
  domainId: string
  firstAt: Instant
  /** Most frequent hostname in the domain's events; null if no event has one. */
  host: string | null
}

/** Returns the organizations and domains in these files and spool files, oldest first. */
export async function ownersOf(
  parquet: ParquetFiles,
  folder: string,
  { files, rollups, spool }: Listing & { spool: readonly string[] },
): Promise<Owner[]> {
  const events = eventsRelation({ files, folder, spool }, { ...EVERYTHING, keys: [] })
  const counts = countsRelation({ rollups, folder, spool: [] }, EVERYTHING)
  return parquet.run<Owner>(
    `SELECT orgId, domainId, min(seenAt) AS firstAt, mode(host) AS host FROM (
       SELECT orgId, domainId, receivedAt AS seenAt, host FROM (${events})
       UNION ALL SELECT orgId, domainId, minute AS seenAt, NULL AS host FROM (${counts})
     ) GROUP BY orgId, domainId ORDER BY firstAt, orgId, domainId`,
  )
}

/** Number of a domain's events in one hour. */
export interface HourUsage {
  orgId: string
  domainId: string
  hour: Instant
  events: number
}

/** Content of these files. Where only counts remain, loads of a vendor's code are not included. */
export async function contentOfFiles(
  parquet: ParquetFiles,
  folder: string,
  { files, rollups }: Listing,
): Promise<{ content: SegmentContent; usage: HourUsage[] }> {
  const events = eventsRelation({ files, folder, spool: [] }, { ...EVERYTHING, keys: [] })
  const counts = countsRelation({ rollups, folder, spool: [] }, EVERYTHING)
  // The counts have a limited number of names per domain.
  const vendors = await parquet.run<VendorSighting>(
    `SELECT domainId, vendor, max(minute) AS lastReceivedAt FROM (${counts})
     WHERE vendor <> ${quoteText(OTHER)} GROUP BY domainId, vendor`,
  )
  const content = { counts: countsFrom(await parquet.run<ProfileRow>(profileOf(`(${events})`))), vendors }
  const usage = await parquet.run<HourUsage>(
    `SELECT orgId, domainId, hour, max(events) AS events FROM (
       SELECT orgId, domainId, receivedAt // ${HOUR_MS} * ${HOUR_MS} AS hour, count(*) AS events
       FROM (${events}) GROUP BY ALL
       UNION ALL SELECT orgId, domainId, minute // ${HOUR_MS} * ${HOUR_MS} AS hour, sum(events)::BIGINT AS events
       FROM (${counts}) GROUP BY ALL
     ) GROUP BY ALL`,
  )
  return { content, usage }
}
