import { join } from 'node:path'
import { DAY_MS, HOUR_MS, type Instant } from '../../core/clock.ts'
import type { NameOverflow } from './counted-event-names.ts'
import { COUNTS, finalCountsOf, named } from './counts-rollup.ts'
import { quoteText } from './duckdb-dialect.ts'
import type { Lineage } from './file-lineage.ts'
import { type Batch, batchesOf, HOUR, numbered, type StagedHour } from './import-batches.ts'
import type { EventFile, RollupFile } from './manifest.ts'
import { inOrder, type KeyCount, keysWorthIt, MAX_KEYS, shredded } from './parameter-columns.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { STAGED_COLUMNS } from './select-import-rows.ts'
import { RELATION_COLUMNS, VIOLATED } from './spool-relation.ts'

/** Imported events to write to several files. */
export interface Cut {
  parquet: ParquetFiles
  /** 16 hexadecimal digits. */
  name: string
  /** SQL that selects the events. */
  events: string
  hours: readonly StagedHour[]
  crowds: readonly NameOverflow[]
}

/** Published files that are not listed in the manifest yet. */
export interface CutFiles {
  files: EventFile[]
  rollups: RollupFile[]
}

/** Maximum number of files written concurrently; each takes about one thread. */
const CONCURRENCY = 2
/**
 * Maximum number of rows per file. An hour with more events is split into several files, because sorting must fit in
 * the engine's memory.
 */
const MAX_ROWS = 500_000

/**
 * Consecutive hours of a day share a file up to this number of events, because each file takes time to write and to
 * open.
 */
const SMALL_ROWS = 100_000
/** Name of the table that holds the current batch. */
export const BATCH = 'imported'

/** A file of events to write. */
interface Part {
  path: string
  orgId: string
  /** One hour, or several consecutive hours with few events, from one organization and UTC day. */
  hours: readonly StagedHour[]
  /** Selects events in the batch with `after < place <= through`, restricted to these hours and the organization. */
  after: number
  through: number
}

/**
 * Writes event files, sorted and shredded, for each organization and hour, and count files for each day. Hours with few
 * events share one file per day.
 */
export async function cutIntoFiles(cut: Cut, progress: (done: number) => void): Promise<CutFiles> {
  const written: WrittenPart[] = []
  const all = cut.hours.reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  for (const batch of batchesOf(cut.hours)) {
    written.push(...(await writeBatch(cut, batch, written.length)))
    done += batch.rows
    progress((0.95 * done) / all)
  }
  const counts = await writeCounts(cut)
  await cut.parquet.publish([...written.map(({ part }) => part.path), ...counts])
  return { files: await describe(cut.parquet, written), rollups: await describeCounts(cut.parquet, counts) }
}

interface WrittenPart {
  part: Part
  keys: string[]
}

/** The files replace no other files. Until they are in the manifest, the next start treats them as leftovers. */
export const OWN: Lineage = { replaces: [], parts: 1 }

const startOfDay = (instant: Instant) => Math.floor(instant / DAY_MS) * DAY_MS
const nameOf = (orgId: string, hour: Instant) => `${orgId} ${hour}`

/** Writes the events of a batch. `place`: number of files already written. */
async function writeBatch({ parquet, events, name }: Cut, batch: Batch, place: number): Promise<WrittenPart[]> {
  await makeBatch(parquet, numbered(parquet, events, batch))
  try {
    const parts = partsOf(batch, name, place)
    const keys = await keysOf(parquet, parts)
    const written: WrittenPart[] = []
    await forEachConcurrently(parts, async (part) => {
      const own = keysWorthIt(keys.get(part.path) ?? [], sumOf(part.hours))
      const rows = await parquet.writeDraft(part.path, shredded(inOrder(rowsOf(part)), own), {
        lineage: OWN,
        keys: own.keys.length,
      })
      if (rows > 0) written.push({ part, keys: own.keys })
    })
    return written
  } finally {
    await parquet.runWide(`DROP TABLE ${BATCH}`)
  }
}

/** Creates the table of the current batch from numbered events. */
export async function makeBatch(parquet: ParquetFiles, events: string): Promise<void> {
  const columns = [...Object.keys(STAGED_COLUMNS), 'seq', 'place'].join(', ')
  await parquet.runWide(`CREATE TABLE ${BATCH} AS SELECT ${columns} FROM (${events})`)
}

function partsOf({ hours, rows }: Batch, name: string, place: number): Part[] {
  const parts: Part[] = []
  for (const together of groupsOf(hours)) {
    for (let after = 0; after < rows; after += MAX_ROWS) {
      const path = `ci${place + parts.length}-${name}.parquet`
      const [{ orgId } = { orgId: '' }] = together
      parts.push({ path, orgId, hours: together, after, through: after + MAX_ROWS })
    }
  }
  return parts
}

const sumOf = (hours: readonly StagedHour[]) => hours.reduce((sum, { rows }) => sum + rows, 0)

/** Groups hours that share a file. */
function groupsOf(hours: readonly StagedHour[]): StagedHour[][] {
  return [...Map.groupBy(hours, ({ orgId, hour }) => `${orgId} ${startOfDay(hour)}`).values()].flatMap((ofDay) => {
    const groups: StagedHour[][] = []
    for (const hour of ofDay) {
      const open = groups.at(-1)
      if (open && sumOf(open) + hour.rows <= SMALL_ROWS) open.push(hour)
      else groups.push([hour])
    }
    return groups
  })
}

