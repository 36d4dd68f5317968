import { Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { listAuditEntriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { AuditEntry } from '#client/types.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'
import { type Role, useMay, useWhoQuery } from '../../api/who.ts'
import { At } from '../../parts/ago.tsx'
import { Code, Data } from '../../parts/data.tsx'
import { MayLine } from '../../parts/may.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { words } from '../../words.ts'
import { SettingsFrame } from './settings-frame.tsx'

/** `/settings/audit-log`: who changed what, newest first. */
export function AuditLogPage() {
  const who = useWhoQuery()
  const may = useMay('admin')
  const said = words.settings.auditLog
  return (
    <SettingsFrame name="audit-log">
      <Text c="dimmed" mb="md">
        {said.intro}
      </Text>
      <MayLine needs="admin" what={said.what} />
      <QueryState query={who}>{() => may && <Entries />}</QueryState>
    </SettingsFrame>
  )
}

function Entries() {
  const query = useInfiniteQuery({
    ...listAuditEntriesInfiniteOptions({ query: { limit: AT_ONCE } }),
    ...PAGED,
  })
  const said = words.settings.auditLog
  return (
    <QueryState query={query} isEmpty={({ pages }) => pages[0]?.entries.length === 0} empty={<Text>{said.none}</Text>}>
      {({ pages }) => (
        <SimpleTable
          name={words.settings.pages['audit-log']}
          rows={pages.flatMap(({ entries }) => entries)}
          pages={query}
          keyOf={({ id }) => id}
          columns={[
            { head: said.act, cell: (entry) => <Done {...entry} /> },
            {
              head: said.who,
              cell: ({ email, userId }) => (email ? <Data>{email}</Data> : userId ? said.left : said.unknown),
            },
            { head: said.address, cell: ({ address }) => <Data>{address}</Data> },
            { head: said.when, cell: ({ at }) => <At at={at} /> },
          ]}
        />
      )}
    </QueryState>
  )
}

/** What was done, and to what. Of what has no name the log knows the id. */
function Done({ act, target, targetName, userId, note }: AuditEntry) {
  const said = words.settings.auditLog
  const isOwn = target === null || target === userId
  const { role } = note
  return (
    <>
      {said.acts[act] ?? <Code>{act}</Code>}{' '}
      {!isOwn && (targetName ? <Data>{targetName}</Data> : <Code>{target}</Code>)}{' '}
      {typeof role === 'string' && said.role(words.api.roles[role as Role])}
    </>
  )
}
