import { compileViolation } from '../../../conditions/predicate.ts'
import { violationSql } from '../../../conditions/sql.ts'
import { EVENT_COLUMNS, type StoredEvent } from '../../../core/event.ts'
import { duckdbDialect } from '../../../warehouse/dialect.ts'
import { type AnyTest, Binder, type Query } from '../../../warehouse/query.ts'
import { type Alert, domainsOf } from '../../alert.ts'
import type { Window } from '../../finding.ts'
import { parsePeriod } from '../../period.ts'
import { bucketMsOf, byWindow, type Counted, spanOf } from '../../window-index.ts'
import type { NewestOptions, Past, PastOptions } from '../past.ts'
import type { ViolationRow } from './violation-row.ts'

/** So many events are looked at, the newest, where SQL can't tell whether the rule holds. */
const MAX_CANDIDATES = 100_000

/** Violations of one domain in one stretch of time. */
type BucketRow = Counted & Pick<ViolationRow, 'domainId' | 'occurrences' | 'firstAt' | 'lastAt' | 'sampleSeq'>

const WHOLE_EVENT = `${Object.keys(EVENT_COLUMNS).join(', ')}, params`

/** Decides the rule anew, from what the events say; what was decided when they came in plays no part. */
export function validationPast(
  alert: Alert,
  windows: readonly Window[],
  { regions, oneIn }: PastOptions,
): Past<ViolationRow> {
  const bucketMs = bucketMsOf(parsePeriod(alert.period))
  const { exact, query } = violationsOf(alert, spanOf(windows), { regions, oneIn })
  const rowsOf = (rows: readonly BucketRow[]) =>
    byWindow(rows, windows).map((group) => mergeByDomain(alert.id, group, oneIn))
  if (exact) {
    const columns = `domainId, receivedAt // ${bucketMs} * ${bucketMs} AS bucketAt, sum(weight) AS occurrences,
      min(receivedAt) AS firstAt, max(receivedAt) AS lastAt, max(seq) AS sampleSeq`
    return { method: 'sql', query: query(columns, 'GROUP BY domainId, bucketAt'), rowsOf, isWhole: () => true }
  }
  const isBroken = compileViolation(alert, regions)
  let candidates = 0
  const read = (event: StoredEvent) => {
    candidates++
    return isBroken(event) ? rowOf(event) : null
  }
  return {
    method: 'sql',
    query: { ...query(WHOLE_EVENT, `ORDER BY seq DESC LIMIT ${MAX_CANDIDATES}`), read },
    rowsOf,
    isWhole: () => candidates < MAX_CANDIDATES,
  }
}

/** Asks for the places of the newest events that break the rule. */
export function newestViolations(alert: Alert, window: Query['window'], { regions, limit }: NewestOptions): Query {
  const { exact, query } = violationsOf(alert, window, { regions, oneIn: 1 })
  if (exact) return query('seq, receivedAt', `ORDER BY seq DESC LIMIT ${limit}`)
  const isBroken = compileViolation(alert, regions)
  let found = 0
  const read = (event: StoredEvent) => {
    if (found === limit || !isBroken(event)) return null
    found++
    return { seq: event.seq, receivedAt: event.receivedAt }
  }
  return { ...query(WHOLE_EVENT, `ORDER BY seq DESC LIMIT ${MAX_CANDIDATES}`), read }
}

/** Asks for events that break the alert's rule, or may where `exact` is false. */
function violationsOf(alert: Alert, window: Query['window'], { regions, oneIn }: PastOptions) {
  const binder = new Binder()
  const anyTests: AnyTest[] = []
  const { sql, keys, wholeParams, exact } = violationSql(alert, duckdbDialect, binder, regions, anyTests)
  const scope = [
    ...binder.among('domainId', domainsOf(alert)),
    ...binder.among('vendor', alert.vendors ?? []),
    ...(oneIn > 1 ? [`seq % ${oneIn} = 0`] : []),
  ]
  const where = [...scope, ...(wholeParams ? [] : [sql])].join(' AND ')
  const query = (select: string, more: string): Query => ({
    sql: `SELECT ${select} FROM events ${wholeParams ? `WHERE ${sql} ` : ''}${more}`,
    params: binder.params,
    keys,
    wholeParams: wholeParams || !exact,
    anyTests,
    ...(where && { where }),
    orgId: alert.orgId,
    window,
  })
  return { exact, query }
}

const rowOf = ({ domainId, receivedAt, seq, weight }: StoredEvent): BucketRow => ({
  ...{ domainId, bucketAt: receivedAt, occurrences: weight },
  ...{ firstAt: receivedAt, lastAt: receivedAt, sampleSeq: seq },
})

/** Names and hosts are left out: they are of interest where somebody is told. */
function mergeByDomain(alertId: string, rows: readonly BucketRow[], oneIn: number): ViolationRow[] {
  return [...Map.groupBy(rows, ({ domainId }) => domainId)].map(([domainId, group]) => ({
    alertId,
    domainId,
    occurrences: oneIn * group.reduce((sum, { occurrences }) => sum + occurrences, 0),
    firstAt: Math.min(...group.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...group.map(({ lastAt }) => lastAt)),
    sampleSeq: Math.max(...group.map(({ sampleSeq }) => sampleSeq)),
    vendor: null,
    event: null,
    hosts: null,
  }))
}
