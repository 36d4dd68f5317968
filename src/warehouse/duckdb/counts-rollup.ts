import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { PAGE_VIEWS } from '../../decoders/page-view.ts'
import type { Query } from '../query.ts'
import { COUNT_COLUMNS, OTHER } from '../relation-columns.ts'
import type { NameOverflow } from './counted-event-names.ts'
import { quoteText } from './duckdb-dialect.ts'
import { nameOf } from './file-lineage.ts'
import { isInScope, type RollupFile } from './manifest.ts'
import { spoolRelation } from './spool-relation.ts'

/** Folder of count files, inside the events folder. */
export const COUNTS = 'counts'

/** Files of the relation `counts` at one point in time. Paths are absolute. */
export interface CountSources {
  rollups: readonly RollupFile[]
  folder: string
  /** Spool files with events that are not in a count file yet. */
  spool: readonly string[]
}

export type CountScope = Pick<Query, 'orgId' | 'window' | 'stepMs'>

const KEY = 'orgId, domainId, vendor, event, env'
const IS_PAGE_VIEW = `lower(event) IN (${PAGE_VIEWS.map(quoteText).join(', ')})`
const SESSIONS = 'list_distinct(flatten(list(sessionHashes)))'

/** Open counts store the hashes of a minute's sessions; final counts store only the number of sessions. */
export const isOpen = ({ level }: Pick<RollupFile, 'level'>) => level === 'fresh' || level === 'merged'

/**
 * The relation `counts` as one SELECT. Final counts are read unchanged; open counts and counts from the spool are
 * aggregated. Skips files that are outside the window or belong to other organizations. Filters rows only if the
 * manifest does not guarantee that all of them match.
 */
export function countsRelation({ rollups, folder, spool }: CountSources, scope: CountScope): string {
  const inScope = chosen(rollups, scope).filter((file) => isInScope(file, scope))
  const read = (files: readonly RollupFile[], columns: string) =>
    [...Map.groupBy(files, (file) => filterFor(file, scope))].map(
      ([filter, group]) => `SELECT ${columns} FROM ${countFiles(folder, group)}${filter}`,
    )
  const final = `${KEY}, minute, events, weight, sessions`
  const open = `${KEY}, minute, events, weight, sessionHashes`
  const growing = read(inScope.filter(isOpen), open)
  if (spool.length > 0) growing.push(`SELECT ${open} FROM (${countsOf(spoolInScope(spool, scope))})`)
  const branches = read(
    inScope.filter((file) => !isOpen(file)),
    final,
  )
  if (growing.length > 0) branches.push(closed(growing.join(' UNION ALL ')))
  if (branches.length === 0) return emptyRelation()
  const pageViews = `CASE WHEN ${IS_PAGE_VIEW} THEN weight ELSE 0 END`
  return `SELECT *, ${pageViews}::DOUBLE AS pageViews FROM (${branches.join('\nUNION ALL\n')})`
}

/**
 * Path of the hourly counts for these files, which contain final counts of one organization and day. The name
 * identifies the files.
 */
export const hoursPath = (days: readonly RollupFile[]) => nameOf(`${COUNTS}/o`, days)

/** Organization and day of a count file. */
export const dayKey = ({ orgId, minMinute }: RollupFile) => `${orgId} ${Math.floor(minMinute / DAY_MS)}`
export const isOfDay = ({ level }: RollupFile) => level === 'day' || level === 'quarters'

/** Selects the files to read. When whole hours are requested, hourly counts replace the other counts of their days. */
function chosen(all: readonly RollupFile[], { window, orgId, stepMs = MINUTE_MS }: CountScope): RollupFile[] {
  const rollups = all.filter((file) => orgId === null || file.orgId === null || file.orgId === orgId)
  const others = rollups.filter(({ level }) => level !== 'hours')
  const isWhole = [stepMs, window.from, window.to].every((instant) => instant % HOUR_MS === 0)
  if (!isWhole || others.length === rollups.length) return others
  const hours = new Map(rollups.flatMap((file) => (file.level === 'hours' ? [[file.path, file]] : [])))
  return [...Map.groupBy(others, (file) => (isOfDay(file) ? dayKey(file) : ''))].flatMap(([day, files]) => {
    const byHour = day === '' ? undefined : hours.get(hoursPath(files))
    return byHour ? [byHour] : files
  })
}

/**
 * Counts the events in `source` for a file of level `fresh`. Sessions are stored as hashes; collisions are negligible.
 */
export function countsOf(source: string): string {
  return `SELECT ${KEY}, minute, sum(events)::BIGINT AS events, sum(weight) AS weight,
      coalesce(list(session) FILTER (WHERE session IS NOT NULL), []) AS sessionHashes
    FROM (
      SELECT ${KEY}, receivedAt // ${MINUTE_MS} * ${MINUTE_MS} AS minute,
        CASE WHEN sessionId IS NOT NULL THEN hash(sessionId) END AS session, count(*) AS events, sum(weight) AS weight
      FROM ${source} WHERE kind <> 'library' GROUP BY ALL
    ) GROUP BY ALL`
}

