import { Checkbox, SimpleGrid, Stack, Text } from '@mantine/core'
import type { RunDetail } from '#client/types.gen'
import { messages } from '../../../messages.ts'
import { Picture } from '../../../parts/picture.tsx'

interface SharePicturesProps {
  runId: string
  /** Steps with a screenshot. */
  steps: RunDetail['steps']
  /** Indexes of the steps whose screenshots are shared. */
  chosen: readonly number[]
  choose(steps: number[]): void
}

/** Every screenshot of a run with a checkbox to share it. */
export function SharePictures({ runId, steps, chosen, choose }: SharePicturesProps) {
  const t = messages.tests
  return (
    <Stack gap="sm" component="fieldset" p={0} m={0} bd={0} miw={0}>
      <Text component="legend" fw={600} p={0}>
        {t.sharePictures}
      </Text>
      <Text c="dimmed" fz="sm">
        {t.sharePicturesHint}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        {steps.map(({ index, title }) => (
          <Stack key={index} gap="xs" miw={0}>
            <Checkbox
              label={t.sharePicture(index + 1, title)}
              checked={chosen.includes(index)}
              onChange={({ currentTarget }) =>
                choose(currentTarget.checked ? [...chosen, index] : chosen.filter((one) => one !== index))
              }
              style={{ overflowWrap: 'anywhere' }}
            />
            <Picture path={`/v1/flows/runs/${runId}/steps/${index}/screenshot`} name={t.screenshotOf(title)} />
          </Stack>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
