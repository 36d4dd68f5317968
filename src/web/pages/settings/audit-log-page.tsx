import { Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { listAuditEntriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { listAuditEntries } from '#client/sdk.gen'
import type { AuditEntry } from '#client/types.gen'
import type { Role } from '../../../contract/roles.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { useHasRole, useWhoamiQuery } from '../../api/whoami.ts'
import { Code, Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { DateTime } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { useSearchParams, useSorting } from '../../url-state/use-search-params.ts'
import { AUDIT_LOG } from './audit-log-params.ts'
import { SettingsLayout } from './settings-layout.tsx'

const entriesQuery = (sort: ValuesOf<typeof AUDIT_LOG>['sort']) =>
  listAuditEntriesInfiniteOptions({ query: { limit: PAGE_SIZE, sort } })

/** `/settings/audit-log`: changes and the users who made them, most recent first. */
export function AuditLogPage() {
  const who = useWhoamiQuery()
  const may = useHasRole('admin')
  const [{ sort }] = useSearchParams(AUDIT_LOG)
  const t = messages.settings.auditLog
  return (
    <SettingsLayout
      name="audit-log"
      acts={may && <ExportMenu of={listAuditEntries} queryKey={entriesQuery(sort).queryKey} name="audit-log" />}
    >
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <QueryState query={who}>{() => may && <Entries />}</QueryState>
    </SettingsLayout>
  )
}

function Entries() {
  const [{ sort }] = useSearchParams(AUDIT_LOG)
  const sorting = useSorting(AUDIT_LOG)
  const query = useInfiniteQuery({ ...entriesQuery(sort), placeholderData: keepPreviousData })
  const t = messages.settings.auditLog
  return (
    <QueryState query={query} isEmpty={({ pages }) => pages[0]?.entries.length === 0} empty={<Text>{t.none}</Text>}>
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
              cell: ({ email, userId }) => (email ? <Data>{email}</Data> : userId ? t.formerMember : t.notSignedIn),
            },
            { head: t.address, cell: ({ address }) => <Data>{address}</Data> },
            { head: t.time, sort: 'at', isHighestFirst: true, cell: ({ at }) => <DateTime at={at} /> },
          ]}
        />
      )}
    </QueryState>
  )
}

/** The action and its target. A target without a name is shown by its id. */
function Action({ act, target, targetName, userId, note }: AuditEntry) {
  const t = messages.settings.auditLog
  const isOwn = target === null || target === userId
  const { role } = note
  return (
    <>
      {t.actions[act] ?? <Code>{act}</Code>}{' '}
      {!isOwn && (targetName ? <Data>{targetName}</Data> : <Code>{target}</Code>)}{' '}
      {typeof role === 'string' && t.newRole(messages.displayNames.roles[role as Role])}
    </>
  )
}
