import { Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { listAlertsOptions, listSignalsOptions } from '#client/@tanstack/react-query.gen'
import { messages } from '../../messages.ts'

const MOST = 200

/** Says that there are no issues, and which alerts and signals are monitored. */
export function NoIssues() {
  const signals = useQuery(listSignalsOptions({ query: { limit: MOST } })).data
  const alerts = useQuery(listAlertsOptions({ query: { enabled: true, limit: MOST } })).data
  return (
    <Stack align="center" gap="xs" p="xl">
      <IconCircleCheck size={24} stroke={1.75} color="var(--tw-ok-solid)" aria-hidden />
      <Text fz="lg">{messages.issues.nothingWrong}</Text>
      {signals && alerts && (
        <Text c="dimmed">
          {messages.issues.watching(
            messages.issues.signals(signals.signals.length, signals.nextCursor === null),
            messages.issues.alerts(alerts.alerts.length, alerts.nextCursor === null),
          )}
        </Text>
      )}
    </Stack>
  )
}
