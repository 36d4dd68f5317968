import { Group, Paper, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Form, useSubmit } from '../../components/form.tsx'
import { Logo } from '../../components/logo.tsx'
import { messages } from '../../messages.ts'
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

/** The fields of a sign-in form and a button. The server's error is shown above the button. */
export function EntryForm({ button, send, children }: EntryFormProps) {
  const sending = useSubmit([], async (form) => {
    const given = [...new FormData(form ?? undefined)].filter(([, value]) => value !== '')
    await send(Object.fromEntries(given) as Record<string, string>)
  })
  return (
    <Form submission={sending} button={button}>
      {children}
    </Form>
  )
}
