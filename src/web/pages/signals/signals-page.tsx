import { Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { listSignals } from '#client/sdk.gen'
import { SIGNAL_MODES } from '../../../contract/statuses.ts'
import { sharedQueries } from '../../api/queries.ts'
import { AddDomainNotice } from '../../components/add-domain-notice.tsx'
import { ColumnsMenu, useShownColumns } from '../../components/columns-menu.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { SHARED_PARAMS } from '../../url-state/search-params.ts'
import { useSearchParams, useSorting } from '../../url-state/use-search-params.ts'
import { SIGNALS, STATES, signalsQuery } from './queries.ts'
import { useColumns } from './signal-columns.tsx'

const ROW_PX = 64

/** `/signals`: automatically monitored series, most severe state first. */
export function SignalsPage() {
  const [values] = useSearchParams({ ...SIGNALS, ...SHARED_PARAMS })
  const listQuery = signalsQuery(values)
  const query = useInfiniteQuery({ ...listQuery, placeholderData: keepPreviousData })
  const sorting = useSorting(SIGNALS)
  const columns = useColumns()
  const shown = useShownColumns('signals', columns)
  const t = messages.signals
  const isFiltered = [values.state, values.mode, values.domainId, values.vendor, values.project].some(Boolean)
  return (
    <>
      <PageHeader title={messages.shell.pages.signals}>
        <ColumnsMenu table="signals" columns={columns} />
        <ExportMenu of={listSignals} queryKey={listQuery.queryKey} name="signals" />
      </PageHeader>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.intro}
      </Text>
      <Filters />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ pages }) => pages[0]?.signals.length === 0}
        empty={
          isFiltered ? (
            <Text>{messages.components.noneMatch}</Text>
          ) : (
            <AddDomainNotice sentence={messages.signals.none} />
          )
        }
      >
        {({ pages }) => (
          <VirtualTable
            name={messages.shell.pages.signals}
            rows={pages.flatMap(({ signals }) => signals)}
            columns={shown}
            idOf={({ domainId, vendor, event }) => `${domainId} ${vendor} ${event}`}
            pages={query}
            sorting={sorting}
            sortColumns={columns}
            rowHeight={ROW_PX}
            isGrowing
          />
        )}
      </QueryState>
    </>
  )
}

function Filters() {
  const { data } = useQuery(sharedQueries.domains())
  const t = messages.signals
  const any = { value: '', label: messages.components.any }
  return (
    <FilterBar
      fields={SIGNALS}
      filters={[
        {
          is: 'one',
          name: 'state',
          label: t.status,
          options: [any, ...STATES.map((value) => ({ value, label: t.states[value] }))],
        },
        {
          is: 'one',
          name: 'mode',
          label: t.mode,
          options: [any, ...SIGNAL_MODES.map((value) => ({ value, label: t.modes[value] }))],
        },
        {
          is: 'one',
          name: 'domainId',
          label: t.domain,
          options: [any, ...(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))],
        },
        { is: 'chip', name: 'vendor', label: t.vendor, options: [] },
      ]}
    />
  )
}
