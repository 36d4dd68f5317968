import { Text } from '@mantine/core'
import { messages } from '../messages.ts'
import { formatNumber, formatPercent } from './format.ts'

interface SamplingNoteProps {
  /** Null if all events were read; nothing is shown then. `marginPct`: error of the total, absent without estimates. */
  sampling: { oneIn: number; detectableSessions: number; marginPct?: number } | null
}

/** States that an answer is based on a sample of sessions, how exact it is, and what it may lack. */
export function SamplingNote({ sampling }: SamplingNoteProps) {
  if (!sampling) return null
  const { oneIn, detectableSessions, marginPct } = sampling
  const t = messages.components.sampling
  const basis =
    marginPct === undefined
      ? t.read(formatNumber(oneIn))
      : t.estimated(formatNumber(oneIn), formatPercent(marginPct / 100))
  return (
    <Text c="dimmed" fz="sm" mb="md" maw="72ch">
      {basis} {t.mayMiss(formatNumber(detectableSessions))}
    </Text>
  )
}
