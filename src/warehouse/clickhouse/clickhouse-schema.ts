import { EVENT_COLUMNS } from '../../core/event.ts'
import { PAGE_COLUMNS } from '../../core/stored-page-view.ts'
import type { ClickhouseLogin } from '../../transport/clickhouse-url.ts'
import { quoteName } from './clickhouse-dialect.ts'

const TYPES: Readonly<Record<string, string>> = {
  BIGINT: 'Int64',
  DOUBLE: 'Float64',
  VARCHAR: 'String',
  'VARCHAR[]': 'Array(String)',
  'DOUBLE[]': 'Array(Float64)',
  BOOLEAN: 'Bool',
}

/** Columns that are NULL if a value is unknown. Lists are never NULL. */
const NULLABLE: ReadonlySet<string> = new Set([
  ...['account', 'host', 'path', 'title', 'sessionId', 'customerId', 'status', 'execMs', 'durMs', 'bytes', 'version'],
  ...['browser', 'browserVersion', 'os', 'device', 'language', 'visitor', 'country', 'blockMs'],
])

function typesOf(columns: Readonly<Record<string, string>>): Record<string, string> {
  const types = Object.entries(columns).map(([name, type]) => {
    const own = TYPES[type] ?? type
    return [name, NULLABLE.has(name) && !own.startsWith('Array') ? `Nullable(${own})` : own]
  })
  return Object.fromEntries(types)
}

/** Types of the columns of `events`, except parameters, and of `pages`, without encodings. */
export const EVENT_TYPES = typesOf(EVENT_COLUMNS)
export const PAGE_TYPES = typesOf(PAGE_COLUMNS)

/** Tables of the history. */
export const TABLES = ['events', 'counts', 'counts_quarter', 'pages', 'names'] as const
export type Table = (typeof TABLES)[number]

/** Name of the table on one server that stores the rows of a table. */
export const localTable = (table: Table, { cluster }: Pick<ClickhouseLogin, 'cluster'>) =>
  cluster === null ? table : `${table}_local`

/** Number of inserts whose tokens a table remembers. At one insert every 4 s, this is more than four days. */
const WINDOW = 100_000
const SETTINGS = [
  // An insert is confirmed once it is on the disk, because the files are deleted afterwards.
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  'ttl_only_drop_parts = 1',
  `non_replicated_deduplication_window = ${WINDOW}`,
  `replicated_deduplication_window = ${WINDOW}`,
  'replicated_deduplication_window_seconds = 1209600',
].join(', ')

const day = (instant: string) => `toDate(fromUnixTimestamp64Milli(${instant}, 'UTC'), 'UTC')`
const month = (instant: string) => `toStartOfMonth(${day(instant)})`

/**
 * Type of the column with the parameters. Its paths are escaped keys. Up to 256 keys of each part have their own
 * column, and the others share one.
 */
export const JSON_TYPE = 'JSON(max_dynamic_paths = 256)'

const EVENT_TABLE = `
    seq Int64 CODEC(Delta(8), ZSTD(1)),
    id String CODEC(ZSTD(1)),
    ts Int64 CODEC(Delta(8), ZSTD(1)),
    receivedAt Int64 CODEC(Delta(8), ZSTD(1)),
    orgId LowCardinality(String),
    domainId LowCardinality(String),
    env LowCardinality(String),
    vendor LowCardinality(String),
    event LowCardinality(String),
    account LowCardinality(Nullable(String)),
    kind LowCardinality(String),
    host LowCardinality(Nullable(String)),
    path Nullable(String) CODEC(ZSTD(1)),
    title LowCardinality(Nullable(String)),
    sessionId Nullable(String) CODEC(ZSTD(1)),
    customerId Nullable(String) CODEC(ZSTD(1)),
    status LowCardinality(Nullable(String)),
    execMs Nullable(Float64) CODEC(ZSTD(1)),
    durMs Nullable(Float64) CODEC(ZSTD(1)),
    bytes Nullable(Float64) CODEC(ZSTD(1)),
    version Nullable(Float64) CODEC(ZSTD(1)),
    browser LowCardinality(Nullable(String)),
    browserVersion LowCardinality(Nullable(String)),
    os LowCardinality(Nullable(String)),
    device LowCardinality(Nullable(String)),
    language LowCardinality(Nullable(String)),
    consent LowCardinality(String),
    visitor LowCardinality(Nullable(String)),
    country LowCardinality(Nullable(String)),
    weight Float64,
    violations Array(LowCardinality(String)),
    violated Bool,
    j ${JSON_TYPE} CODEC(ZSTD(3)),
    INDEX violated_index violated TYPE minmax GRANULARITY 1,
    INDEX seq_index seq TYPE minmax GRANULARITY 1`

const COUNT_TABLE = `
    orgId LowCardinality(String),
    domainId LowCardinality(String),
    vendor LowCardinality(String),
    event LowCardinality(String),
    env LowCardinality(String),
    minute Int64 CODEC(Delta(8), ZSTD(1)),
    events Int64,
    weight Float64`

