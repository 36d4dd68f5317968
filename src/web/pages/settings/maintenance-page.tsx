import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listMaintenanceInfiniteOptions, listProjectsOptions } from '#client/@tanstack/react-query.gen'
import { deleteMaintenance } from '#client/sdk.gen'
import type { Maintenance } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Data } from '../../components/data-text.tsx'
import { formatList, formatMoment } from '../../components/format.ts'
import { ManagedMark } from '../../components/managed-by.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { useNow } from '../../components/use-now.ts'
import { useTimeZone } from '../../components/use-time-zone.ts'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { MaintenanceForm } from './maintenance-form.tsx'
import { SettingsLayout } from './settings-layout.tsx'

/** Number of occurrences in the table. */
const SHOWN_OCCURRENCES = 3

/** `/settings/maintenance`: windows during which notifications are withheld. */
export function MaintenancePage() {
  const query = useInfiniteQuery(listMaintenanceInfiniteOptions({ query: { limit: PAGE_SIZE } }))
  const may = useHasRole('member')
  const [edited, edit] = useState<Maintenance | 'new' | null>(null)
  const [leaving, remove] = useState<Maintenance | null>(null)
  const t = messages.maintenance
  const refresh = () => invalidate('listMaintenance', 'listIssues', 'getIssue')
  const act = async ({ id, name }: Maintenance) => {
    await deleteMaintenance({ path: { id } })
    await refresh()
    notices.say(t.deleted(name))
  }
  return (
    <SettingsLayout name="maintenance" acts={may && <Button onClick={() => edit('new')}>{t.create}</Button>}>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <QueryState
        query={query}
        isEmpty={({ pages }) => pages[0]?.maintenance.length === 0}
        empty={<Text>{t.none}</Text>}
      >
        {({ pages }) => (
          <WindowTable
            windows={pages.flatMap(({ maintenance }) => maintenance)}
            pages={query}
            edit={edit}
            remove={remove}
          />
        )}
      </QueryState>
      <Modal
        opened={edited !== null}
        onClose={() => edit(null)}
        title={edited === 'new' ? t.create : t.editTitle}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
      >
        {edited && (
          <MaintenanceForm window={edited === 'new' ? null : edited} close={() => edit(null)} refresh={refresh} />
        )}
      </Modal>
      <ConfirmDialog
        close={() => remove(null)}
        confirmation={
          leaving && {
            title: t.deleteNamed(leaving.name),
            sentence: t.deleteSentence,
            button: t.deleteNamed(leaving.name),
            action: () => act(leaving),
          }
        }
      />
    </SettingsLayout>
  )
}

interface WindowTableProps {
  windows: readonly Maintenance[]
  pages: PagedQuery
  edit(window: Maintenance): void
  remove(window: Maintenance): void
}

function WindowTable({ windows, pages, edit, remove }: WindowTableProps) {
  const may = useHasRole('member')
  const t = messages.maintenance
  return (
    <SimpleTable
      name={messages.settings.pages.maintenance}
      rows={windows}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        {
          head: messages.settings.fields.name,
          cell: ({ name, managedBy }) => (
            <>
              <Data>{name}</Data> <ManagedMark managedBy={managedBy} />
            </>
          ),
        },
        { head: t.when, cell: (window) => <Occurrences window={window} /> },
        { head: t.appliesTo, cell: (window) => <Filters window={window} /> },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (window) =>
            may && (
              <Group gap="sm" justify="flex-end">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.editNamed(window.name)}
                  onClick={() => edit(window)}
                >
                  {t.edit}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.deleteNamed(window.name)}
                  onClick={() => remove(window)}
                >
                  {messages.settings.delete}
                </Button>
              </Group>
            ),
        },
      ]}
    />
  )
}

function Occurrences({ window: { nextOccurrences } }: { window: Maintenance }) {
  const now = useNow()
  const zone = useTimeZone()
  const t = messages.maintenance
  const next = nextOccurrences.filter(({ to }) => to > now).slice(0, SHOWN_OCCURRENCES)
  if (next.length === 0) return t.over
  return (
    <Stack gap={2}>
      {next.map(({ from, to }) => (
        <span key={from} className="figure">
          {from <= now
            ? `${t.inForceUntil} ${formatMoment(to, zone)}`
            : `${formatMoment(from, zone)} – ${formatMoment(to, zone)}`}
        </span>
      ))}
    </Stack>
  )
}

function Filters({ window: { domainIds, projectId, vendors } }: { window: Maintenance }) {
  const { data } = useQuery({
    ...listProjectsOptions({ query: { limit: MAX_PAGE_SIZE } }),
    enabled: projectId !== null,
  })
  const t = messages.maintenance
  const project = data?.projects.find(({ id }) => id === projectId)
  const parts = [
    ...(domainIds === null ? [] : [t.domainCount(domainIds.length)]),
    ...(projectId === null ? [] : [project ? t.projectNamed(project.name) : t.deletedProject]),
    ...(vendors ?? []),
  ]
  return parts.length === 0 ? t.everything : <Data>{formatList(parts)}</Data>
}
