import { Anchor, Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listDomains } from '#client/sdk.gen'
import type { Domain } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { ManagedRow } from '../../components/managed-by.tsx'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { useSearchParams, useSharedParams, useSorting } from '../../url-state/use-search-params.ts'
import { DomainStatus } from './domain-status.tsx'
import { DOMAINS, domainsQuery } from './queries.ts'

/** Height of a row with a two-line name and a status. */
const NARROW_ROW_PX = 76

/** `/domains`: the monitored websites and apps. */
export function DomainsPage() {
  const [{ q, sort }] = useSearchParams(DOMAINS)
  const sorting = useSorting(DOMAINS)
  const [{ project }] = useSharedParams()
  const listQuery = domainsQuery({ q, sort, project })
  const query = useInfiniteQuery({ ...listQuery, placeholderData: keepPreviousData })
  const may = useHasRole('admin')
  const t = messages.domains
  const isFiltered = q !== '' || project !== ''
  const add = (
    <Button component={Link} to="/domains/new">
      {t.add}
    </Button>
  )
  const empty = (
    <Stack align="flex-start">
      <Text>{isFiltered ? messages.components.noneMatch : t.none}</Text>
      {!isFiltered && may && add}
    </Stack>
  )
  return (
    <>
      <PageHeader title={messages.shell.pages.domains}>
        <ExportMenu of={listDomains} queryKey={listQuery.queryKey} name="domains" />
        {may && add}
      </PageHeader>
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <FilterBar fields={DOMAINS} filters={[{ is: 'search', name: 'q' }]} />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
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
              to: status === 'waiting' ? '/domains/$id/setup' : '/domains/$id',
              params: { id },
            })}
            pages={query}
            sorting={sorting}
          />
        )}
      </QueryState>
    </>
  )
}

function columnsWith(openIssues: Readonly<Record<string, number>>) {
  const t = messages.domains
  return [
    {
      id: 'name',
      head: t.name,
      sort: 'name',
      isLink: true,
      cell: ({ name }: Domain) => <Data>{name}</Data>,
      below: ({ managedBy }: Domain) => <ManagedRow managedBy={managedBy} />,
    },
    { id: 'state', head: t.status, width: '150px', isUnderMain: true, cell: DomainStatus },
    {
      id: 'issues',
      head: t.openIssues,
      width: '110px',
      isFigure: true,
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
      id: 'events',
      head: t.events24h,
      sort: 'events24h',
      width: '140px',
      isFigure: true,
      hideBelow: 768 as const,
      cell: ({ id, events24h }: Domain) => (
        <Anchor component={Link} to="/explore/events" search={{ domainId: id } as never} fz="sm">
          <Num value={events24h} />
        </Anchor>
      ),
    },
    {
      id: 'vendors',
      head: t.vendorCount,
      width: '100px',
      isFigure: true,
      hideBelow: 1200 as const,
      cell: ({ id, vendorCount }: Domain) => (
        <Anchor component={Link} to={`/domains/${id}/vendors`} fz="sm">
          <Num value={vendorCount} />
        </Anchor>
      ),
    },
    {
      id: 'last',
      head: t.lastEvent,
      sort: 'lastEventAt',
      isHighestFirst: true,
      width: '140px',
      hideBelow: 768 as const,
      cell: ({ lastEventAt }: Domain) => <TimeAgo at={lastEventAt} missing={messages.displayNames.never} isQuiet />,
    },
  ]
}
