import { JsonInput, Text } from '@mantine/core'
import { useState } from 'react'
import { messages } from '../../../messages.ts'
import { Card } from '../../../parts/card.tsx'
import type { Draft } from './draft.ts'
import { toSend } from './sending.ts'

interface JsonEditorProps {
  draft: Draft
  change(draft: Draft): void
  /** Called with true while the text is not valid JSON; the draft then keeps its last valid value. */
  setBroken(isBroken: boolean): void
}

/** The alert as API JSON, to read, copy and edit. */
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
