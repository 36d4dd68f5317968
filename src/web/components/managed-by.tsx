import { Alert, Badge, Text } from '@mantine/core'
import type { Alert as AlertRule } from '#client/types.gen'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'

interface ManagedProps {
  managedBy?: AlertRule['managedBy'] | undefined
}

/** Name of the file that manages an item, for rows. Empty when no file does. */
export function ManagedMark({ managedBy }: ManagedProps) {
  if (!managedBy) return null
  return (
    <Text component="span" c="dimmed" fz="xs" style={{ overflowWrap: 'anywhere' }}>
      {messages.components.managedByFile} <Data>{managedBy.file}</Data>
    </Text>
  )
}

/** The mark as the second line of a cell. */
export const ManagedRow = ({ managedBy }: ManagedProps) =>
  managedBy && (
    <div className="under">
      <ManagedMark managedBy={managedBy} />
    </div>
  )

/** Notice that the next `tagwarden apply` overwrites changes. Empty when no file manages the item. */
export function ManagedNotice({ managedBy }: ManagedProps) {
  if (!managedBy) return null
  return (
    <Alert color="gray" mb="md" maw="72ch">
      <Badge variant="light" mr="xs">
        {messages.components.managedByFile}
      </Badge>
      <Data>{managedBy.file}</Data>
      <Text fz="sm" mt={4}>
        {messages.components.overwritten}
      </Text>
    </Alert>
  )
}
