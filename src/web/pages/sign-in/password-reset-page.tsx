import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { forgotPassword, resetPassword } from '#client/sdk.gen'
import { keepSession, useLinkParams } from '../../api/bootstrap.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { EmailField, PasswordField } from './fields.tsx'
import { Card, EntryForm } from './sign-in-card.tsx'

/** `/reset`: requests a password reset e-mail. When opened from that e-mail, sets the password. */
export function ResetPage() {
  const { reset: token } = useLinkParams()
  return (
    <Card title={messages.signIn.newPassword}>
      <Stack gap="md">
        {token === null ? <AskForm /> : <PasswordForm token={token} />}
        {/* Loads a new page, because sign-in happens at the requested URL, and this page has its own URL. */}
        <Anchor href="/" fz="sm">
          {messages.signIn.backToSignIn}
        </Anchor>
      </Stack>
    </Card>
  )
}

function AskForm() {
  const [isSent, sent] = useState(false)
  const send = async ({ email = '' }: Record<string, string>) => {
    await forgotPassword({ body: { email } })
    sent(true)
  }
  if (isSent) return <Alert role="status">{messages.signIn.forgotSent}</Alert>
  return (
    <>
      <Text c="dimmed">{messages.signIn.forgotHint}</Text>
      <EntryForm button={messages.signIn.sendLink} send={send}>
        <EmailField />
      </EntryForm>
    </>
  )
}

function PasswordForm({ token }: { token: string }) {
  const navigate = useNavigate()
  const send = async ({ password = '', code }: Record<string, string>) => {
    const { data } = await resetPassword({ body: { token, password, ...(code ? { code } : {}) } })
    keepSession(data)
    notices.say(messages.signIn.passwordChanged(data.revokedKeys))
    await navigate({ to: '/' })
  }
  return (
    <EntryForm button={messages.signIn.setPassword} send={send}>
      <PasswordField isNew hint={messages.signIn.passwordHint} />
    </EntryForm>
  )
}
