import { Alert, Stack, Text } from '@mantine/core'
import type { WaitingDeletion } from '#client/types.gen'
import { Code } from '../../components/data-text.tsx'
import { formatMoment, formatNumber } from '../../components/format.ts'
import { DateTime } from '../../components/time-ago.tsx'
import { useTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'

const MEGABYTE = 1_000_000

const VARIABLES = {
  retentionDays: 'TAGWARDEN_RETENTION_DAYS',
  runRetentionDays: 'TAGWARDEN_RUN_RETENTION_DAYS',
  diskBudget: 'TAGWARDEN_DISK_BUDGET',
} as const

const sizeText = (bytes: number) => `${formatNumber(bytes / MEGABYTE, 1)}\u00a0MB`

/** Notice about shorter limits that will delete data. Empty if there are none. */
export function WaitingDeletions({ waiting }: { waiting: readonly WaitingDeletion[] }) {
  const zone = useTimeZone()
  const t = messages.settings.usage.waiting
  if (waiting.length === 0) return null
  return (
    <Alert variant="default" title={t.title} mb="md" maw="72ch">
      <Stack gap="xs">
        {waiting.map((one) => (
          <Text key={one.name} fz="sm">
            {shortenedText(one)} {deletedText(one, zone)}
            <br />
            {t.appliesAt} <DateTime at={one.appliesAt} />
          </Text>
        ))}
        <Text fz="sm">
          {t.keep} <Code>{t.command}</Code>
        </Text>
      </Stack>
    </Alert>
  )
}

function shortenedText({ name, inForce, requested }: WaitingDeletion): string {
  const t = messages.settings.usage.waiting
  const valueText = (value: number) => {
    if (name !== 'diskBudget') return t.days(value)
    return value === 0 ? t.noBudget : sizeText(value)
  }
  return t.shortened(VARIABLES[name], valueText(inForce), valueText(requested))
}

function deletedText({ name, before, events, bytes }: WaitingDeletion, zone: string): string {
  const t = messages.settings.usage.waiting.deletes
  if (name === 'runRetentionDays') return t.runRetentionDays(formatMoment(before ?? 0, zone))
  if (!bytes) return t.nothing
  if (name === 'diskBudget') return t.diskBudget(sizeText(bytes))
  return t.retentionDays(formatNumber(events ?? 0, 0), sizeText(bytes), formatMoment(before ?? 0, zone))
}
