import { Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getUsageOptions } from '#client/@tanstack/react-query.gen'
import { SHARED } from '../../address/search.ts'
import { useValues } from '../../address/use-search.ts'
import { shared } from '../../api/queries.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { formatNumber } from '../../parts/format.ts'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { words } from '../../words.ts'
import { COMPLIANCE } from './address.ts'

import { Findings } from './findings.tsx'
import { findingsAskedFor } from './question.ts'

/** `/compliance`: what tags give away that they should not. */
export function CompliancePage() {
  const [values] = useValues({ ...COMPLIANCE, ...SHARED })
  const said = words.compliance
  const asked = findingsAskedFor(values)
  const personal = useInfiniteQuery({ ...asked.personal, placeholderData: keepPreviousData })
  const consent = useInfiniteQuery({ ...asked.consent, placeholderData: keepPreviousData })
  return (
    <>
      <PageHead title={words.shell.pages.compliance} />
      <Text c="dimmed" mb="md">
        {said.about}
      </Text>
      <MayLine needs="member" what={said.what} />
      <Filters />
      <Stack gap="xl" className="column">
        <Findings title={said.personal} query={personal} none={<LookedAt />} />
        <Findings title={said.consent} query={consent} none={<LookedAt />} />
      </Stack>
    </>
  )
}

function Filters() {
  const { data } = useQuery(shared.domains())
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
