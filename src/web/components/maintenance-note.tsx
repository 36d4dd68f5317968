import type { Issue } from '#client/types.gen'
import { messages } from '../messages.ts'
import { Data, Dot } from './data-text.tsx'
import { DateTime } from './time-ago.tsx'
import { useNow } from './use-now.ts'

interface NoteProps {
  maintenance: Issue['maintenance']
  className?: string | undefined
}

/** Until when a maintenance window withholds notifications about an issue. Empty when none does. */
export function MaintenanceNote({ maintenance, className }: NoteProps) {
  const now = useNow()
  if (!maintenance || maintenance.until <= now) return null
  return (
    <span className={className}>
      {messages.maintenance.inForceUntil} <DateTime at={maintenance.until} isQuiet />
      <Dot />
      <Data>{maintenance.name}</Data>
    </span>
  )
}
