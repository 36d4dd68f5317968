import { Paper, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getTagPerformance } from '#client/sdk.gen'
import type { TagPerformance } from '#client/types.gen'
import { Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { formatNumber, formatPercent } from '../../components/format.ts'
import { Duration, Num } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { type SimpleColumn, SimpleTable } from '../../components/simple-table.tsx'
import { messages } from '../../messages.ts'
import classes from './explore.module.css'
import { ExploreHeader, NoEvents, useExploreParams } from './explore-header.tsx'
import { Meter } from './meter.tsx'
import { exploreQueries, periodOn } from './queries.ts'

type Vendor = TagPerformance['vendors'][number]

/** `/explore/performance`: the performance cost of each vendor's code on the pages that load it. */
export function PerformancePage() {
  const params = useExploreParams()
  const options = exploreQueries.performance(params)
  const query = useQuery({ ...options, placeholderData: keepPreviousData })
  return (
    <>
      <ExploreHeader
        name="performance"
        period={periodOn('performance', params)}
        acts={<ExportMenu of={getTagPerformance} queryKey={options.queryKey} name="performance" />}
      />
      <Paper>
        <QueryState
          query={query}
          isEmpty={({ vendors }) => vendors.length === 0}
          empty={<NoEvents sentence={messages.explore.performance.notMeasured} />}
        >
          {({ vendors, pagesSampled, loafCoverage }) => (
            <>
              <Text mb="md" maw="72ch">
                {messages.explore.performance.about(formatNumber(pagesSampled), formatPercent(loafCoverage))}
              </Text>
              <SimpleTable
                name={messages.explore.pages.performance}
                columns={columns(loafCoverage > 0)}
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

/** Blocking time is unknown, rather than 0, when no browser reports it. */
const columns = (isBlockingKnown: boolean): SimpleColumn<Vendor>[] => {
  const t = messages.explore.performance
  return [
    {
      head: t.vendor,
      sortBy: ({ vendor }) => vendor,
      cell: ({ vendor, hosts }) => (
        <>
          <Data>{vendor}</Data>
          <div className={classes.hosts}>
            <Data>{hosts.join(', ')}</Data>
          </div>
        </>
      ),
    },
    {
      head: t.p75Blocking,
      isNumber: true,
      sortBy: ({ p75BlockMs }) => p75BlockMs,
      cell: ({ p75BlockMs }) => <Duration ms={isBlockingKnown ? p75BlockMs : null} />,
    },
    {
      head: t.blockingShare,
      isNumber: true,
      sortBy: ({ blockShare }) => blockShare,
      cell: ({ blockShare }) => (isBlockingKnown ? <Meter share={blockShare} /> : <Num value={null} />),
    },
    { head: t.pages, isNumber: true, sortBy: ({ pages }) => pages, cell: ({ pages }) => <Num value={pages} /> },
    {
      head: t.requestsPerPage,
      isNumber: true,
      sortBy: ({ reqPerPage }) => reqPerPage,
      cell: ({ reqPerPage }) => <Num value={reqPerPage} digits={1} />,
    },
    {
      head: t.median,
      isNumber: true,
      sortBy: ({ p50DurMs }) => p50DurMs,
      cell: ({ p50DurMs }) => <Duration ms={p50DurMs} />,
    },
    {
      head: t.p75,
      isNumber: true,
      sortBy: ({ p75DurMs }) => p75DurMs,
      cell: ({ p75DurMs }) => <Duration ms={p75DurMs} />,
    },
    { head: t.longest, isNumber: true, sortBy: ({ maxMs }) => maxMs, cell: ({ maxMs }) => <Duration ms={maxMs} /> },
    {
      head: t.kbPerPage,
      isNumber: true,
      sortBy: ({ kbPerPage }) => kbPerPage,
      cell: ({ kbPerPage }) => <Num value={kbPerPage} digits={1} unit="kB" />,
    },
  ]
}
