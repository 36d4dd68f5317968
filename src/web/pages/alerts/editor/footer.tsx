import { Alert as AlertBox, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteAlert } from '#client/sdk.gen'
import type { Alert } from '#client/types.gen'
import { invalidate } from '../../../api/queries.ts'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'
import { Data } from '../../../components/data-text.tsx'
import { useNavigateIfMounted } from '../../../components/use-is-mounted.ts'
import { messages } from '../../../messages.ts'
import { useKeyBindings } from '../../../state/key-bindings.ts'
import { notices } from '../../../state/notices.ts'
import classes from './editor.module.css'
import type { Saving } from './use-saving.ts'

/** The editor's buttons; always visible. */
export function EditorFooter({ saving, saved }: { saving: Saving; saved: Alert | null }) {
  const { save, isSending, refusal, mayLose } = saving
  const navigate = useNavigate()
  const t = messages.alert
  // The shortcut must not enable a disabled alert.
  useKeyBindings({ 'Control+Enter': () => save(saved?.enabled ?? true) })
  return (
    <>
      <div className={classes.foot}>
        {refusal && (
          <AlertBox role="alert" color="red" variant="light" mb="sm">
            <Data>{refusal}</Data>
          </AlertBox>
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => void navigate({ to: '/alerts' })}>
            {t.cancel}
          </Button>
          <Button variant="default" loading={isSending} onClick={() => save(false)}>
            {t.saveDisabled}
          </Button>
          <Button loading={isSending} onClick={() => save(true)}>
            {t.saveEnabled}
          </Button>
        </Group>
      </div>
      <LeaveGuard mayLose={mayLose} />
    </>
  )
}

/**
 * Asks for confirmation before changes are lost: with a dialog when leaving the page, with the browser's prompt when
 * closing it.
 */
function LeaveGuard({ mayLose }: { mayLose(): boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && mayLose(),
    enableBeforeUnload: mayLose,
    withResolver: true,
  })
  const t = messages.alert
  return (
    <Modal
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title={t.leave}
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      <Stack gap="md">
        <Text>{t.leaveText}</Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => blocker.proceed?.()}>
            {t.leaveButton}
          </Button>
          <Button onClick={() => blocker.reset?.()} data-autofocus>
            {t.stay}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Deletes the alert after confirmation and opens the list. */
export function DeleteButton({ alert: { id, name }, leaves }: { alert: Alert; leaves: Saving }) {
  const [isAsking, ask] = useState(false)
  const goOn = useNavigateIfMounted()
  const t = messages.alert
  const remove = async () => {
    await deleteAlert({ path: { id } })
    leaves.forget()
    await goOn({ to: '/alerts' })
    void invalidate('listAlerts', 'listIssues', 'listSuggestions')
    notices.say(t.deleted)
  }
  return (
    <>
      <Button variant="subtle" size="xs" onClick={() => ask(true)}>
        {t.delete}
      </Button>
      <ConfirmDialog
        confirmation={
          isAsking ? { title: t.deleteTitle(name), sentence: t.deleteText, button: t.delete, action: remove } : null
        }
        close={() => ask(false)}
      />
    </>
  )
}
