import { Anchor, Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Domain } from '#client/types.gen'
import { useShared, useValues } from '../../address/use-search.ts'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { Ago } from '../../parts/ago.tsx'
import { Data } from '../../parts/data.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { MayLine } from '../../parts/may.tsx'
import { Num } from '../../parts/numbers.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState, Rows } from '../../parts/query-state.tsx'
import { VirtualTable } from '../../parts/virtual-table.tsx'
import { DomainStatus } from './domain-status.tsx'
import { DOMAINS, domainsQuery } from './queries.ts'

/** Height of a row with a two-line name and a status. */
const NARROW_ROW_PX = 76

/** `/domains`: the monitored websites and apps. */
export function DomainsPage() {
  const [{ q }] = useValues(DOMAINS)
  const [{ project }] = useShared()
  const query = useInfiniteQuery({ ...domainsQuery({ q, project }), placeholderData: keepPreviousData })
  const may = useMay('admin')
  const t = messages.domains
  const isFiltered = q !== '' || project !== ''
  const add = (
    <Button component={Link} to="/domains/new">
      {t.add}
    </Button>
  )
  const empty = (
    <Stack align="flex-start">
      <Text>{isFiltered ? messages.parts.noneMatch : t.none}</Text>
      {!isFiltered && may && add}
    </Stack>
  )
  return (
    <>
      <PageHead title={messages.shell.pages.domains}>{may && add}</PageHead>
      <MayLine needs="admin" what={t.restrictedAction} />
      <FilterBar fields={DOMAINS} filters={[{ is: 'search', name: 'q' }]} />
      <QueryState
        query={query}
        skeleton={<Rows />}
        isEmpty={({ pages }) => pages[0]?.domains.length === 0}
        empty={empty}
      >
        {({ pages }) => (
          <VirtualTable
            name={messages.shell.pages.domains}
            rows={pages.flatMap(({ domains }) => domains)}
            columns={columnsWith(Object.assign({}, ...pages.map(({ openIssues }) => openIssues)))}
            idOf={({ id }) => id}
            narrowRowHeight={NARROW_ROW_PX}
            linkOf={({ id, status }) => ({
              to: status === 'waiting' ? '/domains/$id/setup' : '/domains/$id/live',
              params: { id },
            })}
            pages={query}
          />
        )}
      </QueryState>
    </>
  )
}

function columnsWith(openIssues: Readonly<Record<string, number>>) {
  const t = messages.domains
  return [
    { id: 'name', head: t.name, isLink: true, cell: ({ name }: Domain) => <Data>{name}</Data> },
    { id: 'state', head: t.status, width: '150px', isUnderMain: true, cell: DomainStatus },
    {
      ...{ id: 'issues', head: t.openIssues, width: '110px', isFigure: true },
      cell: ({ id }: Domain) =>
        openIssues[id] ? (
          <Anchor component={Link} to="/issues" search={{ domainId: id } as never} fz="sm">
            <Num value={openIssues[id]} />
          </Anchor>
        ) : (
          <Num value={0} />
        ),
    },
    {
      ...{ id: 'events', head: t.events24h, width: '140px', isFigure: true, hideBelow: 768 as const },
      cell: ({ id, events24h }: Domain) => (
        <Anchor component={Link} to="/explore/events" search={{ domainId: id } as never} fz="sm">
          <Num value={events24h} />
        </Anchor>
      ),
    },
    {
      ...{ id: 'vendors', head: t.vendorCount, width: '100px', isFigure: true, hideBelow: 1200 as const },
      cell: ({ id, vendorCount }: Domain) => (
        <Anchor component={Link} to={`/domains/${id}/vendors`} fz="sm">
          <Num value={vendorCount} />
        </Anchor>
      ),
    },
    {
      ...{ id: 'last', head: t.lastEvent, width: '140px', hideBelow: 768 as const },
      cell: ({ lastEventAt }: Domain) => <Ago at={lastEventAt} missing={messages.api.never} isQuiet />,
    },
  ]
}
