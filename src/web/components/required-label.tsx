import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { messages } from '../messages.ts'

/** The label of a field that must be filled in: in a word for those who see it; others hear it of the field itself. */
export const requiredLabel = (label: ReactNode): ReactNode => (
  <>
    {label}
    <Text span fz="xs" fw={400} c="dimmed" ml={6} aria-hidden>
      {messages.forms.required}
    </Text>
  </>
)
