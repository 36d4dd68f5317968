import { JsonInput, Text } from '@mantine/core'
import { useState } from 'react'
import { messages } from '../../../messages.ts'
import { Card } from '../../../parts/card.tsx'
import type { Draft } from './draft.ts'
import { toSend } from './sending.ts'

interface JsonEditorProps {
  draft: Draft
  change(draft: Draft): void
  /** Called with true while what is typed is no JSON: then the draft is still what it was before. */
  setBroken(isBroken: boolean): void
}

/** The alert as the API takes it, to be read, copied and changed. */
export function JsonEditor({ draft, change, setBroken }: JsonEditorProps) {
  const [typed, type] = useState(() => JSON.stringify(toSend(draft), null, 2))
  const read = (text: string): Draft | null => {
    try {
      const value: unknown = JSON.parse(text)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : null
    } catch {
      return null
    }
  }
  return (
    <Card title={messages.alert.json}>
      <Text c="dimmed" mb="md">
        {messages.alert.jsonHint}
      </Text>
      <JsonInput
        aria-label={messages.alert.json}
        value={typed}
        onChange={(text) => {
          type(text)
          const next = read(text)
          setBroken(next === null)
          if (next) change({ ...next, name: String(next.name ?? ''), period: String(next.period ?? '') })
        }}
        error={read(typed) === null ? messages.forms.notJson : undefined}
        autosize
        minRows={16}
        maxRows={40}
        translate="no"
      />
    </Card>
  )
}
