import { Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import {
  getUsageOptions,
  listConsentFindingsInfiniteOptions,
  listDomainsOptions,
  listPersonalDataInfiniteOptions,
} from '#client/@tanstack/react-query.gen'
import { SHARED } from '../../address/search.ts'
import { useValues } from '../../address/use-search.ts'
import { PAGED } from '../../api/pages.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { formatNumber } from '../../parts/format.ts'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { words } from '../../words.ts'
import { COMPLIANCE } from './address.ts'
import { FINDINGS_AT_ONCE, Findings } from './findings.tsx'

/** `/compliance`: what tags give away that they should not. */
export function CompliancePage() {
  const [{ domainId, vendor, action, project }] = useValues({ ...COMPLIANCE, ...SHARED })
  const said = words.compliance
  const query = {
    limit: FINDINGS_AT_ONCE,
    ...(domainId && { domainId }),
    ...(vendor && { vendor }),
    ...(action && { action }),
    ...(project && { projectId: project }),
  }
  const personal = useInfiniteQuery({
    ...{ ...listPersonalDataInfiniteOptions({ query }), ...PAGED },
    placeholderData: keepPreviousData,
  })
  const consent = useInfiniteQuery({
    ...{ ...listConsentFindingsInfiniteOptions({ query }), ...PAGED },
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHead title={words.shell.pages.compliance} />
      <Text c="dimmed" mb="md">
        {said.about}
      </Text>
      <MayLine needs="member" what={said.what} />
      <Filters />
      <Stack gap="xl">
        <Findings title={said.personal} query={personal} none={<LookedAt />} />
        <Findings title={said.consent} query={consent} none={<LookedAt />} />
      </Stack>
    </>
  )
}

function Filters() {
  const { data } = useQuery(listDomainsOptions({ query: { limit: 200 } }))
  const said = words.compliance
  const any = { value: '', label: words.parts.any }
  return (
    <FilterBar
      fields={COMPLIANCE}
      filters={[
        {
          ...{ is: 'one', name: 'domainId', label: words.signals.domain },
          options: [any, ...(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))],
        },
        {
          ...{ is: 'one', name: 'action', label: said.action },
          options: [
            any,
            ...(['watch', 'file', 'ignore'] as const).map((value) => ({ value, label: said.actions[value] })),
          ],
        },
        { is: 'chip', name: 'vendor', label: said.vendor, options: [] },
      ]}
    />
  )
}

/** No finding means something only with what was looked at. */
function LookedAt() {
  const { data } = useQuery(getUsageOptions())
  const total = data?.totalEvents ?? 0
  return <Text>{total === 0 ? words.compliance.noneYet : words.compliance.none(formatNumber(total, 0))}</Text>
}