const PAGE_TABLE = `
    page Int64,
    ts Int64 CODEC(Delta(8), ZSTD(1)),
    receivedAt Int64 CODEC(Delta(8), ZSTD(1)),
    orgId LowCardinality(String),
    domainId LowCardinality(String),
    env LowCardinality(String),
    host LowCardinality(Nullable(String)),
    path Nullable(String) CODEC(ZSTD(1)),
    sessionId Nullable(String) CODEC(ZSTD(1)),
    version Nullable(Float64),
    weight Float64,
    loaf Bool,
    vendor LowCardinality(String),
    vendorHost LowCardinality(String),
    requests Int64,
    durMs Array(Float64) CODEC(ZSTD(1)),
    blockMs Nullable(Float64),
    bytes Nullable(Float64)`

const HOUR = 'intDiv(receivedAt, 3600000)'
const SAMPLED = "cityHash64(ifNull(sessionId, ''))"
const COUNT_KEY = 'ORDER BY (orgId, domainId, vendor, event, env, minute)'

interface Design {
  columns: string
  engine: string
  /** Everything after the engine. */
  clauses: string
}

const DESIGNS: Record<Table, Design> = {
  events: {
    columns: EVENT_TABLE,
    engine: 'MergeTree',
    clauses: `PARTITION BY ${day('receivedAt')}
  ORDER BY (orgId, domainId, ${HOUR}, vendor, event, ${SAMPLED}, receivedAt)
  SAMPLE BY ${SAMPLED}`,
  },
  counts: {
    columns: COUNT_TABLE,
    engine: 'SummingMergeTree',
    clauses: `PARTITION BY ${day('minute')} ${COUNT_KEY}`,
  },
  counts_quarter: {
    columns: COUNT_TABLE,
    engine: 'SummingMergeTree',
    clauses: `PARTITION BY ${month('minute')} ${COUNT_KEY}`,
  },
  pages: {
    columns: PAGE_TABLE,
    engine: 'MergeTree',
    clauses: `PARTITION BY ${day('receivedAt')} ORDER BY (orgId, domainId, ${HOUR}, vendor, receivedAt)`,
  },
  names: {
    columns: `
    orgId LowCardinality(String),
    day Date,
    name String CODEC(ZSTD(1))`,
    engine: 'ReplacingMergeTree',
    clauses: 'PARTITION BY day ORDER BY (orgId, name)',
  },
}

/** SQL that restores a parameter name from a path of the column `j`. */
export const nameOfPath = (path: string) =>
  `if(${path} = '%', '', replaceAll(replaceAll(${path}, '%2E', '.'), '%25', '%'))`

/** SQL of the path for a parameter name. Dots would otherwise separate levels, and a path can't be empty. */
export const pathOfName = (name: string) =>
  `if(${name} = '', '%', replaceAll(replaceAll(${name}, '%', '%25'), '.', '%2E'))`

/** Like `pathOfName`, for a name that is known. Quoted for use after `j.`. */
export function pathOf(name: string): string {
  return quoteName(name === '' ? '%' : name.replaceAll('%', '%25').replaceAll('.', '%2E'))
}

/**
 * Path and name of a replicated table. The default path has the table's UUID, which differs between servers if each
 * creates the table on its own.
 */
const REPLICA = `('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')`

/**
 * Statements that create the tables of the history on one server. Each can be repeated. In a cluster, every server needs
 * all of them. Replicated tables require the macros `{shard}` and `{replica}` in the configuration of each server.
 */
export function schemaOf({ cluster, replicated }: Pick<ClickhouseLogin, 'cluster' | 'replicated'>): string[] {
  const local = (table: Table) => localTable(table, { cluster })
  const tables = Object.entries(DESIGNS) as [Table, Design][]
  const statements = tables.map(([table, { columns, engine, clauses }]) => {
    return `CREATE TABLE IF NOT EXISTS ${local(table)} (${columns}
  ) ENGINE = ${replicated ? `Replicated${engine}${REPLICA}` : engine}
  ${clauses}
  SETTINGS ${SETTINGS}`
  })
  const [names, events] = [local('names'), local('events')]
  statements.push(
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${names}_view TO ${names} AS
  SELECT DISTINCT orgId, ${day('receivedAt')} AS day, ${nameOfPath('arrayJoin(JSONAllPaths(j))')} AS name FROM ${events}`,
  )
  if (cluster === null) return statements
  const shards = tables.map(([table]) => {
    const key = table === 'names' ? 'rand()' : 'cityHash64(domainId)'
    return `CREATE TABLE IF NOT EXISTS ${table} AS ${local(table)}
  ENGINE = Distributed(${quoteName(cluster)}, currentDatabase(), ${local(table)}, ${key})`
  })
  return [...statements, ...shards]
}
