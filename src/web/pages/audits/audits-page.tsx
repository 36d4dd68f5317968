import { Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listAuditsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { listAudits } from '#client/sdk.gen'
import type { Audit } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { type Column, VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { useSearchParams, useSorting } from '../../url-state/use-search-params.ts'
import { AUDIT_MARKS } from '../tests/status-marks.ts'
import { SectionLinks } from '../tests/tests-and-audits-links.tsx'
import { AUDITS } from './queries.ts'

const PAGE_SIZE = 50

/** `/audits`: the list of audits. */
export function AuditsPage() {
  const [{ sort }] = useSearchParams(AUDITS)
  const sorting = useSorting(AUDITS)
  const listQuery = listAuditsInfiniteOptions({ query: { limit: PAGE_SIZE, sort } })
  const query = useInfiniteQuery(listQuery)
  const may = useHasRole('member')
  const t = messages.tests
  const create = may && (
    <Button component={Link} to="/audits/new">
      {t.newAudit}
    </Button>
  )
  return (
    <>
      <PageHeader title={t.audits}>
        <ExportMenu of={listAudits} queryKey={listQuery.queryKey} name="audits" />
        {create}
      </PageHeader>
      <SectionLinks here="audits" />
      <RoleNotice needs="member" what={t.restrictedAction} />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ pages }) => pages[0]?.audits.length === 0}
        empty={<Text maw="72ch">{t.noAudits}</Text>}
      >
        {({ pages }) => (
          <VirtualTable
            name={t.audits}
            rows={pages.flatMap(({ audits }) => audits)}
            columns={columns()}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: '/audits/$id', params: { id } })}
            pages={query}
            sorting={sorting}
          />
        )}
      </QueryState>
    </>
  )
}

const StatusCell = ({ status }: Audit) => (
  <StatusMark status={AUDIT_MARKS[status]} word={messages.tests.auditStatuses[status]} />
)

function columns(): Column<Audit>[] {
  const t = messages.tests
  const count = (id: keyof Audit['summary'], head: string): Column<Audit> => ({
    id,
    head,
    sort: id,
    width: '110px',
    isFigure: true,
    hideBelow: 768,
    cell: ({ summary }) => <Num value={summary[id]} />,
  })
  return [
    { id: 'status', head: t.status, sort: 'status', width: '130px', isUnderMain: true, cell: StatusCell },
    { id: 'name', head: t.name, sort: 'name', isLink: true, cell: ({ name }) => <Data>{name}</Data> },
    count('pagesTotal', t.pages),
    count('missing', t.missing),
    count('beforeConsent', t.beforeConsent),
    {
      id: 'when',
      head: t.time,
      sort: 'createdAt',
      isHighestFirst: true,
      width: '120px',
      cell: ({ createdAt }) => <TimeAgo at={createdAt} isQuiet />,
    },
  ]
}
