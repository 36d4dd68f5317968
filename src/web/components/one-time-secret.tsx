import { Button, Group, Stack, TextInput } from '@mantine/core'
import { messages } from '../messages.ts'
import { notices } from '../shell/notices.ts'
import { copyText } from './copy-text.ts'

interface SecretProps {
  label: string
  hint: string
  value: string
  /** The button that ends the showing. */
  button: string
  close(): void
}

/** Something that is shown once: a key, a link. It is copied with a press. */
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