/** The events in `source`, with untracked names replaced with `OTHER`. */
export function named(source: string, crowds: readonly NameOverflow[]): string {
  if (crowds.length === 0) return source
  const among = (columns: string, rows: readonly (readonly string[])[]) => {
    const values = rows.map((row) => `(${row.map(quoteText).join(', ')})`)
    return `(${columns}) IN (VALUES ${values.join(', ')})`
  }
  // A list of values must not be empty. No id is an empty string, so this row matches nothing.
  const nothing = ['', '', '']
  const names = crowds.flatMap((crowd) => crowd.names.map(({ vendor, event }) => [crowd.domainId, vendor, event]))
  const vendors = crowds.flatMap(({ domainId, vendors }) => vendors.map((vendor) => [domainId, vendor]))
  const domains = crowds.map(({ domainId }) => quoteText(domainId)).join(', ')
  const isKept = among('domainId, vendor, event', [nothing, ...names])
  const other = quoteText(OTHER)
  return `(
    SELECT * EXCLUDE (isOther, isStranger) REPLACE (
      CASE WHEN isOther AND isStranger THEN ${other} ELSE vendor END AS vendor,
      CASE WHEN NOT isOther THEN event WHEN ${IS_PAGE_VIEW} THEN lower(event) ELSE ${other} END AS event)
    FROM (
      SELECT *, domainId IN (${domains}) AND NOT ${isKept} AS isOther,
        NOT ${among('domainId, vendor', [nothing.slice(1), ...vendors])} AS isStranger
      FROM ${source}
    ))`
}

/** Open counts, one row per minute. */
export function mergedCounts(folder: string, files: readonly RollupFile[]): string {
  return `SELECT ${KEY}, minute, sum(events)::BIGINT AS events, sum(weight) AS weight, ${SESSIONS} AS sessionHashes
    FROM ${countFiles(folder, files)} GROUP BY ALL`
}

/** Final counts from these files of any level, sorted. `stepMs`: length of a "minute". */
export function finalCounts(
  folder: string,
  files: readonly RollupFile[],
  { orgId = null, stepMs = MINUTE_MS }: { orgId?: string | null; stepMs?: number } = {},
): string {
  const [open, final] = [files.filter(isOpen), files.filter((file) => !isOpen(file))]
  const where = orgId === null ? '' : ` WHERE orgId = ${quoteText(orgId)}`
  const branches = [
    ...(open.length > 0 ? [closed(`SELECT * FROM ${countFiles(folder, open)}${where}`)] : []),
    ...(final.length > 0 ? [`SELECT * FROM ${countFiles(folder, final)}${where}`] : []),
  ]
  return `SELECT ${KEY}, minute // ${stepMs} * ${stepMs} AS minute, sum(events)::BIGINT AS events, sum(weight) AS weight,
      sum(sessions)::BIGINT AS sessions
    FROM (${branches.join(' UNION ALL BY NAME ')}) GROUP BY ALL ORDER BY orgId, domainId, vendor, event, minute`
}

/** Final counts of the events in `source`, for a file of level `day`. */
export function finalCountsOf(source: string): string {
  return `${closed(countsOf(source))} ORDER BY ${KEY}, minute`
}

function closed(source: string): string {
  return `SELECT ${KEY}, minute, sum(events)::BIGINT AS events, sum(weight) AS weight, len(${SESSIONS}) AS sessions
    FROM (${source}) GROUP BY ALL`
}

export function countFiles(folder: string, files: readonly RollupFile[]): string {
  return `read_parquet([${files.map(({ path }) => quoteText(`${folder}/${path}`)).join(', ')}])`
}

function filterFor(file: RollupFile, { window, orgId }: CountScope): string {
  const filters: string[] = []
  if (orgId !== null && file.orgId !== orgId) filters.push(`orgId = ${quoteText(orgId)}`)
  if (file.minMinute < window.from) filters.push(`minute >= ${window.from}`)
  if (file.maxMinute >= window.to) filters.push(`minute < ${window.to}`)
  return filters.length > 0 ? ` WHERE ${filters.join(' AND ')}` : ''
}

function spoolInScope(paths: readonly string[], { window, orgId }: CountScope): string {
  const minute = (instant: number) => Math.ceil(instant / MINUTE_MS) * MINUTE_MS
  const org = orgId === null ? '' : ` AND orgId = ${quoteText(orgId)}`
  const inWindow = `receivedAt >= ${minute(window.from)} AND receivedAt < ${minute(window.to)}`
  return `(SELECT * FROM ${spoolRelation(paths, false)} WHERE ${inWindow}${org})`
}

/** `read_parquet` rejects an empty list, and a new installation has no files. */
function emptyRelation(): string {
  const columns = Object.entries(COUNT_COLUMNS).map(([name, type]) => `NULL::${type} AS ${name}`)
  return `SELECT ${columns.join(', ')} WHERE false`
}
