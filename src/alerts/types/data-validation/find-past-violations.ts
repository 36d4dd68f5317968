import { conditionsOf } from '../../../conditions/condition.ts'
import { isExact, violationSql } from '../../../conditions/condition-sql.ts'
import { compileViolation } from '../../../conditions/predicate.ts'
import type { Instant } from '../../../core/clock.ts'
import type { StoredEvent } from '../../../core/event.ts'
import { bucketOf, EVENT_UNIT, wholeEvent } from '../../../warehouse/dialect.ts'
import { type AnyTest, type Binder, type Query, query, type Statement } from '../../../warehouse/query.ts'
import { type Alert, domainsOf } from '../../alert.ts'
import { parsePeriod } from '../../alert-period.ts'
import { type Bucketed, bucketMsOf, groupByWindow, spanOf } from '../../alert-windows.ts'
import type { Window } from '../../finding.ts'
import type { HistoryOptions, HistoryQuery, NewestOptions } from '../history-query.ts'

/** Maximum number of events, newest first, that are checked in code when SQL can't evaluate the rule exactly. */
const MAX_CANDIDATES = 100_000

/** Violations in one domain and one bucket. */
type BucketRow = Bucketed & Pick<ViolationRow, 'domainId' | 'occurrences' | 'firstAt' | 'lastAt' | 'sampleSeq'>

/** Evaluates the rule on the stored events, ignoring the `violations` stored on arrival. */
export function validationHistoryQuery(
  alert: Alert,
  windows: readonly Window[],
  { regions, oneIn }: HistoryOptions,
): HistoryQuery<ViolationRow> {
  const bucketMs = bucketMsOf(parsePeriod(alert.period))
  const window = spanOf(windows)
  const rowsOf = (rows: readonly BucketRow[]) =>
    groupByWindow(rows, windows).map((group) => mergeByDomain(alert.id, group, oneIn))
  if (isDecidedBySql(alert)) {
    const broken = query('alerts.past-violations', {
      orgId: alert.orgId,
      window,
      write(binder) {
        const columns = `domainId, ${bucketOf(binder.dialect, 'receivedAt', bucketMs)} AS bucketAt,
          sum(weight) AS occurrences, min(receivedAt) AS firstAt, max(receivedAt) AS lastAt, max(seq) AS sampleSeq`
        return selectViolations(alert, binder, { regions, oneIn }, columns, 'GROUP BY domainId, bucketAt')
      },
    })
    return { method: 'sql', query: broken, rowsOf, isComplete: () => true }
  }
  const isBroken = compileViolation(alert, regions)
  let checked = 0
  const read = (event: StoredEvent) => {
    checked++
    return isBroken(event) ? rowOf(event) : null
  }
  return {
    method: 'sql',
    query: candidatesQuery(alert, window, { regions, oneIn }, read),
    rowsOf,
    isComplete: () => checked < MAX_CANDIDATES,
  }
}

/** Returns the query for the positions of the newest events that violate the rule. */
export function newestViolationsQuery(alert: Alert, window: Query['window'], { regions, limit }: NewestOptions): Query {
  const options = { regions, oneIn: 1 }
  if (isDecidedBySql(alert)) {
    return query('alerts.newest-violations', {
      orgId: alert.orgId,
      window,
      write: (binder) =>
        selectViolations(alert, binder, options, 'seq, receivedAt', `ORDER BY seq DESC LIMIT ${limit}`),
    })
  }
  const isBroken = compileViolation(alert, regions)
  let found = 0
  const read = (event: StoredEvent) => {
    if (found === limit || !isBroken(event)) return null
    found++
    return { seq: event.seq, receivedAt: event.receivedAt }
  }
  return candidatesQuery(alert, window, options, read)
}

const isDecidedBySql = (alert: Alert) => conditionsOf(alert).every(isExact)

/** Returns the query for the newest complete events that may violate the rule. `read` checks them against the rule. */
function candidatesQuery(
  alert: Alert,
  window: Query['window'],
  options: HistoryOptions,
  read: (event: StoredEvent) => unknown,
): Query {
  return query('alerts.violation-candidates', {
    orgId: alert.orgId,
    window,
    read,
    write(binder) {
      const newest = `ORDER BY seq DESC LIMIT ${MAX_CANDIDATES}`
      return { ...selectViolations(alert, binder, options, wholeEvent(binder.dialect), newest), wholeParams: true }
    },
  })
}

/** Returns a SELECT of the events that violate the alert's rule, or that may violate it when SQL is not exact. */
function selectViolations(
  alert: Alert,
  binder: Binder,
  { regions, oneIn }: HistoryOptions,
  select: string,
  more: string,
): Statement {
  const anyTests: AnyTest[] = []
  const { sql, keys, wholeParams } = violationSql(alert, binder, regions, anyTests)
  const scope = [
    ...binder.among('domainId', domainsOf(alert)),
    ...binder.among('vendor', alert.vendors ?? []),
    ...(oneIn > 1 ? [binder.dialect.sampled(EVENT_UNIT, oneIn)] : []),
  ]
  const where = [...scope, ...(wholeParams ? [] : [sql])].join(' AND ')
  return {
    sql: `SELECT ${select} FROM events ${wholeParams ? `WHERE ${sql} ` : ''}${more}`,
    keys,
    wholeParams,
    anyTests,
    ...(where && { where }),
  }
}

const rowOf = ({ domainId, receivedAt, seq, weight }: StoredEvent): BucketRow => ({
  domainId,
  bucketAt: receivedAt,
  occurrences: weight,
  firstAt: receivedAt,
  lastAt: receivedAt,
  sampleSeq: seq,
})

/** Returns one row per domain. Vendor, event and hosts are omitted, because only notifications need them. */
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

/** Violations of one alert in one domain. */
export interface ViolationRow {
  alertId: string
  domainId: string
  /** Sum of the events' weights, so not always an integer. */
  occurrences: number
  firstAt: Instant
  lastAt: Instant
  /** `seq` of the newest violating event. */
  sampleSeq: number
  /** Null when there are several vendors. */
  vendor: string | null
  event: string | null
  /** Most frequent first; null when no event has a host. */
  hosts: string[] | null
}
