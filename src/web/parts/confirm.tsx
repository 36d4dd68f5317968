import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { words } from '../words.ts'
import { Data } from './data.tsx'
import { useSending } from './form.tsx'

interface ConfirmProps {
  /** Null while nothing is asked. */
  asks: { title: string; sentence: ReactNode; button: string; act(): Promise<unknown> } | null
  close(): void
}

/** Asks before something that can't be taken back; nothing else is asked for. */
export function Confirm({ asks, close }: ConfirmProps) {
  const { submit, isSending, refusal } = useSending([], async () => {
    await asks?.act()
    close()
  })
  return (
    <Modal
      opened={asks !== null}
      onClose={close}
      title={asks?.title}
      closeButtonProps={{ 'aria-label': words.shell.close }}
    >
      <Stack gap="md">
        <div>{asks?.sentence}</div>
        {refusal && (
          <Text role="alert" c="var(--tw-critical-text)">
            <Data>{refusal}</Data>
          </Text>
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            {words.settings.cancel}
          </Button>
          <Button className="destroys" loading={isSending} onClick={() => submit()}>
            {asks?.button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
