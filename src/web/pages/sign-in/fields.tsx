import { PasswordInput, TextInput } from '@mantine/core'
import { MAX_EMAIL_LENGTH, MAX_NAME_LENGTH, PASSWORD_LENGTH } from '../../../contract/limits.ts'
import { messages } from '../../messages.ts'

export const OrganizationField = () => (
  <TextInput
    name="orgName"
    label={messages.signIn.organization}
    required
    maxLength={MAX_NAME_LENGTH}
    autoComplete="organization"
  />
)

export const NameField = () => (
  <TextInput name="name" label={messages.signIn.yourName} maxLength={MAX_NAME_LENGTH} autoComplete="name" />
)

export const EmailField = () => (
  <TextInput
    name="email"
    type="email"
    label={messages.signIn.email}
    required
    maxLength={MAX_EMAIL_LENGTH}
    autoComplete="username"
  />
)

/** `isNew` for a password that is being set. */
export const PasswordField = ({ isNew = false, hint }: { isNew?: boolean; hint?: string }) => (
  <PasswordInput
    name="password"
    label={messages.signIn.password}
    description={hint}
    required
    minLength={isNew ? PASSWORD_LENGTH.min : undefined}
    maxLength={PASSWORD_LENGTH.max}
    autoComplete={isNew ? 'new-password' : 'current-password'}
  />
)
