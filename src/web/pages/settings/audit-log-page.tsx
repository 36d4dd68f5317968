import { Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { listAuditEntriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { AuditEntry } from '#client/types.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'
import { type Role, useMay, useWhoQuery } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { At } from '../../parts/ago.tsx'
import { Code, Data } from '../../parts/data.tsx'
import { MayLine } from '../../parts/may.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/audit-log`: who changed what, most recent first. */
export function AuditLogPage() {
  const who = useWhoQuery()
  const may = useMay('admin')
  const t = messages.settings.auditLog
  return (
    <SettingsLayout name="audit-log">
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <MayLine needs="admin" what={t.restrictedAction} />
      <QueryState query={who}>{() => may && <Entries />}</QueryState>
    </SettingsLayout>
  )
}

function Entries() {
  const query = useInfiniteQuery({
    ...listAuditEntriesInfiniteOptions({ query: { limit: AT_ONCE } }),
    ...PAGED,
  })
  const t = messages.settings.auditLog
  return (
    <QueryState query={query} isEmpty={({ pages }) => pages[0]?.entries.length === 0} empty={<Text>{t.none}</Text>}>
      {({ pages }) => (
        <SimpleTable
          name={messages.settings.pages['audit-log']}
          rows={pages.flatMap(({ entries }) => entries)}
          pages={query}
          keyOf={({ id }) => id}
          columns={[
            { head: t.action, cell: (entry) => <Action {...entry} /> },
            {
              head: t.user,
              cell: ({ email, userId }) => (email ? <Data>{email}</Data> : userId ? t.formerMember : t.notSignedIn),
            },
            { head: t.address, cell: ({ address }) => <Data>{address}</Data> },
            { head: t.time, cell: ({ at }) => <At at={at} /> },
          ]}
        />
      )}
    </QueryState>
  )
}

/** The action and its target; a target without a name is shown by its id. */
function Action({ act, target, targetName, userId, note }: AuditEntry) {
  const t = messages.settings.auditLog
  const isOwn = target === null || target === userId
  const { role } = note
  return (
    <>
      {t.actions[act] ?? <Code>{act}</Code>}{' '}
      {!isOwn && (targetName ? <Data>{targetName}</Data> : <Code>{target}</Code>)}{' '}
      {typeof role === 'string' && t.newRole(messages.api.roles[role as Role])}
    </>
  )
}
