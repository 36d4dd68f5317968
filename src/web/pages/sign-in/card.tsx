import { Alert, Button, Paper, Stack, Text, Title } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react'
import { sentenceOf } from '../../api/refusal.ts'
import { Data } from '../../parts/data.tsx'
import { words } from '../../words.ts'
import classes from './card.module.css'

/** A page with one form and nothing else. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = words.shell.documentTitle(title, null)
  }, [title])
  return (
    <div className={classes.page}>
      <Text fw={600} ta="center" mb="md" translate="no">
        {words.shell.product}
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
  /** Sends the fields by their names; fails with the server's sentence. */
  send(given: Record<string, string>): Promise<void>
  children: ReactNode
}

/** Fields, one button, and the server's sentence when it refuses. */
export function EntryForm({ button, send, children }: EntryFormProps) {
  const [refusal, refuse] = useState<string | null>(null)
  const [isSending, sending] = useState(false)
  const id = useId()
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = [...new FormData(event.currentTarget)].filter(([, value]) => value !== '')
    sending(true)
    try {
      await send(Object.fromEntries(given) as Record<string, string>)
    } catch (error) {
      refuse(sentenceOf(error))
    } finally {
      sending(false)
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)} aria-describedby={id}>
      <Stack gap="md">
        {children}
        <div id={id}>
          {refusal && (
            <Alert role="alert" color="red" variant="light">
              <Data>{refusal}</Data>
            </Alert>
          )}
        </div>
        <Button type="submit" loading={isSending} fullWidth>
          {button}
        </Button>
      </Stack>
    </form>
  )
}
