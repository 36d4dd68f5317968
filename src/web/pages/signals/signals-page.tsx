import { Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Signal } from '#client/types.gen'
import { SHARED } from '../../address/search.ts'
import { useValues } from '../../address/use-search.ts'
import { shared } from '../../api/queries.ts'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState, Rows } from '../../parts/query-state.tsx'
import { VirtualTable } from '../../parts/virtual-table.tsx'
import { SIGNALS, STATES, signalsQuery } from './queries.ts'
import { useColumns } from './signal-columns.tsx'

const ROW_PX = 64

/** `/signals`: automatically monitored series, most severe state first. */
export function SignalsPage() {
  const [values] = useValues({ ...SIGNALS, ...SHARED })
  const query = useInfiniteQuery({ ...signalsQuery(values), placeholderData: keepPreviousData })
  const columns = useColumns()
  const t = messages.signals
  const isFiltered = [values.state, values.mode, values.domainId, values.vendor, values.project].some(Boolean)
  return (
    <>
      <PageHead title={messages.shell.pages.signals} />
      <MayLine needs="member" what={t.restrictedAction} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.intro}
      </Text>
      <Filters />
      <QueryState
        query={query}
        skeleton={<Rows />}
        isEmpty={({ pages }) => pages[0]?.signals.length === 0}
        empty={isFiltered ? <Text>{messages.parts.noneMatch}</Text> : <NoSignals />}
      >
        {({ pages }) => (
          <VirtualTable
            name={messages.shell.pages.signals}
            rows={worstFirst(pages.flatMap(({ signals }) => signals))}
            columns={columns}
            idOf={({ domainId, vendor, event }) => `${domainId} ${vendor} ${event}`}
            pages={query}
            rowHeight={ROW_PX}
          />
        )}
      </QueryState>
    </>
  )
}

const worstFirst = (signals: readonly Signal[]) =>
  signals.toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state))

function Filters() {
  const { data } = useQuery(shared.domains())
  const t = messages.signals
  const any = { value: '', label: messages.parts.any }
  return (
    <FilterBar
      fields={SIGNALS}
      filters={[
        {
          ...{ is: 'one', name: 'state', label: t.status },
          options: [any, ...STATES.map((value) => ({ value, label: t.states[value] }))],
        },
        {
          ...{ is: 'one', name: 'mode', label: t.mode },
          options: [any, ...(['auto', 'muted', 'off'] as const).map((value) => ({ value, label: t.modes[value] }))],
        },
        {
          ...{ is: 'one', name: 'domainId', label: t.domain },
          options: [any, ...(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))],
        },
        { is: 'chip', name: 'vendor', label: t.vendor, options: [] },
      ]}
    />
  )
}

function NoSignals() {
  const may = useMay('admin')
  return (
    <Stack align="flex-start">
      <Text>{messages.signals.none}</Text>
      {may && (
        <Button component={Link} to="/domains/new">
          {messages.signals.addDomain}
        </Button>
      )}
    </Stack>
  )
}
