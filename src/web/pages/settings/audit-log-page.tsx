import { Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { listAuditEntriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { listAuditEntries } from '#client/sdk.gen'
import type { AuditEntry } from '#client/types.gen'
import type { Role } from '../../../contract/roles.ts'
import { useMembers } from '../../api/members.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { useHasRole, useWhoamiQuery } from '../../api/whoami.ts'
import { Code, Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import type { Option } from '../../components/multi-choice.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { DateTime } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { useSearchParams, useSorting } from '../../url-state/use-search-params.ts'
import { AUDIT_LOG, PERIODS } from './audit-log-params.ts'
import { SettingsLayout } from './settings-layout.tsx'

const DAY_MS = 86_400_000

type Params = ValuesOf<typeof AUDIT_LOG>

const PERIOD_DAYS: Readonly<Record<Params['period'], number | null>> = { all: null, day: 1, week: 7, month: 30 }

/** The query for the entries that match the filters in the URL. */
function useEntriesQuery() {
  const [{ sort, act, userId, period }] = useSearchParams(AUDIT_LOG)
  // The time stays the same until the period changes, because the query would otherwise be a new one in each rendering.
  const from = useMemo(() => {
    const days = PERIOD_DAYS[period]
    return days === null ? undefined : Date.now() - days * DAY_MS
  }, [period])
  const filters = { ...(act ? { act } : {}), ...(userId ? { userId } : {}), ...(from ? { from } : {}) }
  const isFiltered = Object.keys(filters).length > 0
  return { ...listAuditEntriesInfiniteOptions({ query: { limit: PAGE_SIZE, sort, ...filters } }), isFiltered }
}

/** `/settings/audit-log`: changes and the users who made them, most recent first. */
export function AuditLogPage() {
  const who = useWhoamiQuery()
  const may = useHasRole('admin')
  const { queryKey } = useEntriesQuery()
  const t = messages.settings.auditLog
  return (
    <SettingsLayout
      name="audit-log"
      acts={may && <ExportMenu of={listAuditEntries} queryKey={queryKey} name="audit-log" />}
    >
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <QueryState query={who}>
        {() =>
          may && (
            <>
              <Filters />
              <Entries />
            </>
          )
        }
      </QueryState>
    </SettingsLayout>
  )
}

function Filters() {
  const members = useMembers()
  const t = messages.settings.auditLog
  const actions = Object.entries(t.actions).map(([value, label]) => ({ value, label }))
  const users = members.map(({ id, name, email }) => ({ value: id, label: email ?? name ?? id }))
  const byLabel = (options: Option[]) => options.sort((a, b) => a.label.localeCompare(b.label))
  const periods = PERIODS.map((value) => ({ value, label: t.periods[value] }))
  return (
    <FilterBar
      fields={AUDIT_LOG}
      filters={[
        { is: 'one', name: 'act', label: t.action, options: [{ value: '', label: t.anyAction }, ...byLabel(actions)] },
        { is: 'one', name: 'userId', label: t.user, options: [{ value: '', label: t.anyUser }, ...byLabel(users)] },
        { is: 'one', name: 'period', label: t.period, options: periods },
      ]}
    />
  )
}

function Entries() {
  const { isFiltered, ...entriesQuery } = useEntriesQuery()
  const sorting = useSorting(AUDIT_LOG)
  const query = useInfiniteQuery({ ...entriesQuery, placeholderData: keepPreviousData })
  const t = messages.settings.auditLog
  const none = isFiltered ? t.noMatch : t.none
  return (
    <QueryState query={query} isEmpty={({ pages }) => pages[0]?.entries.length === 0} empty={<Text>{none}</Text>}>
      {({ pages }) => (
        <SimpleTable
          name={messages.settings.pages['audit-log']}
          rows={pages.flatMap(({ entries }) => entries)}
          pages={query}
          sorting={sorting}
          keyOf={({ id }) => id}
          columns={[
            { head: t.action, sort: 'act', cell: (entry) => <Action {...entry} /> },
            {
              head: t.user,
              cell: ({ email, userId }) =>
                email ? <Data>{email}</Data> : userId ? messages.displayNames.formerMember : t.notSignedIn,
            },
            { head: t.address, cell: ({ address }) => <Data>{address}</Data> },
            { head: t.time, sort: 'at', isHighestFirst: true, cell: ({ at }) => <DateTime at={at} /> },
          ]}
        />
      )}
    </QueryState>
  )
}

/** The target of changes to the ownership rules, which the action names. */
const OWNERSHIP = 'ownership'

/** The action and its target. A target without a name is shown by its id. */
function Action({ act, target, targetName, userId, note }: AuditEntry) {
  const t = messages.settings.auditLog
  const isOwn = target === null || target === userId || target === OWNERSHIP
  const { role } = note
  return (
    <>
      {t.actions[act] ?? <Code>{act}</Code>}{' '}
      {!isOwn && (targetName ? <Data>{targetName}</Data> : <Code>{target}</Code>)}{' '}
      {typeof role === 'string' && t.newRole(messages.displayNames.roles[role as Role])}
    </>
  )
}