/** Parameters of each part, by path, most frequent first. Includes at most one more parameter than can get a column. */
async function keysOf(parquet: ParquetFiles, parts: readonly Part[]): Promise<Map<string, KeyCount[]>> {
  const hours = parts.flatMap(({ path, orgId, hours }) =>
    hours.map(({ hour }) => `(${quoteText(path)}, ${quoteText(orgId)}, ${hour})`),
  )
  const found = await parquet.runWide<KeyCount & { path: string }>(
    `SELECT path, key, sum(events)::BIGINT AS events FROM (
       SELECT orgId, hour, key, count(*) AS events FROM (
         SELECT orgId, ${HOUR} AS hour, unnest(map_keys(params)) AS key FROM ${BATCH}
       ) GROUP BY orgId, hour, key
     ) JOIN (VALUES ${hours.join(', ')}) AS parts(path, orgId, hour) USING (orgId, hour)
     GROUP BY path, key
     QUALIFY row_number() OVER (PARTITION BY path ORDER BY sum(events) DESC, key) <= ${MAX_KEYS + 1}
     ORDER BY events DESC, key`,
  )
  return Map.groupBy(found, ({ path }) => path)
}

/** SQL that selects the rows of a part, in the form that `shredded` expects. */
function rowsOf({ orgId, hours, after, through }: Part): string {
  const [from, to] = [hours[0]?.hour ?? 0, (hours.at(-1)?.hour ?? 0) + HOUR_MS]
  return rowsWhere(
    `${within(from, to - from)} AND orgId = ${quoteText(orgId)} AND place > ${after} AND place <= ${through}`,
  )
}

/** SQL that selects rows of the current batch, in the form that `shredded` expects. */
export function rowsWhere(test: string): string {
  const given: Record<string, string> = {
    id: `coalesce(id, 'evt_' || seq)`,
    violations: 'NULL::VARCHAR[]',
    [VIOLATED]: 'false',
  }
  const columns = [...RELATION_COLUMNS, 'params'].map((name) => (given[name] ? `${given[name]} AS ${name}` : name))
  return `(SELECT ${columns.join(', ')} FROM ${BATCH} WHERE ${test})`
}

const within = (from: Instant, lengthMs: number) => `receivedAt >= ${from} AND receivedAt < ${from + lengthMs}`

/** Writes the counts for each day of each organization, and returns the paths. */
async function writeCounts({ parquet, name, events, hours, crowds }: Cut): Promise<string[]> {
  const days = new Map(
    hours.map(({ orgId, hour }) => [nameOf(orgId, startOfDay(hour)), { orgId, day: startOfDay(hour) }]),
  )
  const paths: string[] = []
  await forEachConcurrently([...days.values()].entries().toArray(), async ([place, { orgId, day }]) => {
    const path = `${COUNTS}/di${place}-${name}.parquet`
    const ofDay = `(SELECT * FROM ${events} WHERE ${within(day, DAY_MS)} AND orgId = ${quoteText(orgId)})`
    if ((await parquet.writeDraft(path, finalCountsOf(named(ofDay, crowds)), { lineage: OWN })) > 0) paths.push(path)
  })
  return paths
}

interface Described {
  file: string
  rows: number
  first: Instant
  last: Instant
  maxSeq: number
}

async function describe(parquet: ParquetFiles, written: readonly WrittenPart[]): Promise<EventFile[]> {
  const found = await statisticsOf(
    parquet,
    written.map(({ part }) => part.path),
    'receivedAt',
  )
  const files: EventFile[] = []
  for (const { part, keys } of written) {
    const known = found.get(join(parquet.folder, part.path))
    if (!known) throw new Error(`${part.path} has no statistics`)
    const { rows, first, last, maxSeq } = known
    const span = {
      orgId: part.orgId,
      hour: Math.floor(first / HOUR_MS) * HOUR_MS,
      minReceivedAt: first,
      maxReceivedAt: last,
      maxSeq,
      rows,
    }
    files.push({
      path: part.path,
      ...span,
      ...(await parquet.measure(part.path)),
      level: 'compacted',
      keys,
      hasSegments: true,
    })
  }
  return files
}

async function describeCounts(parquet: ParquetFiles, paths: readonly string[]): Promise<RollupFile[]> {
  const files: RollupFile[] = []
  for (const path of paths) {
    const [{ rows } = { rows: 0 }] = await parquet.runWide<{ rows: number }>(
      `SELECT num_rows AS rows FROM parquet_file_metadata(${quoteText(join(parquet.folder, path))})`,
    )
    files.push(await parquet.describeRollup(path, rows, 'day'))
  }
  return files
}

/** Statistics from the metadata of event files, by absolute path. */
async function statisticsOf(
  parquet: ParquetFiles,
  paths: readonly string[],
  time: string,
): Promise<Map<string, Described>> {
  if (paths.length === 0) return new Map()
  const files = paths.map((path) => quoteText(join(parquet.folder, path))).join(', ')
  const rows = await parquet.runWide<Described>(
    `SELECT file_name AS file, sum(row_group_num_rows) FILTER (path_in_schema = ${quoteText(time)})::BIGINT AS rows,
       min(stats_min_value::BIGINT) FILTER (path_in_schema = ${quoteText(time)}) AS first,
       max(stats_max_value::BIGINT) FILTER (path_in_schema = ${quoteText(time)}) AS last,
       max(stats_max_value::BIGINT) FILTER (path_in_schema = 'seq') AS maxSeq
     FROM parquet_metadata([${files}]) WHERE path_in_schema IN ('seq', ${quoteText(time)}) GROUP BY file_name`,
  )
  return new Map(rows.map((row) => [row.file, row]))
}

/** Processes items concurrently. */
async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const one = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, one))
}
