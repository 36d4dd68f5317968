import { type Alert, domainsOf } from '../alerts/alert.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import { type ConditionSql, filtersSql } from '../conditions/sql.ts'
import type { Instant } from '../core/clock.ts'
import { type IssueRecord, isVolumeType } from '../issues/issue.ts'
import { duckdbDialect } from '../warehouse/dialect.ts'
import type { Binder } from '../warehouse/query.ts'

/** An issue, and what is needed to look for its traces in the event history. */
export interface Trouble {
  issue: IssueRecord
  /**
   * The alert as it is now. Null when it is gone or has become one of another type: then nobody knows any more which
   * events were in scope, and which of their values the rule called personal.
   */
  rule: Alert | null
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
    'violations IS NOT NULL',
    `list_contains(violations, ${binder.bind(issue.alertId)})`,
  ]
  return tests.join(' AND ')
}

/** The events that the alert looks at, where the issue is. */
export function scopeSql({ issue, regions }: Trouble, rule: Alert, binder: Binder): ConditionSql {
  const { volume, vendors = [], filters = [] } = rule
  const own = volume && 'vendor' in volume ? [volume.vendor] : []
  const condition = filtersSql(filters, duckdbDialect, binder, regions)
  const tests = [
    ...binder.among('domainId', issue.domainId === null ? domainsOf(rule) : [issue.domainId]),
    ...binder.among('vendor', vendors),
    ...binder.among('vendor', own),
    ...binder.among('event', volume?.event ? [volume.event] : []),
    // As the alert counts.
    ...(isVolumeType(issue.alertType) ? [`kind <> 'library'`] : []),
  ]
  return { ...condition, sql: [...tests, condition.sql].join(' AND ') }
}
