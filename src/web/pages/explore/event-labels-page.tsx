import {
  Button,
  CloseButton,
  ColorInput,
  Group,
  Modal,
  NativeSelect,
  Paper,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listLabelsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { assignLabel, deleteLabel, unassignLabel } from '#client/sdk.gen'
import type { Label } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Data } from '../../components/data-text.tsx'
import { Form, useSubmit } from '../../components/form.tsx'
import { ManagedMark } from '../../components/managed-by.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { useIsMounted } from '../../components/use-is-mounted.ts'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import classes from './explore.module.css'
import { ExploreHeader } from './explore-header.tsx'

/** `/explore/labels`: shared names for equivalent events of several vendors. */
export function EventLabelsPage() {
  const query = useInfiniteQuery(listLabelsInfiniteOptions({ query: { limit: PAGE_SIZE } }))
  const may = useHasRole('member')
  const [edited, edit] = useState<Label | 'new' | null>(null)
  const [leaving, leave] = useState<Label | null>(null)
  const t = messages.explore.labels
  const remove = async ({ id, label }: Label) => {
    await deleteLabel({ path: { id } })
    await invalidate('listLabels')
    notices.say(t.deleted(label))
  }
  return (
    <>
      <ExploreHeader name="labels" acts={may && <Button onClick={() => edit('new')}>{t.create}</Button>} />
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.about}
      </Text>
      <Paper>
        <QueryState query={query} isEmpty={({ pages }) => pages[0]?.labels.length === 0} empty={<Text>{t.none}</Text>}>
          {({ pages }) => (
            <LabelTable
              labels={pages.flatMap(({ labels }) => labels)}
              pages={query}
              edit={may ? edit : null}
              leave={leave}
            />
          )}
        </QueryState>
      </Paper>
      <Modal
        opened={edited !== null}
        onClose={() => edit(null)}
        title={edited === 'new' || edited === null ? t.create : t.addTo(edited.label)}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
      >
        {edited && <LabelForm label={edited === 'new' ? null : edited} close={() => edit(null)} />}
      </Modal>
      <ConfirmDialog
        close={() => leave(null)}
        confirmation={
          leaving && {
            title: t.deleteNamed(leaving.label),
            sentence: t.deleteHint,
            button: t.delete,
            action: () => remove(leaving),
          }
        }
      />
    </>
  )
}

interface LabelTableProps {
  labels: readonly Label[]
  pages: PagedQuery
  /** Null without permission to edit. */
  edit: ((label: Label) => void) | null
  leave(label: Label): void
}

function LabelTable({ labels, pages, edit, leave }: LabelTableProps) {
  const t = messages.explore.labels
  return (
    <SimpleTable
      name={messages.explore.pages.labels}
      rows={labels}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        {
          head: t.name,
          cell: ({ label, color, managedBy }) => (
            <>
              <Group gap={0} wrap="nowrap">
                <span className={classes.swatch} style={{ background: color }} />
                <Data>{label}</Data>
              </Group>
              <ManagedMark managedBy={managedBy} />
            </>
          ),
        },
        { head: t.kind, cell: ({ kind }) => t.kinds[kind] },
        { head: t.members, cell: (label) => <Members label={label} mayTake={edit !== null} /> },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (label) =>
            edit && (
              <Group gap="sm" justify="flex-end" wrap="nowrap">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.addTo(label.label)}
                  onClick={() => edit(label)}
                >
                  {t.add}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.deleteNamed(label.label)}
                  onClick={() => leave(label)}
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

type Member = Label['members'][number]

function Members({ label: { label, members }, mayTake }: { label: Label; mayTake: boolean }) {
  const t = messages.explore.labels
  const take = (member: Member) =>
    mutate({
      send: () => unassignLabel({ body: { label, members: [member] } }),
      invalidates: ['listLabels'],
      message: t.saved(label),
      undo: () => void addToLabel(label, member),
    })
  return (
    <Group gap="sm">
      {members.map((member) => (
        <Group key={`${member.vendor} ${member.event}`} gap={2} wrap="nowrap">
          <span>
            <Data>{member.vendor}</Data> {member.event === '' ? t.everyEvent : <Data>{member.event}</Data>}
          </span>
          {mayTake && (
            <CloseButton
              size="sm"
              flex="none"
              aria-label={t.removeEvent(`${member.vendor} ${member.event}`, label)}
              onClick={() => void take(member)}
            />
          )}
        </Group>
      ))}
    </Group>
  )
}

const addToLabel = (label: string, member: Member) =>
  mutate({
    send: () => assignLabel({ body: { label, members: [member] } }),
    invalidates: ['listLabels'],
    message: messages.explore.labels.saved(label),
  })

/** Creates a label with its first event, or adds an event to a label. */
function LabelForm({ label, close }: { label: Label | null; close(): void }) {
  const [given, change] = useState({
    label: label?.label ?? '',
    kind: label?.kind ?? ('step' as Label['kind']),
    color: label?.color ?? '',
    vendor: '',
    event: '',
  })
  const t = messages.explore.labels
  const isHere = useIsMounted()
  const sending = useSubmit(['label', 'kind', 'color', 'members[0].vendor', 'members[0].event'], async () => {
    const { vendor, event, color, ...rest } = given
    const body = { ...rest, ...(color && { color }), members: [{ vendor, event }] }
    await assignLabel({ body })
    await invalidate('listLabels')
    notices.say(t.saved(given.label))
    if (isHere()) close()
  })
  return (
    <Form submission={sending} button={t.save}>
      <Stack gap="md">
        {label === null && (
          <>
            <TextInput
              label={t.name}
              value={given.label}
              onChange={({ currentTarget }) => change({ ...given, label: currentTarget.value })}
              error={sending.errorOf('label')}
              required
              data-autofocus
            />
            <NativeSelect
              label={t.kind}
              value={given.kind}
              onChange={({ currentTarget }) => change({ ...given, kind: currentTarget.value as Label['kind'] })}
              data={Object.entries(t.kinds).map(([value, name]) => ({ value, label: name }))}
              error={sending.errorOf('kind')}
            />
            <ColorInput
              label={t.colour}
              value={given.color}
              onChange={(color) => change({ ...given, color })}
              error={sending.errorOf('color')}
            />
          </>
        )}
        <TextInput
          label={t.vendor}
          value={given.vendor}
          onChange={({ currentTarget }) => change({ ...given, vendor: currentTarget.value })}
          error={sending.errorOf('members[0].vendor')}
          required
        />
        <TextInput
          label={t.event}
          description={t.eventHint}
          value={given.event}
          onChange={({ currentTarget }) => change({ ...given, event: currentTarget.value })}
          error={sending.errorOf('members[0].event')}
        />
      </Stack>
    </Form>
  )
}
