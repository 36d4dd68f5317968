import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import { useSubmit } from './form.tsx'
import { useIsMounted } from './use-is-mounted.ts'

interface Confirmation {
  title: string
  sentence: ReactNode
  button: string
  action(): Promise<unknown>
}

interface ConfirmProps {
  /** Null while closed. */
  confirmation: Confirmation | null
  close(): void
}

/** Confirmation dialog for irreversible actions. */
export const ConfirmDialog = ({ confirmation: asks, close }: ConfirmProps) => (
  <Modal
    opened={asks !== null}
    onClose={close}
    title={asks?.title}
    closeButtonProps={{ 'aria-label': messages.shell.close }}
  >
    {/* Remounted for each confirmation, to reset errors and pending requests. */}
    {asks && <Question asks={asks} close={close} />}
  </Modal>
)

function Question({ asks: { sentence, button, action: act }, close }: { asks: Confirmation; close(): void }) {
  const isHere = useIsMounted()
  const { submit, isSending, refusal } = useSubmit([], async () => {
    await act()
    if (isHere()) close()
  })
  return (
    <Stack gap="md">
      <div>{sentence}</div>
      {refusal && (
        <Text role="alert" c="var(--tw-critical-text)">
          <Data>{refusal}</Data>
        </Text>
      )}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={close}>
          {messages.settings.cancel}
        </Button>
        <Button className="destroys" loading={isSending} onClick={() => submit()}>
          {button}
        </Button>
      </Group>
    </Stack>
  )
}
