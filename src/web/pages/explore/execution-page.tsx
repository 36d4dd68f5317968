import { Paper, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { PerformanceStats } from '#client/types.gen'
import { Data } from '../../parts/data.tsx'
import { Duration, Num } from '../../parts/numbers.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { type SimpleColumn, SimpleTable } from '../../parts/simple-table.tsx'
import { words } from '../../words.ts'
import { ExploreHead, NothingArrived, useAsked } from './explore-head.tsx'
import { Meter } from './meter.tsx'
import { questions } from './questions.ts'

type Vendor = PerformanceStats['vendors'][number]

/** `/explore/execution`: how long tags took, and how often they failed. */
export function ExecutionPage() {
  const query = useQuery({ ...questions.execution(useAsked()), placeholderData: keepPreviousData })
  return (
    <>
      <ExploreHead name="execution" />
      <Paper>
        <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<NothingArrived />}>
          {({ vendors }) => (
            <>
              <Text mb="md" maw="72ch">
                {words.explore.execution.about}
              </Text>
              <SimpleTable
                name={words.explore.pages.execution}
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

/** The server writes 0 where no event says how long it took: that is not known. */
const known = (ms: number, longest: number): number | null => (longest === 0 ? null : ms)

const columns = (): SimpleColumn<Vendor>[] => {
  const said = words.explore.execution
  return [
    { head: said.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
    { head: said.events, isNumber: true, cell: ({ events }) => <Num value={events} digits={0} /> },
    {
      head: said.average,
      isNumber: true,
      cell: ({ avgExecMs, maxExecMs }) => <Duration ms={known(avgExecMs, maxExecMs)} />,
    },
    { head: said.longest, isNumber: true, cell: ({ maxExecMs }) => <Duration ms={known(maxExecMs, maxExecMs)} /> },
    { head: said.failures, isNumber: true, cell: ({ failures }) => <Num value={failures} digits={0} /> },
    {
      head: said.failed,
      isNumber: true,
      cell: ({ failurePct }) => <Meter share={failurePct / 100} isBad={failurePct > 0} />,
    },
  ]
}
