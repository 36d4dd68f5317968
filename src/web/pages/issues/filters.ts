import { useQuery } from '@tanstack/react-query'
import { listAlertsOptions } from '#client/@tanstack/react-query.gen'
import { useValues } from '../../address/use-search.ts'
import { FRESH, shared } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import type { Option } from '../../parts/choices.tsx'
import type { Filter } from '../../parts/filter-bar.tsx'
import { ISSUES, SORTS } from './address.ts'

const optionsOf = (names: Readonly<Record<string, string>>): Option[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

const named = ({ id, name }: { id: string; name: string }): Option => ({ value: id, label: name })

const MOST = 200

/** Filters and sort order of the list of issues. */
export function useIssueFilters(): readonly Filter<keyof typeof ISSUES>[] {
  const [{ alertId }] = useValues(ISSUES)
  const domains = useQuery(shared.domains()).data?.domains
  const alerts = useQuery({
    ...listAlertsOptions({ query: { limit: MOST } }),
    staleTime: FRESH.insight,
    enabled: alertId.length > 0,
  }).data?.alerts
  const { issues, api } = messages
  return [
    { is: 'search', name: 'q' },
    { is: 'several', name: 'status', label: issues.status, options: optionsOf(api.statuses) },
    { is: 'several', name: 'severity', label: issues.severity, options: optionsOf(api.severities) },
    { is: 'several', name: 'domainId', label: issues.domain, options: domains?.map(named) ?? [], isData: true },
    { is: 'several', name: 'alertType', label: issues.type, options: optionsOf(api.alertTypes) },
    { is: 'chip', name: 'alertId', label: issues.alert, options: alerts?.map(named) ?? [] },
    {
      ...{ is: 'one', name: 'sort', label: issues.sortBy },
      options: SORTS.map((value) => ({ value, label: issues.sorts[value] })),
    },
  ]
}
