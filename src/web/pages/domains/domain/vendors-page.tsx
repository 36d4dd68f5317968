import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getEventDictionaryOptions } from '#client/@tanstack/react-query.gen'
import { useMoments } from '../../../address/use-search.ts'
import { FRESH } from '../../../api/queries.ts'
import { messages } from '../../../messages.ts'
import { Data } from '../../../parts/data.tsx'
import { Num } from '../../../parts/numbers.tsx'
import { QueryState } from '../../../parts/query-state.tsx'
import { SimpleTable } from '../../../parts/simple-table.tsx'
import { DomainLayout, useDomainId } from './domain-layout.tsx'

/** The longest time range of the dictionary, in hours. */
const MAX_HOURS = 168

/** `/domains/{id}/vendors`: vendors to which tags of this domain send. */
export function DomainVendorsPage() {
  return <DomainLayout part="vendors">{() => <Vendors />}</DomainLayout>
}

function Vendors() {
  const domainId = useDomainId()
  const hours = Math.min(useMoments().hours, MAX_HOURS)
  const query = useQuery({
    ...getEventDictionaryOptions({ query: { domainId, hours } }),
    staleTime: FRESH.dictionary,
  })
  const t = messages.domains.vendors
  return (
    <>
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
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
