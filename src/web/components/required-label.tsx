import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { messages } from '../messages.ts'

/** Label of a required field. Screen readers read the required state from the field itself. */
export const requiredLabel = (label: ReactNode): ReactNode => (
  <>
    {label}
    <Text span fz="xs" fw={400} c="dimmed" ml={6} aria-hidden>
      {messages.forms.required}
    </Text>
  </>
)
