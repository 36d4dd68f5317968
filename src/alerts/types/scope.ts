import { compileFilters } from '../../conditions/predicate.ts'
import { type ConditionSql, filtersSql, isExact } from '../../conditions/sql.ts'
import type { Binder } from '../../warehouse/query.ts'
import { type Alert, domainsOf } from '../alert.ts'
import type { GoodEvents, Incident } from './evidence.ts'

/** Which events somebody looks at, by name. An empty list and null mean all there are. */
export interface NamedEvents {
  vendors: readonly string[]
  event: string | null
}

/** The same, and where. Beside time and organization; an empty list means all domains. */
export interface EventScope extends NamedEvents {
  domainIds: readonly string[]
}

/** Tests, to be joined by AND. */
export function scopeTests({ domainIds, vendors, event }: EventScope, binder: Binder): string[] {
  return [
    ...binder.among('domainId', domainIds),
    ...binder.among('vendor', vendors),
    ...binder.among('event', event === null ? [] : [event]),
  ]
}

/** What the rule looks at, where the issue is. */
export function scopeOfIssue({ issue, rule }: Incident & { rule: Alert }, named: NamedEvents): EventScope {
  return { domainIds: issue.domainId === null ? domainsOf(rule) : [issue.domainId], ...named }
}

/** The events in this scope that the rule's filters let through; `tests`: more of them, to be joined by AND. */
export function filteredSql(
  { rule, regions }: Incident & { rule: Alert },
  scope: EventScope,
  binder: Binder,
  tests: readonly string[] = [],
): ConditionSql {
  const condition = filtersSql(rule.filters ?? [], binder, regions)
  return { ...condition, sql: [...scopeTests(scope, binder), ...tests, condition.sql].join(' AND ') }
}

/** How an event is confirmed that `filteredSql` let through, where that is needed. */
export function confirmedBy({ rule, regions }: Incident & { rule: Alert }): Pick<GoodEvents, 'isGood'> {
  const { filters = [] } = rule
  return filters.every(isExact) ? {} : { isGood: compileFilters(filters, regions) }
}
