import { Alert, Anchor, Button, PasswordInput, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listSignInMethodsOptions } from '#client/@tanstack/react-query.gen'
import { signIn, whoami } from '#client/sdk.gen'
import { beginAtProvider, keepSession } from '../../api/bootstrap.ts'
import { session } from '../../api/session.ts'
import { Data } from '../../components/data-text.tsx'
import { messages } from '../../messages.ts'
import { EmailField, PasswordField } from './fields.tsx'
import { Card, EntryForm } from './sign-in-card.tsx'

/** The sign-in form, shown in place of the requested page. */
export function SignIn({ reason = null }: { reason?: string | null }) {
  return (
    <Card title={messages.signIn.title}>
      <SignInForms reason={reason} />
    </Card>
  )
}

/**
 * All sign-in methods. `reason` explains why the form is shown, or why the previous sign-in failed; null for neither.
 */
export function SignInForms({ reason }: { reason: string | null }) {
  const [isByKey, byKey] = useState(false)
  const { data: methods } = useQuery(listSignInMethodsOptions())
  return (
    <Stack gap="md">
      {reason && <Alert variant="light">{reason}</Alert>}
      {methods?.setUp && <Alert variant="light">{messages.signIn.notSetUp}</Alert>}
      {isByKey ? <KeyForm /> : <PasswordForm />}
      {methods?.oidc && (
        <Button component="a" href="/v1/auth/oidc/start" variant="default" onClick={beginAtProvider}>
          {/* A single element, because the button's label drops spaces between elements. */}
          <span>
            {messages.signIn.byProvider} <Data>{methods.oidc.name}</Data>
          </span>
        </Button>
      )}
      <Anchor component="button" type="button" fz="sm" onClick={() => byKey(!isByKey)}>
        {isByKey ? messages.signIn.byPassword : messages.signIn.byKey}
      </Anchor>
    </Stack>
  )
}

function PasswordForm() {
  const send = async ({ email = '', password = '', code }: Record<string, string>) => {
    keepSession((await signIn({ body: { email, password, ...(code ? { code } : {}) } })).data)
  }
  return (
    <EntryForm button={messages.signIn.submitSignIn} send={send}>
      <EmailField />
      <PasswordField />
      <Text fz="sm" component="div">
        {/* A separate page, because signing in here keeps the current URL. */}
        <Anchor href="/reset">{messages.signIn.forgot}</Anchor>
      </Text>
    </EntryForm>
  )
}

function KeyForm() {
  const send = async ({ key = '' }: Record<string, string>) => {
    const credential = key.trim()
    // Checks the key before storing it.
    await whoami({ auth: credential })
    session.open({ credential, orgId: null })
  }
  return (
    <EntryForm button={messages.signIn.submitSignIn} send={send}>
      <PasswordInput name="key" label={messages.signIn.apiKey} required autoComplete="off" />
    </EntryForm>
  )
}
