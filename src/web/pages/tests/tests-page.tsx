import { Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FlowTest } from '#client/types.gen'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { Data } from '../../parts/data.tsx'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState, Rows } from '../../parts/query-state.tsx'
import { SeverityMark } from '../../parts/severity-mark.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { runTest, testsQuery } from './queries.ts'
import { SectionLinks } from './section-links.tsx'
import { TEST_MARKS } from './status-marks.ts'

/** `/tests`: flow tests with their last results. */
export function TestsPage() {
  const query = useInfiniteQuery(testsQuery())
  const may = useMay('member')
  const t = messages.tests
  const create = may && (
    <Button component={Link} to="/tests/new">
      {t.newTest}
    </Button>
  )
  return (
    <>
      <PageHead title={messages.shell.pages.tests}>{create}</PageHead>
      <SectionLinks here="tests" />
      <MayLine needs="member" what={t.restrictedAction} />
      <QueryState
        query={query}
        skeleton={<Rows />}
        isEmpty={({ pages }) => pages[0]?.tests.length === 0}
        empty={<Text maw="72ch">{t.noTests}</Text>}
      >
        {({ pages }) => (
          <VirtualTable
            name={t.tests}
            rows={pages.flatMap(({ tests }) => tests)}
            columns={columnsFor(may)}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: '/tests/$id', params: { id } })}
            pages={query}
          />
        )}
      </QueryState>
    </>
  )
}

const StatusCell = ({ status }: FlowTest) => (
  <StatusMark status={TEST_MARKS[status]} word={messages.tests.statuses[status]} />
)

function columnsFor(may: boolean): Column<FlowTest>[] {
  const t = messages.tests
  return [
    { id: 'status', head: t.status, width: '130px', isUnderMain: true, cell: StatusCell },
    { id: 'name', head: t.name, isLink: true, cell: ({ name }) => <Data>{name}</Data> },
    {
      ...{ id: 'severity', head: t.severity, width: '120px', hideBelow: 768 },
      cell: ({ severity }) => <SeverityMark severity={severity} />,
    },
    {
      ...{ id: 'schedule', head: t.schedule, width: '180px', hideBelow: 768 },
      cell: ({ schedule, runOnChange, enabled }) => {
        if (!enabled) return t.disabled
        if (schedule !== null) return <Data>{schedule}</Data>
        return runOnChange ? t.afterChange : t.manual
      },
    },
    {
      ...{ id: 'acts', head: messages.settings.actions, isHeadHidden: true, width: '110px' },
      cell: (test) =>
        may && (
          <Button
            size="compact-sm"
            variant="default"
            aria-description={test.name}
            onClick={(event) => {
              event.stopPropagation()
              void runTest(test.id)
            }}
          >
            {t.runNow}
          </Button>
        ),
    },
  ]
}
