import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { decideHealing } from '#client/sdk.gen'
import type { FlowTest } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { Code } from '../../parts/data.tsx'

/** Steps whose element was found by another selector than recorded, to be approved or rejected. */
export function Healing({ test: { id, healing } }: { test: FlowTest }) {
  const may = useMay('member')
  const t = messages.tests
  const decide = (step: number, approve: boolean) =>
    mutate({
      send: () => decideHealing({ path: { id }, body: { step, approve }, throwOnError: true }),
      invalidates: [[{ _id: 'getFlowTest' }]],
      message: approve ? t.approved : t.rejected,
    })
  return (
    <Paper component="section">
      <Title order={2} mb="sm">
        {t.healing}
      </Title>
      <Text c="dimmed" mb="md">
        {t.healingHint}
      </Text>
      <Stack gap="md">
        {healing.map(({ step, before, after }) => (
          <Group key={step} justify="space-between" gap="md">
            <dl className="facts">
              <dt>{t.before}</dt>
              <dd>
                <Code>{before}</Code>
              </dd>
              <dt>{t.after}</dt>
              <dd>
                <Code>{after}</Code>
              </dd>
            </dl>
            {may && (
              <Group gap="sm">
                <Button aria-label={t.approveOf(step + 1)} variant="default" onClick={() => void decide(step, true)}>
                  {t.approve}
                </Button>
                <Button aria-label={t.rejectOf(step + 1)} variant="default" onClick={() => void decide(step, false)}>
                  {t.reject}
                </Button>
              </Group>
            )}
          </Group>
        ))}
      </Stack>
    </Paper>
  )
}
