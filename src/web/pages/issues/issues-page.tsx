import { Button, Kbd, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ComponentProps, useEffect, useMemo, useRef, useState } from 'react'
import { listAlertsOptions, listSignalsOptions } from '#client/@tanstack/react-query.gen'
import { listIssues } from '#client/sdk.gen'
import type { Issue } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { memberName, useMembers } from '../../api/members.ts'
import { STALE_MS, sharedQueries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ColumnsMenu, useShownColumns } from '../../components/columns-menu.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import type { Filter } from '../../components/filter-bar.tsx'
import { ClearFilters, FilterBar, useIsFiltered } from '../../components/filter-bar.tsx'
import type { Option } from '../../components/multi-choice.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SelectionBar } from '../../components/selection-bar.tsx'
import { useStableRows } from '../../components/stable-rows.ts'
import type { Selection } from '../../components/use-selection.ts'
import { useSelection } from '../../components/use-selection.ts'
import { VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { usePaletteActions } from '../../state/palette-actions.ts'
import { useSearchParams, useSharedParams } from '../../url-state/use-search-params.ts'
import { AssignMenu } from './assign-menu.tsx'
import type { IssueStatus } from './change-issue-status.ts'
import { setStatus } from './change-issue-status.ts'
import { issueColumns } from './issue-columns.tsx'
import classes from './issues-page.module.css'
import { rememberList } from './list-position.ts'
import { MuteMenu } from './mute-menu.tsx'
import { ISSUES, issuesQuery, SORTS } from './queries.ts'

/** `/issues`: the list of issues. */
export function IssuesPage() {
  const [values] = useSearchParams(ISSUES)
  const [{ project }] = useSharedParams()
  const listQuery = issuesQuery({ ...values, project })
  const query = useInfiniteQuery({ ...listQuery, placeholderData: keepPreviousData })
  const filters = useIssueFilters()
  const isFiltered = useIsFiltered({ fields: ISSUES, filters })
  useEffect(() => rememberList(listQuery.queryKey, values))
  const counts = query.data?.pages[0]?.openCounts
  const open = counts ? Object.values(counts).reduce((sum, count) => sum + count, 0) : 0
  const issues = useMemo(() => query.data?.pages.flatMap((page) => page.issues) ?? [], [query.data])
  const dailyCounts = useMemo(
    () => Object.assign({}, ...(query.data?.pages ?? []).map((page) => page.dailyCounts)),
    [query.data],
  )
  return (
    <>
      <PageHeader title={messages.shell.pages.issues} count={open > 0 ? String(open) : null}>
        <ColumnsMenu table="issues" columns={issueColumns()} />
        <ExportMenu of={listIssues} queryKey={listQuery.queryKey} name="issues" />
      </PageHeader>
      <RoleNotice what={messages.issues.restrictedAction} needs="member" />
      <FilterBar fields={ISSUES} filters={filters} views="issues" />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={() => issues.length === 0}
        empty={isFiltered ? <NoMatches filters={filters} /> : <NoIssues />}
      >
        {() => (
          <IssueTable
            latest={issues}
            dailyCounts={dailyCounts}
            pages={query}
            question={JSON.stringify([listQuery.queryKey, query.isPlaceholderData])}
          />
        )}
      </QueryState>
    </>
  )
}

function NoMatches({ filters }: { filters: ReturnType<typeof useIssueFilters> }) {
  return (
    <Stack align="center" gap="sm" p="xl">
      <Text fz="lg">{messages.issues.noneMatch}</Text>
      <ClearFilters fields={ISSUES} filters={filters} />
    </Stack>
  )
}

const idOf = ({ id }: Issue) => id
const nameOf = ({ title }: Issue) => title
const linkOf = ({ id }: Issue) => ({ to: '/issues/$id', params: { id } }) as const

interface IssueTableProps {
  latest: readonly Issue[]
  /** Occurrences by day, by issue id. */
  dailyCounts: Record<string, number[]>
  /** Identifies the query of the list. */
  question: string
  pages: React.ComponentProps<typeof VirtualTable>['pages']
}

function IssueTable({ latest, dailyCounts, question, pages }: IssueTableProps) {
  const list = useRef<HTMLDivElement>(null)
  const { rows: issues, newer, show } = useStableRows(latest, idOf, list, question)
  const mayChange = useHasRole('member')
  const ids = useMemo(() => issues.map(idOf), [issues])
  const selection = useSelection(ids)
  const [muting, mute] = useState<{ issues: readonly Issue[]; top: number; isOpen: boolean } | null>(null)
  const chosen = issues.filter(({ id }) => selection.ids.has(id))
  const all = useMemo(() => issueColumns(dailyCounts), [dailyCounts])
  const columns = useShownColumns('issues', all)
  const openMute = (issues: readonly Issue[]) => {
    const { top = 0 } = document.activeElement?.closest('tr')?.getBoundingClientRect() ?? {}
    mute({ issues, top, isOpen: true })
  }
  const acts = {
    a: (those: readonly Issue[]) => void setStatus(those, 'acknowledged'),
    r: (those: readonly Issue[]) => void setStatus(those, 'resolved'),
    u: (those: readonly Issue[]) => void setStatus(those, 'open'),
    m: openMute,
  }
  return (
    <>
      <div aria-live="polite" className={classes.newer}>
        {newer > 0 && (
          <Button size="compact-sm" radius="xl" onClick={show}>
            {messages.issues.showNew(newer)}
          </Button>
        )}
      </div>
      <div ref={list}>
        <VirtualTable
          name={messages.issues.table}
          columns={columns}
          idOf={idOf}
          nameOf={nameOf}
          linkOf={linkOf}
          pages={pages}
          rows={issues}
          selection={mayChange ? selection : null}
          acts={mayChange ? acts : {}}
          isGrowing
          rowHeight={72}
          narrowRowHeight={104}
        />
      </div>
      {mayChange && chosen.length > 0 && <SelectedIssues issues={chosen} selection={selection} />}
      {muting && (
        <MuteMenu issues={muting.issues} isOpen={muting.isOpen} open={(isOpen) => mute({ ...muting, isOpen })}>
          <span className={classes.anchor} style={{ top: muting.top + 44 }} />
        </MuteMenu>
      )}
    </>
  )
}

const optionsOf = (names: Readonly<Record<string, string>>): Option[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

const named = ({ id, name }: { id: string; name: string }): Option => ({ value: id, label: name })

/** Filters and sort order of the list of issues. */
function useIssueFilters(): readonly Filter<keyof typeof ISSUES>[] {
  const [{ alertId, sort }] = useSearchParams(ISSUES)
  const domains = useQuery(sharedQueries.domains()).data?.domains
  const members = useMembers().filter(({ status }) => status === 'active')
  const alerts = useQuery({
    ...listAlertsOptions({ query: { limit: MAX_PAGE_SIZE } }),
    staleTime: STALE_MS.insight,
    enabled: alertId.length > 0,
  }).data?.alerts
  const { issues, displayNames } = messages
  const assignees = [
    { value: 'me', label: issues.mine },
    { value: 'none', label: issues.unassigned },
    ...members.map((member) => ({ value: member.id, label: memberName(member) ?? messages.issue.someMember })),
  ]
  return [
    { is: 'search', name: 'q' },
    { is: 'several', name: 'status', label: issues.status, options: optionsOf(displayNames.statuses) },
    { is: 'several', name: 'severity', label: issues.severity, options: optionsOf(displayNames.severities) },
    { is: 'several', name: 'domainId', label: issues.domain, options: domains?.map(named) ?? [], isData: true },
    { is: 'several', name: 'alertType', label: issues.type, options: optionsOf(displayNames.alertTypes) },
    { is: 'several', name: 'assigneeId', label: issues.assignee, options: assignees },
    { is: 'chip', name: 'alertId', label: issues.alert, options: alerts?.map(named) ?? [] },
    {
      is: 'one',
      name: 'sort',
      label: issues.sortBy,
      options: SORTS.flatMap((value) => [
        { value, label: issues.sorts[value] },
        // Set by a link.
        ...(sort === `-${value}` ? [{ value: sort, label: issues.reversed(issues.sorts[value]) }] : []),
      ]),
    },
  ]
}

/** Message that there are no issues, with the number of monitored signals and alerts. */
function NoIssues() {
  const signals = useQuery(listSignalsOptions({ query: { limit: MAX_PAGE_SIZE } })).data
  const alerts = useQuery(listAlertsOptions({ query: { enabled: true, limit: MAX_PAGE_SIZE } })).data
  const may = useHasRole('admin')
  const isIdle = signals?.signals.length === 0 && alerts?.alerts.length === 0
  return (
    <Stack align="center" gap="xs" p="xl">
      {!isIdle && <IconCircleCheck size={24} stroke={1.75} color="var(--tw-ok-solid)" aria-hidden />}
      <Text fz="lg">{messages.issues.noIssues}</Text>
      {signals && alerts && (
        <Text c="dimmed">
          {messages.issues.watching(
            messages.issues.signals(signals.signals.length, signals.nextCursor === null),
            messages.issues.alerts(alerts.alerts.length, alerts.nextCursor === null),
          )}
        </Text>
      )}
      {isIdle && may && (
        <Button component={Link} to="/domains/new" mt="sm">
          {messages.components.addDomain}
        </Button>
      )}
    </Stack>
  )
}

/** Bulk actions for the selected issues. */
function SelectedIssues({ issues, selection }: { issues: readonly Issue[]; selection: Selection }) {
  const { acknowledge, resolve, reopen, clearSelection, selected, selectedIssues } = messages.issues
  const { acknowledgeKeywords, forSelected, muteKeywords, reopenKeywords, resolveKeywords } = messages.palette
  const [isMuting, setMuting] = useState(false)
  const offer = (name: string, letter: string, keywords: string, to: IssueStatus) => ({
    name: forSelected(name, issues.length),
    letter,
    keywords,
    run: () => void setStatus(issues, to),
  })
  usePaletteActions([
    offer(acknowledge, 'a', acknowledgeKeywords, 'acknowledged'),
    offer(resolve, 'r', resolveKeywords, 'resolved'),
    offer(reopen, 'u', reopenKeywords, 'open'),
    {
      name: forSelected(messages.issues.mute, issues.length),
      letter: 'm',
      keywords: muteKeywords,
      run: () => setMuting(true),
    },
    { name: clearSelection, letter: 'Esc', run: selection.clear },
  ])
  return (
    <SelectionBar name={selectedIssues} selected={selected(issues.length)}>
      <BulkAction name={acknowledge} letter="A" run={() => void setStatus(issues, 'acknowledged')} />
      <BulkAction name={resolve} letter="R" run={() => void setStatus(issues, 'resolved')} />
      <BulkAction name={reopen} letter="U" run={() => void setStatus(issues, 'open')} />
      <AssignMenu issues={issues} />
      <MuteMenu issues={issues} isOpen={isMuting} open={setMuting}>
        <BulkAction name={messages.issues.mute} letter="M" run={() => setMuting(!isMuting)} />
      </MuteMenu>
      <BulkAction name={clearSelection} letter="Esc" run={selection.clear} />
    </SelectionBar>
  )
}

interface BulkActionProps extends Omit<ComponentProps<typeof Button<'button'>>, 'name' | 'onClick'> {
  name: string
  letter: string
  run(): void
}

/** The other props are those that a menu passes to its target. */
function BulkAction({ name, letter, run, ...rest }: BulkActionProps) {
  return (
    <Button
      variant="default"
      {...rest}
      onClick={run}
      rightSection={
        <Kbd size="xs" aria-hidden translate="no">
          {letter}
        </Kbd>
      }
    >
      {name}
    </Button>
  )
}
