import { isCostly } from '../../../conditions/condition.ts'
import { violationSql } from '../../../conditions/condition-sql.ts'
import { AppError } from '../../../core/error.ts'
import { eventsText } from '../../../core/text.ts'
import { type Binder, query, type Statement } from '../../../warehouse/query.ts'
import type { Alert } from '../../alert.ts'
import type { Finding } from '../../finding.ts'
import { type ArrivalType, cachedByRows, organizationOf } from '../alert-type.ts'
import { exactFilter, filteredSql, scopeOfIssue } from '../event-scope.ts'
import { type EventFilter, type Evidence, type EvidenceContext, NO_BOUNDS } from '../evidence.ts'
import { MAX_ROWS_AT_ONCE, UNLIMITED } from '../history-query.ts'
import { explainViolation, violationSummary } from './explain-violation.ts'
import type { ViolationRow } from './find-past-violations.ts'
import { newestViolationsQuery, validationHistoryQuery } from './find-past-violations.ts'

const MAX_HOSTS = 20
/**
 * Maximum number of alerts in an id filter. For more alerts, the filter costs more than reading the violations of all
 * alerts; `judge` ignores the violations of other alerts.
 */
const MAX_FILTERED_ALERTS = 100

/** Shows the events that violated the rule, based on the `violations` stored on arrival. */
const validationEvidence: Evidence = {
  seriesDescription: 'violating events',

  series: (incident) => ({
    by: 'hours',
    over: 'events',
    where: (binder) => violating(incident, binder),
    boundsOf: () => ({ ...NO_BOUNDS, expected: 0 }),
  }),

  violating,

  inScope: (incident, binder) => {
    const scope = filteredSql(incident, scopeIn(incident), binder)
    // The rule may have changed since an event violated it.
    return { ...scope, sql: `(${violating(incident, binder).sql} OR (${scope.sql}))` }
  },

  validMatchesViolating: true,

  valid: (incident) => ({
    ...exactFilter(incident),
    where(binder) {
      const scope = filteredSql(incident, scopeIn(incident), binder)
      const sound = validSql(incident, binder)
      return {
        sql: `${scope.sql} AND ${sound.sql}`,
        keys: [...scope.keys, ...sound.keys],
        wholeParams: scope.wholeParams || sound.wholeParams,
      }
    },
  }),
}

const scopeIn = (incident: EvidenceContext & { rule: Alert }) =>
  scopeOfIssue(incident, { vendors: incident.rule.vendors ?? [], event: null })

function violating({ issue }: EvidenceContext, binder: Binder): EventFilter {
  const tests = [
    ...binder.among('domainId', issue.domainId === null ? [] : [issue.domainId]),
    'violated',
    binder.dialect.has('violations', binder.bind(issue.alertId)),
  ]
  return { sql: tests.join(' AND ') }
}

/** Returns SQL for events that were valid on arrival and that comply with the current rule. */
function validSql({ issue, rule, privacy }: EvidenceContext & { rule: Alert }, binder: Binder) {
  const broke = binder.dialect.has('violations', binder.bind(issue.alertId))
  // Compiling an expensive rule takes seconds, so events are not checked against a rule that changed after their
  // arrival.
  if (isCostly(rule)) return { keys: [], wholeParams: false, sql: `NOT ${broke}` }
  // The SQL matches all violating events and, when it is not exact, some valid ones. Events that it does not match are
  // valid.
  const breaks = violationSql({ ...rule, filters: [] }, binder, privacy.regions)
  return { keys: breaks.keys, wholeParams: breaks.wholeParams, sql: `NOT ${broke} AND NOT ${breaks.sql}` }
}

/**
 * Fires for each domain in which events violated the rule. The rule was evaluated when the events were received, and
 * the result is stored in the `violations` column; no condition is evaluated here.
 */
