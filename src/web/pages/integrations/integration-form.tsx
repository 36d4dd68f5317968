import { Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Integration, Form as ServerForm } from '#client/types.gen'
import { Form, useSubmit } from '../../components/form.tsx'
import { type FormSchema, type FormValue, pathsOf } from '../../components/form-schema.ts'
import { SchemaForm } from '../../components/schema-form.tsx'
import { messages } from '../../messages.ts'

interface IntegrationFormProps {
  form: ServerForm
  /** The saved integration, with only the names of its secrets; null for a new one. */
  saved: { label: string; config: FormValue; secrets: readonly string[] } | null
  button: string
  send(input: { provider: Integration['provider']; label?: string; config: FormValue }): Promise<void>
}

/** The fields of an integration, rendered from the server's form. */
export function IntegrationForm({ form, saved, button, send }: IntegrationFormProps) {
  const [label, setLabel] = useState(saved?.label ?? '')
  const [config, setConfig] = useState<FormValue>(saved?.config ?? {})
  const schema = form.schema as FormSchema
  const sending = useSubmit(['label', ...pathsOf(schema, config, 'config')], () =>
    send({ provider: form.kind as Integration['provider'], ...(label && { label }), config }),
  )
  return (
    <Form submission={sending} button={button}>
      <Stack gap="md">
        <TextInput
          label={messages.integrations.name}
          description={messages.integrations.nameHint}
          value={label}
          onChange={({ currentTarget }) => setLabel(currentTarget.value)}
          error={sending.errorOf('label')}
          maxLength={200}
        />
        <SchemaForm
          schema={schema}
          value={config}
          change={setConfig}
          path="config"
          errorOf={sending.errorOf}
          isSet={(path) => saved?.secrets.some((name) => path === `config.${name}`) ?? false}
        />
      </Stack>
    </Form>
  )
}
