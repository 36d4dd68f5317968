import { PasswordInput, TagsInput } from '@mantine/core'
import type { FlowTest, FlowTestInput } from '#client/types.gen'
import { messages } from '../../messages.ts'

const PLACEHOLDER = /\{\{\s*([\w.-]{1,100})\s*\}\}/g

interface SecretsFieldsProps {
  /** Null for a new test. */
  test: FlowTest | null
  /** The recording as a string. Each `{{name}}` in it that is not a variable may be a secret. */
  recording: string
  /** Entered values by name. */
  entered: Readonly<Record<string, string>>
  enter(values: Record<string, string>): void
  hosts: readonly string[]
  setHosts(hosts: string[]): void
  errorOf(field: string): string | undefined
}

/**
 * Fields for the recording's secrets, and for additional hosts that may receive them; renders nothing without secrets.
 */
export function SecretsFields({ test, recording, entered, enter, hosts, setHosts, errorOf }: SecretsFieldsProps) {
  const t = messages.tests
  const stored = test?.secrets ?? []
  const mentioned = [...recording.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  const names = [...new Set([...stored, ...mentioned])].filter((name) => !Object.hasOwn(test?.variables ?? {}, name))
  if (names.length === 0) return null
  return (
    <>
      {names.map((name) => (
        <PasswordInput
          key={name}
          label={t.secretNamed(name)}
          description={stored.includes(name) ? t.secretStored : t.secretHint}
          value={entered[name] ?? ''}
          onChange={({ currentTarget }) => enter({ ...entered, [name]: currentTarget.value })}
          autoComplete="off"
          maxLength={2000}
        />
      ))}
      <TagsInput
        label={t.secretHosts}
        description={t.secretHostsHint}
        value={[...hosts]}
        onChange={setHosts}
        error={errorOf('secretHosts')}
      />
    </>
  )
}

/**
 * The secrets to send. Null keeps the stored value of a secret that was not entered. Undefined if no secret was
 * entered.
 */
export function enteredSecrets(
  test: FlowTest | null,
  entered: Readonly<Record<string, string>>,
): FlowTestInput['secrets'] {
  const filled = Object.fromEntries(Object.entries(entered).filter(([, value]) => value !== ''))
  if (Object.keys(filled).length === 0) return undefined
  const stored = (test?.secrets ?? []).map((name) => [name, null] as const)
  return { ...Object.fromEntries(stored), ...filled }
}
