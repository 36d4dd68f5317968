import { Alert, Anchor, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { listBackupsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { createBackup, downloadBackup } from '#client/sdk.gen'
import type { Backup, BackupList } from '#client/types.gen'
import { errorMessage } from '../../api/api-error.ts'
import { save } from '../../api/download-export.ts'
import { mutate } from '../../api/mutate.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { send } from '../../api/request.ts'
import { useHasRole, useWhoamiQuery } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { formatMoment } from '../../components/format.ts'
import { Duration, Num } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { DateTime, TimeAgo } from '../../components/time-ago.tsx'
import { useTimeZone } from '../../components/use-time-zone.ts'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

const MEGABYTE = 1_000_000
/** Interval at which the list is refreshed while a backup is running. */
const REFRESH_MS = 1000

const ICONS = { running: 'learning', succeeded: 'resolved', failed: 'failed' } as const

/** `/settings/backups`: backups of the server, for owners. */
export function BackupsPage() {
  const who = useWhoamiQuery()
  const may = useHasRole('owner')
  const query = useInfiniteQuery({
    ...listBackupsInfiniteOptions({ query: { limit: PAGE_SIZE } }),
    enabled: may,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ backups }) => backups.some(({ status }) => status === 'running')) ? REFRESH_MS : false,
  })
  const t = messages.backups
  const start = () => mutate({ send: () => createBackup({}), invalidates: ['listBackups'], message: t.started })
  return (
    <SettingsLayout
      name="backups"
      acts={may && query.isSuccess && <Button onClick={() => void start()}>{t.create}</Button>}
    >
      <RoleNotice needs="owner" what={t.restrictedAction} />
      <Text c="dimmed" mb="md">
        {t.intro}{' '}
        <Anchor href="/docs/operate/backup" underline="always">
          {t.guide}
        </Anchor>
      </Text>
      <QueryState query={who}>
        {() =>
          may && (
            <QueryState query={query}>
              {({ pages: [first, ...others] }) =>
                first && (
                  <Stack gap="lg">
                    <Summary list={first} />
                    {first.backups.length === 0 ? (
                      <Text>{t.none}</Text>
                    ) : (
                      <Paper>
                        <BackupTable backups={[first, ...others].flatMap(({ backups }) => backups)} pages={query} />
                      </Paper>
                    )}
                  </Stack>
                )
              }
            </QueryState>
          )
        }
      </QueryState>
    </SettingsLayout>
  )
}

function Summary({ list: { state, place, schedule, nextAt, keep, backups } }: { list: BackupList }) {
  const t = messages.backups
  const trouble = t.states[state]
  const last = backups.find(({ status }) => status === 'succeeded')
  return (
    <Stack gap="md">
      {trouble && (
        <Alert color="red" variant="light">
          {trouble}
        </Alert>
      )}
      <Text>{schedule === null ? t.unscheduled : t.scheduled(schedule, keep)}</Text>
      <Group gap="lg">
        <Fact name={t.last} value={<TimeAgo at={last?.startedAt} missing={t.never} />} />
        {nextAt !== null && <Fact name={t.next} value={<DateTime at={nextAt} />} />}
        <Fact name={t.place} value={<Data>{place}</Data>} />
      </Group>
    </Stack>
  )
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <Text c="dimmed" fz="sm">
        {name}
      </Text>
      {value}
    </div>
  )
}

function BackupTable({ backups, pages }: { backups: readonly Backup[]; pages: PagedQuery }) {
  const t = messages.backups
  return (
    <SimpleTable
      name={messages.settings.pages.backups}
      rows={backups}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        { head: t.columns.started, cell: ({ startedAt }) => <DateTime at={startedAt} /> },
        { head: t.columns.status, cell: (backup) => <Status backup={backup} /> },
        {
          head: t.columns.duration,
          isNumber: true,
          cell: ({ startedAt, finishedAt }) => <Duration ms={finishedAt === null ? null : finishedAt - startedAt} />,
        },
        { head: t.columns.size, isNumber: true, cell: ({ bytes }) => <Size bytes={bytes} /> },
        { head: t.columns.added, isNumber: true, cell: ({ addedBytes }) => <Size bytes={addedBytes} /> },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (backup) => backup.status === 'succeeded' && <Download backup={backup} />,
        },
      ]}
    />
  )
}

function Status({ backup: { status, error } }: { backup: Backup }) {
  return (
    <Stack gap={2}>
      <StatusMark status={ICONS[status]} word={messages.backups.statuses[status]} />
      {error !== null && (
        <Text fz="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          <Data>{error}</Data>
        </Text>
      )}
    </Stack>
  )
}

const Size = ({ bytes }: { bytes: number | null }) => (
  <Num value={bytes === null ? null : bytes / MEGABYTE} unit="MB" digits={1} />
)

function Download({ backup: { id, name, startedAt } }: { backup: Backup }) {
  const [isBusy, setBusy] = useState(false)
  const zone = useTimeZone()
  const t = messages.backups
  const download = async () => {
    setBusy(true)
    try {
      const response = await send(downloadBackup, { path: { id } })
      save(await response.blob(), `tagwarden-${name}.tar`)
    } catch (error) {
      notices.refuse(errorMessage(error), () => void download())
    }
    setBusy(false)
  }
  return (
    <Group justify="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        loading={isBusy}
        aria-label={t.downloadOf(formatMoment(startedAt, zone))}
        onClick={() => void download()}
      >
        {t.download}
      </Button>
    </Group>
  )
}
