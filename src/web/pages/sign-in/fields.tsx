import { PasswordInput, TextInput } from '@mantine/core'
import { messages } from '../../messages.ts'

export const OrganizationField = () => (
  <TextInput name="orgName" label={messages.signIn.organization} required maxLength={200} autoComplete="organization" />
)

export const NameField = () => (
  <TextInput name="name" label={messages.signIn.yourName} maxLength={200} autoComplete="name" />
)

export const EmailField = () => (
  <TextInput name="email" type="email" label={messages.signIn.email} required maxLength={254} autoComplete="username" />
)

/** `isNew` for a password that is being set. */
export const PasswordField = ({ isNew = false, hint }: { isNew?: boolean; hint?: string }) => (
  <PasswordInput
    name="password"
    label={messages.signIn.password}
    description={hint}
    required
    minLength={isNew ? 10 : undefined}
    maxLength={1000}
    autoComplete={isNew ? 'new-password' : 'current-password'}
  />
)
