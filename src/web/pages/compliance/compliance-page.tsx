import { Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getUsageOptions } from '#client/@tanstack/react-query.gen'
import { FINDING_ACTIONS } from '../../../contract/statuses.ts'
import { sharedQueries } from '../../api/queries.ts'
import { AddDomainNotice } from '../../components/add-domain-notice.tsx'
import { type Filter, FilterBar } from '../../components/filter-bar.tsx'
import { formatNumber } from '../../components/format.ts'
import type { Option } from '../../components/multi-choice.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { messages } from '../../messages.ts'
import { SHARED_PARAMS } from '../../url-state/search-params.ts'
import { useSearchParams, useSharedParams } from '../../url-state/use-search-params.ts'
import { ComplianceLinks } from './compliance-links.tsx'
import { SelectedFindings } from './decide-findings.tsx'
import { FindingGroups } from './finding-groups.tsx'
import { kindOf } from './finding-texts.tsx'
import { COMPLIANCE, GROUPINGS, groupsQuery, optionsQuery } from './queries.ts'
import { useFindingSelection } from './use-finding-selection.ts'

/** `/compliance`: personal data in events, and tags that fired without consent. */
export function CompliancePage() {
  const [values] = useSearchParams({ ...COMPLIANCE, ...SHARED_PARAMS })
  const t = messages.compliance
  const groups = useQuery({ ...groupsQuery(values), placeholderData: keepPreviousData })
  const selection = useFindingSelection()
  const { q, domainId, vendor, kind, page, action, project } = values
  const isFiltered = [q, domainId, vendor, kind, page, action, project].some(Boolean)
  return (
    <>
      <PageHeader title={messages.shell.pages.compliance} />
      <ComplianceLinks here="findings" />
      <Text c="dimmed" mb="md">
        {t.about}
      </Text>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <FilterBar fields={COMPLIANCE} filters={useFilters()} />
      <QueryState
        query={groups}
        isEmpty={({ groups }) => groups.length === 0}
        empty={isFiltered ? <Text>{messages.components.noneMatch}</Text> : <CheckedEvents />}
      >
        {({ groups }) => <FindingGroups params={values} groups={groups} selection={selection} />}
      </QueryState>
      <SelectedFindings selection={selection} />
    </>
  )
}

function useFilters(): readonly Filter<keyof typeof COMPLIANCE>[] {
  const domains = useQuery(sharedQueries.domains()).data?.domains ?? []
  const [{ project }] = useSharedParams()
  const vendors = useQuery(optionsQuery('vendor', project)).data?.groups ?? []
  const kinds = useQuery(optionsQuery('kind', project)).data?.groups ?? []
  const [{ vendor, kind }] = useSearchParams(COMPLIANCE)
  const t = messages.compliance
  const options = (known: readonly Option[], chosen: string, labelOf = (value: string) => value): Option[] => [
    { value: '', label: messages.components.any },
    ...known,
    // A value from a link that no finding has any more.
    ...(chosen === '' || known.some(({ value }) => value === chosen)
      ? []
      : [{ value: chosen, label: labelOf(chosen) }]),
  ]
  const byName = (one: Option, other: Option) => one.label.localeCompare(other.label)
  const ofVendors = vendors.map(({ value }) => ({ value, label: value })).toSorted(byName)
  const ofKinds = kinds.map(({ value }) => ({ value, label: kindOf(value) })).toSorted(byName)
  return [
    { is: 'search', name: 'q' },
    { is: 'one', name: 'vendor', label: t.vendor, options: options(ofVendors, vendor) },
    { is: 'one', name: 'kind', label: t.kind, options: options(ofKinds, kind, kindOf) },
    {
      is: 'one',
      name: 'domainId',
      label: messages.signals.domain,
      options: options(
        domains.map(({ id, name }) => ({ value: id, label: name })),
        '',
      ),
    },
    {
      is: 'one',
      name: 'action',
      label: t.action,
      options: options(
        FINDING_ACTIONS.map((value) => ({ value, label: t.actions[value] })),
        '',
      ),
    },
    { is: 'chip', name: 'page', label: t.page, options: [] },
    {
      is: 'one',
      name: 'by',
      label: t.groupBy,
      options: GROUPINGS.map((value) => ({ value, label: t.groupings[value] })),
    },
  ]
}

/** The number of checked events. Without it, "no findings" means nothing. */
function CheckedEvents() {
  const { data } = useQuery(getUsageOptions())
  const total = data?.totalEvents ?? 0
  return (
    <Stack>
      {total === 0 ? (
        <AddDomainNotice sentence={messages.compliance.noneYet} />
      ) : (
        <Text>{messages.compliance.none(formatNumber(total, 0))}</Text>
      )}
    </Stack>
  )
}
