import { Paper, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { PerformanceStats } from '#client/types.gen'
import { Data } from '../../components/data-text.tsx'
import { Duration, Num } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { type SimpleColumn, SimpleTable } from '../../components/simple-table.tsx'
import { messages } from '../../messages.ts'
import { ExploreHeader, NoEvents, useExploreParams } from './explore-header.tsx'
import { Meter } from './meter.tsx'
import { exploreQueries, periodOn } from './queries.ts'

type Vendor = PerformanceStats['vendors'][number]

/** `/explore/execution`: run time and failure rate of tags. */
export function ExecutionPage() {
  const params = useExploreParams()
  const query = useQuery({ ...exploreQueries.execution(params), placeholderData: keepPreviousData })
  return (
    <>
      <ExploreHeader name="execution" period={periodOn('execution', params)} />
      <Paper>
        <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<NoEvents />}>
          {({ vendors }) => (
            <>
              <Text mb="md" maw="72ch">
                {messages.explore.execution.about}
              </Text>
              <SimpleTable
                name={messages.explore.pages.execution}
                columns={columns()}
                rows={vendors}
                keyOf={({ vendor }) => vendor}
              />
            </>
          )}
        </QueryState>
      </Paper>
    </>
  )
}

/** Returns null for an unknown time, which the server reports as a maximum of 0. */
const known = (ms: number, longest: number): number | null => (longest === 0 ? null : ms)

const columns = (): SimpleColumn<Vendor>[] => {
  const t = messages.explore.execution
  return [
    { head: t.vendor, sortBy: ({ vendor }) => vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
    {
      head: t.events,
      isNumber: true,
      sortBy: ({ events }) => events,
      cell: ({ events }) => <Num value={events} digits={0} />,
    },
    {
      head: t.average,
      isNumber: true,
      sortBy: ({ avgExecMs, maxExecMs }) => known(avgExecMs, maxExecMs),
      cell: ({ avgExecMs, maxExecMs }) => <Duration ms={known(avgExecMs, maxExecMs)} />,
    },
    {
      head: t.longest,
      isNumber: true,
      sortBy: ({ maxExecMs }) => known(maxExecMs, maxExecMs),
      cell: ({ maxExecMs }) => <Duration ms={known(maxExecMs, maxExecMs)} />,
    },
    {
      head: t.failures,
      isNumber: true,
      sortBy: ({ failures }) => failures,
      cell: ({ failures }) => <Num value={failures} digits={0} />,
    },
    {
      head: t.failureRate,
      isNumber: true,
      sortBy: ({ failurePct }) => failurePct,
      cell: ({ failurePct }) => <Meter share={failurePct / 100} isBad={failurePct > 0} />,
    },
  ]
}
