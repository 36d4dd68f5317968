import { Button, Menu, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listAlerts } from '#client/sdk.gen'
import { errorMessage } from '../../api/api-error.ts'
import { save } from '../../api/download-export.ts'
import { sharedQueries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ColumnsMenu, useShownColumns } from '../../components/columns-menu.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { ClearFilters, type Filter, FilterBar, useIsFiltered } from '../../components/filter-bar.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SHARED_PARAMS } from '../../url-state/search-params.ts'
import { useSearchParams, useSorting } from '../../url-state/use-search-params.ts'
import { columnsWith } from './alert-columns.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { ALERTS, alertsQuery, loadAlertsForExport } from './queries.ts'
import { SuggestedAlerts } from './suggested-alerts.tsx'

/** `/alerts`: the alerts, each with a switch, and suggested rules. */
export function AlertsPage() {
  const [values] = useSearchParams({ ...ALERTS, ...SHARED_PARAMS })
  const sorting = useSorting(ALERTS)
  const listQuery = alertsQuery(values)
  const query = useInfiniteQuery({ ...listQuery, placeholderData: keepPreviousData })
  const domains = useDomainNames()
  const openIssues = Object.assign({}, ...(query.data?.pages ?? []).map((page) => page.openIssues))
  const states = Object.assign({}, ...(query.data?.pages ?? []).map((page) => page.states))
  const columns = columnsWith({ domains, openIssues, states })
  const shown = useShownColumns('alerts', columns)
  const filters = useFilters(domains)
  const isFiltered = useIsFiltered({ fields: ALERTS, filters }) || values.project !== ''
  const empty = isFiltered ? (
    <Stack align="flex-start">
      <Text>{messages.components.noneMatch}</Text>
      <ClearFilters fields={ALERTS} filters={filters} />
    </Stack>
  ) : (
    <NoAlerts />
  )
  return (
    <>
      <PageHeader title={messages.shell.pages.alerts}>
        <ColumnsMenu table="alerts" columns={columns} />
        <ExportMenu of={listAlerts} queryKey={listQuery.queryKey} name="alerts">
          <Menu.Item onClick={() => void exportAll()}>{messages.alerts.exportFile}</Menu.Item>
        </ExportMenu>
        <Actions />
      </PageHeader>
      <RoleNotice needs="member" what={messages.alerts.restrictedAction} />
      <FilterBar fields={ALERTS} filters={filters} views="alerts" />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ pages }) => pages[0]?.alerts.length === 0}
        empty={empty}
      >
        {({ pages }) => (
          <VirtualTable
            name={messages.shell.pages.alerts}
            rows={pages.flatMap(({ alerts }) => alerts)}
            columns={shown}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: '/alerts/$id', params: { id } })}
            pages={query}
            sorting={sorting}
            sortColumns={columns}
          />
        )}
      </QueryState>
      <SuggestedAlerts />
    </>
  )
}

function Actions() {
  const may = useHasRole('member')
  const [isImporting, importing] = useDisclosure()
  const t = messages.alerts
  return (
    <>
      {may && (
        <Button variant="default" onClick={importing.open}>
          {t.import}
        </Button>
      )}
      {may && (
        <Button component={Link} to="/alerts/new">
          {t.new}
        </Button>
      )}
      <ImportDialog isOpen={isImporting} close={importing.close} />
    </>
  )
}

/** Downloads a file with all alerts, regardless of filters, which can be imported. */
async function exportAll(): Promise<void> {
  try {
    const alerts = await loadAlertsForExport()
    save(new Blob([`${JSON.stringify(alerts, null, 2)}\n`], { type: 'application/json' }), 'tagwarden-alerts.json')
    notices.say(messages.alerts.exported(alerts.length))
  } catch (error) {
    notices.refuse(errorMessage(error), () => void exportAll())
  }
}

function NoAlerts() {
  const may = useHasRole('member')
  return (
    <Stack align="flex-start">
      <Text>{messages.alerts.none}</Text>
      {may && (
        <Button component={Link} to="/alerts/new">
          {messages.alerts.new}
        </Button>
      )}
    </Stack>
  )
}

function useDomainNames(): ReadonlyMap<string, string> {
  const { data } = useQuery(sharedQueries.domains())
  return new Map(data?.domains.map(({ id, name }) => [id, name]))
}

function useFilters(domains: ReadonlyMap<string, string>): readonly Filter<keyof typeof ALERTS>[] {
  const { data } = useQuery(sharedQueries.forms())
  const t = messages.alerts
  const titles: Readonly<Record<string, string>> = messages.displayNames.alertTypes
  return [
    { is: 'search', name: 'q' },
    {
      is: 'several',
      name: 'alertType',
      label: t.type,
      options: data?.alertTypes.map(({ kind, title }) => ({ value: kind, label: titles[kind] ?? title })) ?? [],
    },
    {
      is: 'several',
      name: 'domainId',
      label: t.domain,
      isData: true,
      options: [...domains].map(([value, label]) => ({ value, label })),
    },
    {
      is: 'one',
      name: 'enabled',
      label: t.status,
      options: [
        { value: '', label: t.statusFilters.all },
        { value: 'true', label: t.statusFilters.true },
        { value: 'false', label: t.statusFilters.false },
      ],
    },
  ]
}
