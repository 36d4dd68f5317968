import { Alert as AlertBox, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteAlert } from '#client/sdk.gen'
import type { Alert } from '#client/types.gen'
import { Confirm } from '../../../parts/confirm.tsx'
import { Data } from '../../../parts/data.tsx'
import { useGoOn } from '../../../parts/is-here.ts'
import { useKeys } from '../../../shell/keys.ts'
import { notices } from '../../../shell/notices.ts'
import { words } from '../../../words.ts'
import classes from './editor.module.css'
import type { Saving } from './saving.ts'

/** The acts of the editor, always in reach. */
export function Foot({ saving, saved }: { saving: Saving; saved: Alert | null }) {
  const { save, isSending, refusal, mayLose } = saving
  const navigate = useNavigate()
  const said = words.alert
  // An alert that is switched off is not switched on by a key that only says save.
  useKeys({ 'Control+Enter': () => save(saved?.enabled ?? true) })
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
            {said.cancel}
          </Button>
          <Button variant="default" loading={isSending} onClick={() => save(false)}>
            {said.saveOff}
          </Button>
          <Button loading={isSending} onClick={() => save(true)}>
            {said.saveOn}
          </Button>
        </Group>
      </div>
      <Leaving mayLose={mayLose} />
    </>
  )
}

/** Asks before changes are lost: on leaving the page, and by the browser on closing it. */
function Leaving({ mayLose }: { mayLose(): boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && mayLose(),
    enableBeforeUnload: mayLose,
    withResolver: true,
  })
  const said = words.alert
  return (
    <Modal
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title={said.leave}
      closeButtonProps={{ 'aria-label': words.shell.close }}
    >
      <Stack gap="md">
        <Text>{said.leaveSentence}</Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => blocker.proceed?.()}>
            {said.leaveButton}
          </Button>
          <Button onClick={() => blocker.reset?.()} data-autofocus>
            {said.stay}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Deletes the alert when it is confirmed, and opens the list. */
export function DeleteButton({ alert: { id, name }, leaves }: { alert: Alert; leaves: Saving }) {
  const [isAsking, ask] = useState(false)
  const queries = useQueryClient()
  const goOn = useGoOn()
  const said = words.alert
  const remove = async () => {
    await deleteAlert({ path: { id }, throwOnError: true })
    leaves.forget()
    await goOn({ to: '/alerts' })
    for (const _id of ['listAlerts', 'listIssues', 'listSuggestions']) {
      void queries.invalidateQueries({ queryKey: [{ _id }] })
    }
    notices.say(said.deleted)
  }
  return (
    <>
      <Button variant="subtle" size="xs" onClick={() => ask(true)}>
        {said.delete}
      </Button>
      <Confirm
        asks={
          isAsking
            ? { title: said.deleteTitle(name), sentence: said.deleteSentence, button: said.delete, act: remove }
            : null
        }
        close={() => ask(false)}
      />
    </>
  )
}
