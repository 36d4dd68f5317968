import { Group, Paper, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Form, useSubmit } from '../../components/form.tsx'
import { Logo } from '../../components/logo.tsx'
import { messages } from '../../messages.ts'
import { CodeField } from './fields.tsx'
import classes from './sign-in-card.module.css'

/** A page with a single form. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = messages.shell.documentTitle(title, null)
  }, [title])
  return (
    <div className={classes.page}>
      <Group justify="center" gap="xs" mb="md">
        <Logo size={28} />
        <Text fw={600} translate="no">
          {messages.shell.product}
        </Text>
      </Group>
      <Paper p="lg" className={classes.card}>
        <Title order={1} mb="md">
          {title}
        </Title>
        {children}
      </Paper>
    </div>
  )
}

interface EntryFormProps {
  button: string
  /** Sends the filled-in fields by name; rejects with the server's error. */
  send(given: Record<string, string>): Promise<void>
  children: ReactNode
}

/**
 * The fields of a sign-in form and a button. The server's error is shown above the button. When the server asks for a
 * second factor, the form is sent again with `code`.
 */
export function EntryForm({ button, send, children }: EntryFormProps) {
  const [needsCode, askForCode] = useState(false)
  const sending = useSubmit(['code'], async (form) => {
    const filled = [...new FormData(form ?? undefined)].filter(([, value]) => value !== '')
    const given = Object.fromEntries(filled) as Record<string, string>
    try {
      await send(given)
    } catch (error) {
      if (!(error instanceof ApiError && error.needsCode)) throw error
      askForCode(true)
      // Without a code, the field that appears says what is missing.
      if (needsCode) throw error
    }
  })
  return (
    <Form submission={sending} button={button}>
      {children}
      {needsCode && <CodeField error={sending.errorOf('code')} />}
    </Form>
  )
}
