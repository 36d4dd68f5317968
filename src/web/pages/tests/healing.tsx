import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { decideHealing } from '#client/sdk.gen'
import type { FlowTest } from '#client/types.gen'
import { act } from '../../api/act.ts'
import { useMay } from '../../api/who.ts'
import { Code } from '../../parts/data.tsx'
import { words } from '../../words.ts'

/** Steps that found their element in another way than recorded, and wait for somebody's approval. */
export function Healing({ test: { id, healing } }: { test: FlowTest }) {
  const may = useMay('member')
  const said = words.tests
  const decide = (step: number, approve: boolean) =>
    act({
      send: () => decideHealing({ path: { id }, body: { step, approve }, throwOnError: true }),
      asksAgain: [[{ _id: 'getFlowTest' }]],
      say: approve ? said.approved : said.rejected,
    })
  return (
    <Paper component="section">
      <Title order={2} mb="sm">
        {said.healing}
      </Title>
      <Text c="dimmed" mb="md">
        {said.healingHint}
      </Text>
      <Stack gap="md">
        {healing.map(({ step, before, after }) => (
          <Group key={step} justify="space-between" gap="md">
            <dl className="facts">
              <dt>{said.before}</dt>
              <dd>
                <Code>{before}</Code>
              </dd>
              <dt>{said.after}</dt>
              <dd>
                <Code>{after}</Code>
              </dd>
            </dl>
            {may && (
              <Group gap="sm">
                <Button aria-label={said.approveOf(step + 1)} variant="default" onClick={() => void decide(step, true)}>
                  {said.approve}
                </Button>
                <Button aria-label={said.rejectOf(step + 1)} variant="default" onClick={() => void decide(step, false)}>
                  {said.reject}
                </Button>
              </Group>
            )}
          </Group>
        ))}
      </Stack>
    </Paper>
  )
}
