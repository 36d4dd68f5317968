import { Paper, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { messages } from '../../messages.ts'
import { Form, useSending } from '../../parts/form.tsx'
import classes from './card.module.css'

/** A page with one form and nothing else. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = messages.shell.documentTitle(title, null)
  }, [title])
  return (
    <div className={classes.page}>
      <Text fw={600} ta="center" mb="md" translate="no">
        {messages.shell.product}
      </Text>
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
  /** Sends the fields that were filled in, by their names; fails with the server's sentence. */
  send(given: Record<string, string>): Promise<void>
  children: ReactNode
}

/** The fields of an entrance and one button; the server's sentence stands above it. */
export function EntryForm({ button, send, children }: EntryFormProps) {
  const sending = useSending([], async (form) => {
    const given = [...new FormData(form ?? undefined)].filter(([, value]) => value !== '')
    await send(Object.fromEntries(given) as Record<string, string>)
  })
  return (
    <Form sending={sending} button={button}>
      {children}
    </Form>
  )
}
