import { Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listAuditsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { Audit } from '#client/types.gen'
import { PAGED } from '../../api/pages.ts'
import { useMay } from '../../api/who.ts'
import { Ago } from '../../parts/ago.tsx'
import { Data } from '../../parts/data.tsx'
import { MayLine } from '../../parts/may.tsx'
import { Num } from '../../parts/numbers.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState, Rows } from '../../parts/query-state.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { words } from '../../words.ts'
import { Sections } from '../tests/sections.tsx'
import { AUDIT_STANDING } from '../tests/standing.ts'

const AT_ONCE = 50

/** `/audits`: what was looked at page by page. */
export function AuditsPage() {
  const query = useInfiniteQuery({ ...listAuditsInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })
  const may = useMay('member')
  const said = words.tests
  const create = may && (
    <Button component={Link} to="/audits/new">
      {said.newAudit}
    </Button>
  )
  return (
    <>
      <PageHead title={said.audits}>{create}</PageHead>
      <Sections here="audits" />
      <MayLine needs="member" what={said.what} />
      <QueryState
        query={query}
        skeleton={<Rows />}
        isEmpty={({ pages }) => pages[0]?.audits.length === 0}
        empty={<Text maw="72ch">{said.noAudits}</Text>}
      >
        {({ pages }) => (
          <VirtualTable
            name={said.audits}
            rows={pages.flatMap(({ audits }) => audits)}
            columns={columns()}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: '/audits/$id', params: { id } })}
            pages={query}
          />
        )}
      </QueryState>
    </>
  )
}

const Standing = ({ status }: Audit) => (
  <StatusMark status={AUDIT_STANDING[status]} word={words.tests.auditStatuses[status]} />
)

function columns(): Column<Audit>[] {
  const said = words.tests
  const count = (id: keyof Audit['summary'], head: string): Column<Audit> => ({
    ...{ id, head, width: '110px', isFigure: true, hideBelow: 768 },
    cell: ({ summary }) => <Num value={summary[id]} />,
  })
  return [
    { id: 'status', head: said.status, width: '130px', isUnderMain: true, cell: Standing },
    { id: 'name', head: said.name, isLink: true, cell: ({ name }) => <Data>{name}</Data> },
    count('pagesTotal', said.pages),
    count('missing', said.missing),
    count('beforeConsent', said.beforeConsent),
    { id: 'when', head: said.when, width: '120px', cell: ({ createdAt }) => <Ago at={createdAt} isQuiet /> },
  ]
}
