import { PasswordInput, TextInput } from '@mantine/core'
import { useEffect, useRef } from 'react'
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

/** The code of a second factor. Focused when it appears, because the other fields are filled in. */
export function CodeField({ error }: { error?: string | undefined }) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return (
    <TextInput
      ref={input}
      name="code"
      label={messages.signIn.code}
      description={messages.signIn.codeHint}
      required
      maxLength={50}
      autoComplete="one-time-code"
      error={error}
    />
  )
}

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
