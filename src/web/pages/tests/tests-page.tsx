import { Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FlowTest } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { ManagedRow } from '../../components/managed-by.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { type Column, VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { runTest, testsQuery } from './queries.ts'
import { TEST_MARKS } from './status-marks.ts'
import { SectionLinks } from './tests-and-audits-links.tsx'

/** `/tests`: flow tests with their most recent results. */
export function TestsPage() {
  const query = useInfiniteQuery(testsQuery())
  const may = useHasRole('member')
  const t = messages.tests
  const create = may && (
    <Button component={Link} to="/tests/new">
      {t.newTest}
    </Button>
  )
  return (
    <>
      <PageHeader title={messages.shell.pages.tests}>{create}</PageHeader>
      <SectionLinks here="tests" />
      <RoleNotice needs="member" what={t.restrictedAction} />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
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
    { id: 'status', head: t.lastResult, width: '130px', isUnderMain: true, cell: StatusCell },
    { id: 'name', head: t.name, isLink: true, cell: ({ name }) => <Data>{name}</Data>, below: ManagedRow },
    {
      id: 'severity',
      head: t.severity,
      width: '120px',
      hideBelow: 768,
      cell: ({ severity }) => <SeverityMark severity={severity} />,
    },
    {
      id: 'schedule',
      head: t.schedule,
      width: '180px',
      hideBelow: 768,
      cell: ({ schedule, runOnChange, enabled }) => {
        if (!enabled) return t.disabled
        if (schedule !== null) return <Data>{schedule}</Data>
        return runOnChange ? t.afterChange : t.manual
      },
    },
    {
      id: 'acts',
      head: messages.settings.actions,
      isHeadHidden: true,
      width: '110px',
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
