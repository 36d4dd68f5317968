import { type Alert, domainsOf } from '../alerts/alert.ts'
import { signalNamed } from '../alerts/finding.ts'
import { countsFirings } from '../alerts/types/index.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import { type ConditionSql, filtersSql } from '../conditions/sql.ts'
import type { Instant } from '../core/clock.ts'
import { type CountScope, scopeTests } from '../insights/count-series.ts'
import type { IssueDetail, IssueRecord } from '../issues/issue.ts'
import { EVERY, type SeriesScope } from '../signals/series.ts'
import { duckdbDialect } from '../warehouse/dialect.ts'
import type { Binder } from '../warehouse/query.ts'

/** An issue, and what is needed to look for its traces in the event history. */
export interface Trouble {
  issue: IssueRecord
  /** How often on which day, as the issue itself has it. */
  occurrences: IssueDetail['occurrenceSeries']
  /**
   * The alert as it is now. Null when it is gone or has become one of another type: then nobody knows any more which
   * events were in scope, and which of their values the rule called personal.
   */
  rule: Alert | null
  /** The series in which the rule found an anomaly; null for other types, and without a rule. */
  followed: SeriesScope | null
  /** Countries whose national phone numbers count. */
  regions: PhoneRegions
  /** When the issue's domain was made; 0 when it is gone or none is meant. */
  domainSince: Instant
  now: Instant
  /** Events received before this are no longer kept. */
  keptFrom: Instant
}

/** The events that broke the issue's rule when they came in. */
export function violatingSql({ issue }: Trouble, binder: Binder): string {
  const tests = [
    ...binder.among('domainId', issue.domainId === null ? [] : [issue.domainId]),
    'violated',
    `list_contains(violations, ${binder.bind(issue.alertId)})`,
  ]
  return tests.join(' AND ')
}

/** What the alert looks at, where the issue is: of an alert that follows every vendor, what the issue is about. */
export function countScope({ issue }: Pick<Trouble, 'issue'>, rule: Alert): CountScope {
  const { volume, vendors = [] } = rule
  const domainIds = issue.domainId === null ? domainsOf(rule) : [issue.domainId]
  if (!volume || !('vendor' in volume)) return { domainIds, vendors, event: volume?.event || null }
  if (volume.vendor !== EVERY) return { domainIds, vendors: [volume.vendor], event: volume.event || null }
  const { vendor, event } = signalNamed(issue.evidence)
  return { domainIds, vendors: vendor === null ? [] : [vendor], event }
}

/** The events that the alert looks at, where the issue is. */
export function scopeSql(trouble: Trouble, rule: Alert, binder: Binder): ConditionSql {
  const condition = filtersSql(rule.filters ?? [], duckdbDialect, binder, trouble.regions)
  const tests = [
    ...scopeTests(countScope(trouble, rule), binder),
    // As the alert counts.
    ...(countsFirings(trouble.issue.alertType) ? [`kind <> 'library'`] : []),
  ]
  return { ...condition, sql: [...tests, condition.sql].join(' AND ') }
}
