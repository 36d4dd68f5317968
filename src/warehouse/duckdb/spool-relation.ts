import { EVENT_COLUMNS } from '../../core/event.ts'
import { quoteText } from './dialect.ts'

/** What parameters are in a query. */
export const PARAMS = 'MAP(VARCHAR, VARCHAR)'

type Column = keyof typeof EVENT_COLUMNS
const COLUMNS = Object.keys(EVENT_COLUMNS) as Column[]

/**
 * Whether an event has `violations`, as a column of its own: to look for the few that have takes the engine several times
 * as long in lists as in truths.
 */
export const VIOLATED = 'violated'
/** Columns of the relation `events` and of its files, in order, beside those of parameters. */
export const RELATION_COLUMNS = [...COLUMNS, VIOLATED]

/** What a line of the spool says once for all of its events; of `seq`, the first one's. */
const SHARED: ReadonlySet<Column> = new Set<Column>([
  ...(['seq', 'receivedAt', 'orgId', 'domainId', 'env', 'host', 'path', 'title', 'sessionId', 'customerId'] as const),
  'version',
])

/** What is left out because it goes without saying. */
const UNSAID: Partial<Record<Column, string>> = {
  id: `'evt_' || seq`,
  ts: 'receivedAt',
  env: `'prod'`,
  kind: `'event'`,
  weight: '1',
}

/** What compacted files leave out as well. Of others a text that repeats costs less to keep than to say. */
const SORTED_UNSAID = ['id', 'ts'] as const

/** `RELATION_COLUMNS` of events said in full, as a compacted file keeps them. */
export const STORED_COLUMNS = RELATION_COLUMNS.map((name) => {
  const unsaid = SORTED_UNSAID.find((own) => own === name)
  return unsaid ? `nullif(${unsaid}, ${UNSAID[unsaid]}) AS ${unsaid}` : name
})

/** `RELATION_COLUMNS` of a compacted file, said in full. Files of earlier versions left nothing out. */
export const COMPACTED_COLUMNS = RELATION_COLUMNS.map((name) => {
  const unsaid = SORTED_UNSAID.find((own) => own === name)
  return unsaid ? `coalesce(${unsaid}, ${UNSAID[unsaid]}) AS ${unsaid}` : name
})

/**
 * The events of spool files as a fresh file keeps them: with NULL for what goes without saying, and `params` as the JSON
 * they came in. Without the lines that commit batches; a line that is being written is not there yet.
 */
export function spooledEvents(paths: readonly string[], params: 'JSON' | typeof PARAMS | null = 'JSON'): string {
  const shared = COLUMNS.filter((name) => SHARED.has(name))
  const lists: Record<string, string> = { place: 'BIGINT' }
  for (const name of COLUMNS) if (!SHARED.has(name)) lists[name] = EVENT_COLUMNS[name]
  if (params !== null) lists.params = params
  const types = [
    ...shared.map((name) => `${name}: ${quoteText(EVENT_COLUMNS[name])}`),
    ...Object.entries(lists).map(([name, type]) => `${name}: ${quoteText(`${type}[]`)}`),
  ]
  const files = paths.map(quoteText).join(', ')
  // A line that is not whole belongs to a batch that was not acknowledged.
  const lines = `read_json([${files}], format = 'newline_delimited', ignore_errors = true, columns = {${types.join(', ')}})`
  const each = [...shared, ...Object.keys(lists).map((name) => `unnest(${name}) AS ${name}`)].join(', ')
  const events = `SELECT ${each}, unnest(range(len(vendor))) AS index FROM ${lines}`
  const whole = '* EXCLUDE (place, index) REPLACE (seq + coalesce(place, index) AS seq)'
  return `(SELECT ${whole}, violations IS NOT NULL AS ${VIOLATED} FROM (${events}))`
}

/** The events of spool files, with parameters as a map or without them, which costs less. */
export function spoolRelation(paths: readonly string[], withParams = true): string {
  return saidInFull(spooledEvents(paths, withParams ? PARAMS : null), withParams ? 'params' : null)
}

/** The events of fresh files, whose paths are absolute; parameters as a map. */
export function freshRelation(paths: readonly string[]): string {
  return saidInFull(`read_parquet([${paths.map(quoteText).join(', ')}])`, `params::JSON::${PARAMS} AS params`)
}

/** As `freshRelation`, with parameters as the JSON that they came in. */
export function freshTexts(paths: readonly string[]): string {
  return saidInFull(`read_parquet([${paths.map(quoteText).join(', ')}])`, 'params')
}

function saidInFull(events: string, params: string | null): string {
  const columns = COLUMNS.map((name) => (UNSAID[name] ? `coalesce(${name}, ${UNSAID[name]}) AS ${name}` : name))
  return `(SELECT ${[...columns, VIOLATED, ...(params === null ? [] : [params])].join(', ')} FROM ${events})`
}
