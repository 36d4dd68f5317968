import { Anchor, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { listGateRuns } from '#client/sdk.gen'
import type { GateRunSummary } from '#client/types.gen'
import { Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { type Column, VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { gateRunsQuery } from './queries.ts'
import { GATE_MARKS } from './status-marks.ts'

/** The guide in the documentation that this server serves. */
const GUIDE = '/docs/use/release-gate'

/** `/gate`: the runs of the release gate, most recent first. */
export function GateRunsPage() {
  const listQuery = gateRunsQuery()
  const query = useInfiniteQuery(listQuery)
  const t = messages.gate
  return (
    <>
      <PageHeader title={t.title}>
        <ExportMenu of={listGateRuns} queryKey={listQuery.queryKey} name="gate-runs" />
      </PageHeader>
      <Text c="dimmed" mb="md">
        {t.intro}{' '}
        <Anchor href={GUIDE} underline="always">
          {t.guide}
        </Anchor>
      </Text>
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ pages }) => pages[0]?.runs.length === 0}
        empty={<Text maw="72ch">{t.none}</Text>}
      >
        {({ pages }) => (
          <VirtualTable
            name={t.title}
            rows={pages.flatMap(({ runs }) => runs)}
            columns={columns()}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: '/gate/$id', params: { id } })}
            pages={query}
          />
        )}
      </QueryState>
    </>
  )
}

function columns(): Column<GateRunSummary>[] {
  const t = messages.gate
  return [
    {
      id: 'status',
      head: t.status,
      width: '130px',
      isUnderMain: true,
      cell: ({ status }) => <StatusMark status={GATE_MARKS[status]} word={t.statuses[status]} />,
    },
    { id: 'ref', head: t.ref, isLink: true, cell: ({ ref }) => (ref === null ? t.noRef : <Data>{ref}</Data>) },
    { id: 'name', head: t.name, width: '180px', hideBelow: 768, cell: ({ name }) => <Data>{name}</Data> },
    {
      id: 'problems',
      head: t.problems,
      width: '110px',
      isFigure: true,
      hideBelow: 768,
      cell: ({ problems }) => <Num value={problems} />,
    },
    {
      id: 'baseline',
      head: t.baseline,
      width: '110px',
      isUnderMain: true,
      cell: ({ approvedAt }) => (approvedAt === null ? null : t.approved),
    },
    { id: 'when', head: t.time, width: '120px', cell: ({ createdAt }) => <TimeAgo at={createdAt} isQuiet /> },
  ]
}
