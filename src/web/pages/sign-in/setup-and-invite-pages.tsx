import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { listSignInMethodsOptions } from '#client/@tanstack/react-query.gen'
import { acceptInvitation, setUp } from '#client/sdk.gen'
import { keepSession, useLinkParams } from '../../api/bootstrap.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { EmailField, NameField, OrganizationField, PasswordField } from './fields.tsx'
import { Card, EntryForm } from './sign-in-card.tsx'
import { SignIn } from './sign-in-form.tsx'

/** `/setup`: creates the first organization and its owner. Opened from a link in the server's log. */
export function SetUpPage() {
  const { setUp: token } = useLinkParams()
  const navigate = useNavigate()
  const { data: methods } = useQuery(listSignInMethodsOptions())
  if (!methods) return null
  if (!methods.setUp) return <SignIn reason={token ? messages.signIn.alreadySetUp : null} />
  if (token === null) return <SignIn />
  const send = async ({ orgName = '', email = '', password = '', name }: Record<string, string>) => {
    const body = { token, orgName, email, password, ...(name ? { name } : {}) }
    keepSession((await setUp({ body })).data)
    await navigate({ to: '/domains/new' })
  }
  return (
    <Card title={messages.signIn.setUp}>
      <Text c="dimmed" mb="md">
        {messages.signIn.setUpHint}
      </Text>
      <EntryForm button={messages.signIn.submitSetUp} send={send}>
        <OrganizationField />
        <NameField />
        <EmailField />
        <PasswordField isNew hint={messages.signIn.passwordHint} />
      </EntryForm>
    </Card>
  )
}

/** `/invite`: joins an organization. Opened from an invitation link. */
export function InvitePage() {
  const { invite: token } = useLinkParams()
  const navigate = useNavigate()
  if (token === null) return <SignIn reason={messages.signIn.linkRequired} />
  const send = async ({ password = '', name, code }: Record<string, string>) => {
    const body = { token, password, ...(name ? { name } : {}), ...(code ? { code } : {}) }
    const { data } = await acceptInvitation({ body })
    keepSession(data)
    if (data.revokedKeys > 0) notices.say(messages.signIn.passwordChanged(data.revokedKeys))
    await navigate({ to: '/' })
  }
  return (
    <Card title={messages.signIn.acceptInvitation}>
      <EntryForm button={messages.signIn.submitInvitation} send={send}>
        <NameField />
        <PasswordField hint={messages.signIn.acceptHint} />
      </EntryForm>
    </Card>
  )
}
