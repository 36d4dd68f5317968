import { Button, Stack, Text, TextInput, type TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { replaceRecoveryCodes } from '#client/sdk.gen'
import { invalidate } from '../../api/queries.ts'
import { copyText } from '../../components/copy-text.ts'
import { Code } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'

/** New recovery codes, which can't be shown again, with a button to copy them. */
export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const t = messages.settings.secondFactor
  const copy = () => void copyText(codes.join('\n')).then(() => notices.say(messages.shell.copied))
  return (
    <Stack gap="xs">
      <Text fw={600} fz="sm" id="recovery-codes">
        {t.recoveryCodes}
      </Text>
      <Text fz="sm" c="dimmed">
        {t.recoveryCodesHint}
      </Text>
      <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }} aria-labelledby="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <Code>{code}</Code>
          </li>
        ))}
      </Stack>
      <Button variant="default" w="fit-content" onClick={copy}>
        {t.copyCodes}
      </Button>
    </Stack>
  )
}

/** Field for a code of the authenticator app. `field` is that of `useFormFields`. */
export function AppCodeInput({ field }: { field: TextInputProps }) {
  const t = messages.settings.secondFactor
  return (
    <TextInput
      label={t.code}
      description={t.codeHint}
      {...field}
      required
      maxLength={50}
      inputMode="numeric"
      autoComplete="one-time-code"
    />
  )
}

/** Replaces the recovery codes after a code of the app, and shows the new ones. */
export function NewRecoveryCodes({ close }: { close(): void }) {
  const [codes, setCodes] = useState<readonly string[]>([])
  const t = messages.settings.secondFactor
  const { field, sending } = useFormFields({ code: '' }, async (body) => {
    setCodes((await replaceRecoveryCodes({ body })).data.recoveryCodes)
    await invalidate('getSecondFactor')
  })
  if (codes.length > 0) {
    return (
      <>
        <RecoveryCodes codes={codes} />
        <Button w="fit-content" onClick={close}>
          {t.stored}
        </Button>
      </>
    )
  }
  return (
    <Form
      submission={sending}
      button={t.replaceButton}
      actions={
        <Button variant="default" onClick={close}>
          {messages.settings.cancel}
        </Button>
      }
    >
      <Text fz="sm">{t.replaceHint}</Text>
      <AppCodeInput field={field('code')} />
    </Form>
  )
}
