import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getEventDictionaryOptions } from '#client/@tanstack/react-query.gen'
import { MAX_HOURS } from '../../../../contract/limits.ts'
import { STALE_MS } from '../../../api/queries.ts'
import { CoveredPeriod } from '../../../components/covered-period.tsx'
import { Data } from '../../../components/data-text.tsx'
import { Num } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { messages } from '../../../messages.ts'
import { usePeriod } from '../../../url-state/use-search-params.ts'
import { DomainLayout, useDomainId } from './domain-layout.tsx'

/** `/domains/{id}/vendors`: vendors that receive data from this domain's tags. */
export function DomainVendorsPage() {
  return <DomainLayout part="vendors">{() => <Vendors />}</DomainLayout>
}

function Vendors() {
  const domainId = useDomainId()
  const period = usePeriod(MAX_HOURS.dictionary)
  const query = useQuery({
    ...getEventDictionaryOptions({ query: { domainId, ...period.query } }),
    staleTime: STALE_MS.dictionary,
  })
  const t = messages.domains.vendors
  return (
    <>
      <Text c="dimmed">{t.intro}</Text>
      <CoveredPeriod period={period} />
      <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<Text>{t.none}</Text>}>
        {({ vendors }) => (
          <SimpleTable
            name={messages.domains.tabs.vendors}
            rows={vendors}
            keyOf={({ vendor }) => vendor}
            columns={[
              { head: t.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
              { head: t.events, isNumber: true, cell: ({ events }) => <Num value={events} /> },
            ]}
          />
        )}
      </QueryState>
    </>
  )
}
