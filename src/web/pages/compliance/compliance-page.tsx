import { Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getUsageOptions } from '#client/@tanstack/react-query.gen'
import { FINDING_ACTIONS } from '../../../contract/statuses.ts'
import { sharedQueries } from '../../api/queries.ts'
import { FilterBar } from '../../components/filter-bar.tsx'
import { formatNumber } from '../../components/format.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { messages } from '../../messages.ts'
import { SHARED_PARAMS } from '../../url-state/search-params.ts'
import { useSearchParams } from '../../url-state/use-search-params.ts'
import { Findings } from './findings.tsx'
import { COMPLIANCE, findingsQueries } from './queries.ts'

/** `/compliance`: personal data in events, and tags that fired without consent. */
export function CompliancePage() {
  const [values] = useSearchParams({ ...COMPLIANCE, ...SHARED_PARAMS })
  const t = messages.compliance
  const lists = findingsQueries(values)
  const personal = useInfiniteQuery({ ...lists.personal, placeholderData: keepPreviousData })
  const consent = useInfiniteQuery({ ...lists.consent, placeholderData: keepPreviousData })
  return (
    <>
      <PageHeader title={messages.shell.pages.compliance} />
      <Text c="dimmed" mb="md">
        {t.about}
      </Text>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Filters />
      <Stack gap="xl" className="column">
        <Findings title={t.personal} query={personal} none={<CheckedEvents />} />
        <Findings title={t.consent} query={consent} none={<CheckedEvents />} />
      </Stack>
    </>
  )
}

function Filters() {
  const { data } = useQuery(sharedQueries.domains())
  const t = messages.compliance
  const any = { value: '', label: messages.components.any }
  return (
    <FilterBar
      fields={COMPLIANCE}
      filters={[
        {
          is: 'one',
          name: 'domainId',
          label: messages.signals.domain,
          options: [any, ...(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))],
        },
        {
          is: 'one',
          name: 'action',
          label: t.action,
          options: [any, ...FINDING_ACTIONS.map((value) => ({ value, label: t.actions[value] }))],
        },
        { is: 'chip', name: 'vendor', label: t.vendor, options: [] },
      ]}
    />
  )
}

/** The number of checked events. Without it, "no findings" means nothing. */
function CheckedEvents() {
  const { data } = useQuery(getUsageOptions())
  const total = data?.totalEvents ?? 0
  return <Text>{total === 0 ? messages.compliance.noneYet : messages.compliance.none(formatNumber(total, 0))}</Text>
}
