import { Button, Group, Stack, TextInput } from '@mantine/core'
import { messages } from '../messages.ts'
import { notices } from '../state/notices.ts'
import { copyText } from './copy-text.ts'

interface SecretProps {
  label: string
  hint: string
  value: string
  /** Label of the close button. */
  button: string
  close(): void
}

/** A key or link that is shown once, with a copy button. */
export function OneTimeSecret({ label, hint, value, button, close }: SecretProps) {
  return (
    <Stack gap="md">
      <TextInput
        label={label}
        description={hint}
        value={value}
        readOnly
        translate="no"
        onFocus={({ target }) => target.select()}
      />
      <Group gap="sm" justify="flex-end">
        <Button variant="default" onClick={() => void copyText(value).then(() => notices.say(messages.shell.copied))}>
          {messages.shell.copy}
        </Button>
        <Button onClick={close}>{button}</Button>
      </Group>
    </Stack>
  )
}