export const dataValidation: ArrivalType<ViolationRow> = {
  kind: 'data_validation',
  evaluated: 'on arrival',
  form: {
    title: 'Data validation',
    judges: 'single events by `conditions`',
    guide: {
      fires: 'within seconds of an event that breaks the rule',
      needs: '`conditions` or `conditionGroups`',
    },
    notes: {},
    configuration: null,
    example: {
      name: 'Purchase without transaction id',
      domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
      alertType: 'data_validation',
      severity: 'high',
      vendors: ['Google Analytics 4'],
      filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
      conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
      period: '1h',
      throttle: { count: 1, per: 4, unit: 'hours' },
      channels: [{ type: 'email', target: 'ann@example.com' }],
      impactValue: 900,
    },

    check({ conditions, conditionGroups = [] }) {
      if (conditions || conditionGroups.length > 0) return
      throw new AppError('invalid', 'conditions: a data_validation alert requires conditions or conditionGroups')
    },
  },

  messages: {
    unit: { one: 'event', many: 'events', meaning: 'violating events' },
    title: ({ name, what, where, finding: { fault = 'break the rule' } }) =>
      `${name}: ${what ? `${what} events` : 'events'} ${fault}${where}`,
    summary: ({ subject }) => `${subject ? `${subject} ` : ''}events break the rule`,
    expected: 'no event that breaks the rule',
    countsFirings: false,
    explainsDrops: false,
    isRise: () => null,
    summarize: violationSummary,
  },

  evidence: validationEvidence,

  measure(alerts, window) {
    const ids = alerts.length <= MAX_FILTERED_ALERTS ? alerts.map(({ id }) => id) : []
    return query('alerts.violations', {
      orgId: organizationOf(alerts),
      window,
      write: (binder) => violationsSql(binder, ids.length > 0 ? `WHERE ${binder.among('alertId', ids).join('')}` : ''),
    })
  },

  measureSince(alerts, begins, window) {
    return query('alerts.violations-apart', {
      orgId: organizationOf(alerts),
      window,
      write(binder) {
        const begun = binder.bind(JSON.stringify(alerts.map(({ id }, at) => ({ id, beginsAt: begins[at] }))))
        const own = binder.dialect.rowsOfJson(begun, { id: 'text', beginsAt: 'integer' })
        return violationsSql(binder, `JOIN ${own} AS own ON own.id = alertId WHERE receivedAt >= beginsAt`)
      },
    })
  },

  ownConditions: () => [],
  scope: ({ vendors = [] }) => ({ vendors, event: null }),

  history: {
    limits: { events: UNLIMITED, windows: UNLIMITED, rows: MAX_ROWS_AT_ONCE },
    query: validationHistoryQuery,
  },
  newestViolations: newestViolationsQuery,
  explain: explainViolation,

  judge(alert, rows) {
    return (rowsByAlert(rows).get(alert.id) ?? []).map(findingOf)
  },
}

/**
 * Returns SQL for the violations by alert and domain. `named`: a clause that selects the rows of these alerts by
 * `alertId` and `receivedAt`.
 */
function violationsSql({ dialect }: Binder, named: string): Statement {
  return {
    sql: `
      SELECT alertId, domainId, sum(weight) AS occurrences, min(firstAt) AS firstAt, max(lastAt) AS lastAt,
        max(lastSeq) AS sampleSeq,
        CASE WHEN min(firstVendor) = max(lastVendor) THEN min(firstVendor) END AS vendor,
        CASE WHEN min(firstEvent) = max(lastEvent) THEN min(firstEvent) END AS event,
        ${dialect.firstValues('host', ['-weight', 'host'], MAX_HOSTS)} AS hosts
      FROM (
        SELECT alertId, domainId, host, sum(weight) AS weight, min(receivedAt) AS firstAt, max(receivedAt) AS lastAt,
          max(seq) AS lastSeq, min(vendor) AS firstVendor, max(vendor) AS lastVendor, min(event) AS firstEvent,
          max(event) AS lastEvent
        FROM (
          SELECT unnest(violations) AS alertId, domainId, host, weight, receivedAt, seq, vendor, event
          FROM events WHERE violated
        ) AS violations
        ${named} GROUP BY alertId, domainId, host
      )
      GROUP BY alertId, domainId ORDER BY alertId, domainId`,
  }
}

const rowsByAlert = cachedByRows((rows: readonly ViolationRow[]) => Map.groupBy(rows, ({ alertId }) => alertId))

function findingOf(row: ViolationRow): Finding {
  const occurrences = Math.max(1, Math.round(row.occurrences))
  return {
    domainId: row.domainId,
    subject: '',
    vendor: row.vendor,
    event: row.event || null,
    occurrences,
    summary: `${eventsText(occurrences)} broke the rule`,
    observed: occurrences,
    expected: 0,
    firstAt: row.firstAt,
    lastAt: row.lastAt,
    hosts: row.hosts ?? [],
    sample: null,
    sampleSeq: row.sampleSeq,
  }
}
