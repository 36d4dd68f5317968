import { type ConditionSql, filtersSql, isExact } from '../../conditions/condition-sql.ts'
import { compileFilters } from '../../conditions/predicate.ts'
import type { Binder } from '../../warehouse/query.ts'
import { type Alert, domainsOf } from '../alert.ts'
import type { EvidenceContext, ValidEvents } from './evidence.ts'

/** A selection of events by vendor and event name. An empty list and null select all. */
export interface NamedEvents {
  vendors: readonly string[]
  event: string | null
}

/**
 * A selection of events by name and domain, in addition to time and organization. An empty list selects all domains.
 */
export interface EventScope extends NamedEvents {
  domainIds: readonly string[]
}

/** Returns SQL conditions to be joined with AND. */
export function scopeTests({ domainIds, vendors, event }: EventScope, binder: Binder): string[] {
  return [
    ...binder.among('domainId', domainIds),
    ...binder.among('vendor', vendors),
    ...binder.among('event', event === null ? [] : [event]),
  ]
}

/** Returns the scope restricted to the issue's domain, or to the rule's domains when the issue has no domain. */
export function scopeOfIssue({ issue, rule }: EvidenceContext & { rule: Alert }, named: NamedEvents): EventScope {
  return { domainIds: issue.domainId === null ? domainsOf(rule) : [issue.domainId], ...named }
}

/**
 * Returns SQL for the events in this scope that pass the rule's filters. `tests`: additional SQL conditions, to be
 * joined with AND.
 */
export function filteredSql(
  { rule, privacy }: EvidenceContext & { rule: Alert },
  scope: EventScope,
  binder: Binder,
  tests: readonly string[] = [],
): ConditionSql {
  const condition = filtersSql(rule.filters ?? [], binder, privacy.regions)
  return { ...condition, sql: [...scopeTests(scope, binder), ...tests, condition.sql].join(' AND ') }
}

/**
 * Returns an object with `isValid`, which checks an event selected by `filteredSql`, when SQL alone is not exact;
 * otherwise an empty object.
 */
export function exactFilter({ rule, privacy }: EvidenceContext & { rule: Alert }): Pick<ValidEvents, 'isValid'> {
  const { filters = [] } = rule
  return filters.every(isExact) ? {} : { isValid: compileFilters(filters, privacy.regions) }
}
