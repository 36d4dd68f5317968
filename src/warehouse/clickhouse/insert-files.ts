import { MINUTE_MS } from '../../core/clock.ts'
import { PAGE_COLUMNS } from '../../core/stored-page-view.ts'
import type { ClickhouseClient } from './clickhouse-client.ts'
import { quoteText } from './clickhouse-dialect.ts'
import { EVENT_TYPES, JSON_TYPE, PAGE_TYPES, pathOfName, type Table } from './clickhouse-schema.ts'

/** Files that DuckDB wrote for one segment (`write-segment.ts`), as absolute paths; null if there are none. */
export interface WrittenFiles {
  events: string | null
  counts: string | null
  pages: string | null
}

function input(types: Readonly<Record<string, string>>): string {
  const columns = Object.entries(types).map(([name, type]) => `${name} ${type}`)
  return `input(${quoteText(columns.join(', '))})`
}

/** Columns of a file of events. Default values are stored as NULL, and parameters as a JSON object of strings. */
const FILE_TYPES = {
  ...Object.fromEntries(
    Object.entries(EVENT_TYPES).map(([name, type]) => [
      name,
      type.startsWith('Nullable') || type.startsWith('Array') ? type : `Nullable(${type})`,
    ]),
  ),
  params: 'String',
}

/** Values for columns that are NULL in a file. An id that is derived from the number stays empty. */
const DEFAULTS: Readonly<Record<string, string>> = {
  id: `''`,
  ts: 'assumeNotNull(receivedAt)',
  env: `'prod'`,
  kind: `'event'`,
  consent: `'unknown'`,
  weight: '1',
}

const ESCAPED = `mapFromArrays(arrayMap(p -> ${pathOfName('p.1')}, pairs), arrayMap(p -> p.2, pairs))`

const INSERT_EVENTS = `INSERT INTO events (${Object.keys(EVENT_TYPES).join(', ')}, violated, j)
  SELECT ${Object.keys(EVENT_TYPES)
    .map((name) => (DEFAULTS[name] ? `ifNull(${name}, ${DEFAULTS[name]})` : name))
    .join(', ')},
    notEmpty(violations), CAST(toJSONString(${ESCAPED}), ${quoteText(JSON_TYPE)})
  FROM (SELECT *, JSONExtractKeysAndValues(params, 'String') AS pairs FROM ${input(FILE_TYPES)}) FORMAT Parquet`

const COUNT_TYPES = {
  orgId: 'String',
  domainId: 'String',
  vendor: 'String',
  event: 'String',
  env: 'String',
  minute: 'Int64',
  events: 'Int64',
  weight: 'Float64',
}

const insertCounts = (table: Table, stepMs: number) => `INSERT INTO ${table} (${Object.keys(COUNT_TYPES).join(', ')})
  SELECT orgId, domainId, vendor, event, env, intDiv(minute, ${stepMs}) * ${stepMs}, events, weight
  FROM ${input(COUNT_TYPES)} FORMAT Parquet`

const PAGES = Object.keys(PAGE_COLUMNS).join(', ')
const INSERT_PAGES = `INSERT INTO pages (${PAGES}) SELECT ${PAGES} FROM ${input(PAGE_TYPES)} FORMAT Parquet`

const QUARTER_MS = 15 * MINUTE_MS

/**
 * Inserts the events, counts and pages of one segment. Can be repeated as a whole: what was inserted before with the same
 * token is skipped. Throws `ClickhouseError`.
 * @param token unique for the content, such as `<collector>:<segment>`
 */
export async function insertFiles(
  client: Pick<ClickhouseClient, 'insertFile'>,
  { events, counts, pages }: WrittenFiles,
  token: string,
  signals: readonly AbortSignal[] = [],
): Promise<void> {
  const insert = (table: Table, sql: string, path: string | null) =>
    path === null ? undefined : client.insertFile(sql, path, `${token}:${table}`, signals)
  await insert('events', INSERT_EVENTS, events)
  await insert('counts', insertCounts('counts', MINUTE_MS), counts)
  await insert('counts_quarter', insertCounts('counts_quarter', QUARTER_MS), counts)
  await insert('pages', INSERT_PAGES, pages)
}
