import { Alert, Anchor, Button, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listCollectorsOptions } from '#client/@tanstack/react-query.gen'
import { addCollector, removeCollector } from '#client/sdk.gen'
import type { Collector, CollectorList } from '#client/types.gen'
import { invalidate } from '../../api/queries.ts'
import { useHasRole, useWhoamiQuery } from '../../api/whoami.ts'
import { CodeField } from '../../components/code-field.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Data } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { Duration, Num } from '../../components/numbers.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

const MEGABYTE = 1_000_000
const GIGABYTE = 1_000_000_000
/** Interval at which the list is refreshed. Collectors report their state every few seconds. */
const REFRESH_MS = 10_000

const ICONS = { connected: 'resolved', away: 'failed', never: 'learning' } as const

/** `/settings/collectors`: collectors of the server, for owners. A token is shown once. */
export function CollectorsPage() {
  const who = useWhoamiQuery()
  const may = useHasRole('owner')
  const query = useQuery({ ...listCollectorsOptions(), enabled: may, refetchInterval: REFRESH_MS })
  const [isAdding, add] = useState(false)
  // Kept outside the dialog, so that the token is shown even if the dialog is closed before the response arrives.
  const [token, show] = useState<string | null>(null)
  const close = () => {
    add(false)
    show(null)
  }
  const [removed, remove] = useState<Collector | null>(null)
  const t = messages.collectors
  const act = async ({ id, name }: Collector) => {
    await removeCollector({ path: { id } })
    await invalidate('listCollectors')
    notices.say(t.removed(name))
  }
  return (
    <SettingsLayout
      name="collectors"
      acts={may && query.data?.eventStore === 'clickhouse' && <Button onClick={() => add(true)}>{t.add}</Button>}
    >
      <RoleNotice needs="owner" what={t.restrictedAction} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.intro}{' '}
        <Anchor href="/docs/operate/scale-out" underline="always">
          {t.guide}
        </Anchor>
      </Text>
      <QueryState query={who}>
        {() => may && <QueryState query={query}>{(list) => <Collectors list={list} remove={remove} />}</QueryState>}
      </QueryState>
      <Modal
        opened={isAdding || token !== null}
        onClose={close}
        title={t.add}
        size="lg"
        closeButtonProps={{ 'aria-label': messages.shell.close }}
        closeOnClickOutside={false}
      >
        {token === null ? <AddForm show={show} /> : <NewToken token={token} close={close} />}
      </Modal>
      <ConfirmDialog
        close={() => remove(null)}
        confirmation={
          removed && {
            title: t.removeTitle,
            sentence: (
              <>
                <Data>{removed.name}</Data>
                <br />
                {t.removeHint}
              </>
            ),
            button: t.removeButton,
            action: () => act(removed),
          }
        }
      />
    </SettingsLayout>
  )
}

interface CollectorsProps {
  list: CollectorList
  remove(collector: Collector): void
}

function Collectors({ list: { collectors, eventStore, version }, remove }: CollectorsProps) {
  const t = messages.collectors
  if (collectors.length === 0) return <Text maw="72ch">{eventStore === 'clickhouse' ? t.none : t.inDataFolder}</Text>
  return (
    <Stack gap="lg">
      {collectors.some(({ status }) => status === 'away') && (
        <Alert color="red" variant="light">
          {t.awayHint}
        </Alert>
      )}
      <SimpleTable
        name={messages.settings.pages.collectors}
        rows={collectors}
        keyOf={({ id }) => id}
        columns={[
          { head: messages.settings.fields.name, sortBy: ({ name }) => name, cell: ({ name }) => <Data>{name}</Data> },
          {
            head: t.columns.status,
            sortBy: ({ status }) => status,
            cell: ({ status }) => <StatusMark status={ICONS[status]} word={t.statuses[status]} />,
          },
          {
            head: t.columns.lastContact,
            cell: ({ lastContactAt }) => <TimeAgo at={lastContactAt} missing={t.never} />,
          },
          {
            head: t.columns.version,
            cell: (collector) => <Version of={collector} expected={version} />,
          },
          {
            head: t.columns.lag,
            isNumber: true,
            sortBy: ({ lagMs }) => lagMs,
            cell: ({ lagMs }) => <Duration ms={lagMs} />,
          },
          {
            head: t.columns.waiting,
            isNumber: true,
            sortBy: ({ waitingBytes }) => waitingBytes,
            cell: ({ waitingBytes: bytes }) => (
              <Num value={bytes === null ? null : bytes / MEGABYTE} unit="MB" digits={1} />
            ),
          },
          {
            head: t.columns.free,
            isNumber: true,
            sortBy: ({ freeBytes }) => freeBytes,
            cell: ({ freeBytes: bytes }) => (
              <Num value={bytes === null ? null : bytes / GIGABYTE} unit="GB" digits={1} />
            ),
          },
          {
            head: messages.settings.actions,
            isHeadHidden: true,
            cell: (collector) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t.removeNamed(collector.name)}
                onClick={() => remove(collector)}
              >
                {t.remove}
              </Button>
            ),
          },
        ]}
      />
    </Stack>
  )
}

/** The version of a collector, marked if it differs from the server's. */
function Version({ of: { version }, expected }: { of: Collector; expected: string }) {
  if (version === null || version === expected) return <Data>{version}</Data>
  return (
    <Stack gap={2}>
      <StatusMark status="failed" word={version} />
      <Text fz="sm" c="dimmed">
        {messages.collectors.otherVersion(expected)}
      </Text>
    </Stack>
  )
}

function AddForm({ show }: { show(token: string): void }) {
  const t = messages.collectors
  const { field, sending } = useFormFields({ name: '' }, async ({ name }) => {
    show((await addCollector({ body: { name } })).data.token)
    await invalidate('listCollectors')
  })
  return (
    <Form submission={sending} button={t.create}>
      <TextInput
        label={messages.settings.fields.name}
        description={t.nameHint}
        {...field('name')}
        required
        maxLength={200}
        data-autofocus
      />
    </Form>
  )
}

function NewToken({ token, close }: { token: string; close(): void }) {
  const t = messages.collectors
  return (
    <Stack gap="lg">
      <CodeField
        label={t.command}
        description={t.commandHint}
        code={commandOf(token)}
        copy={t.copyCommand}
        copied={messages.shell.copied}
      />
      <OneTimeSecret label={t.token} hint={t.tokenHint} value={token} button={t.stored} close={close} />
    </Stack>
  )
}

/** The command that runs a collector. The operator replaces the URL of ClickHouse. */
const commandOf = (token: string) =>
  `TAGWARDEN_COLLECTOR_TOKEN=${token} TAGWARDEN_WAREHOUSE=clickhouse://user:password@host:8123/database tagwarden collect --control ${location.origin} --data collector`
