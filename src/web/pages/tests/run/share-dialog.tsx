import { Button, Checkbox, Modal, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { shareRun } from '#client/sdk.gen'
import type { RunDetail } from '#client/types.gen'
import { mutate } from '../../../api/mutate.ts'
import { invalidate } from '../../../api/queries.ts'
import { ApiImage } from '../../../components/api-image.tsx'
import { Form } from '../../../components/form.tsx'
import { OneTimeSecret } from '../../../components/one-time-secret.tsx'
import { useFormFields } from '../../../components/use-form-fields.ts'
import { useNow } from '../../../components/use-now.ts'
import { messages } from '../../../messages.ts'

const DAYS = 30
const MAX_DAYS = 90
const PICTURE_HEIGHT = 200

interface ShareProps {
  /** Id of a run or an audit. */
  id: string
  shares: RunDetail['shares']
  /** Steps of the run; absent for an audit. */
  steps?: RunDetail['steps']
}

/** Creates a public link to a run or an audit and shows it once, or revokes all its links. */
export function ShareDialog({
  title,
  isOpen,
  close,
  ...of
}: ShareProps & { title: string; isOpen: boolean; close(): void }) {
  // Kept outside the form, so that the link is shown even if the dialog is closed before the response arrives.
  const [link, show] = useState<string | null>(null)
  const t = messages.tests
  const leave = () => {
    close()
    show(null)
  }
  return (
    <Modal
      opened={isOpen || link !== null}
      onClose={leave}
      title={title}
      size={of.steps ? 'xl' : 'md'}
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      {link === null ? (
        <ShareForm {...of} show={show} />
      ) : (
        <OneTimeSecret
          label={t.link}
          hint={t.linkHint}
          value={link}
          button={messages.settings.members.done}
          close={leave}
        />
      )}
    </Modal>
  )
}

function ShareForm({ id, shares, steps = [], show }: ShareProps & { show(link: string): void }) {
  const now = useNow()
  const t = messages.tests
  const pictured = steps.filter(({ screenshot }) => screenshot)
  const initial = { expiresInDays: DAYS, screenshotSteps: [] as number[] }
  const { field, values, set, sending } = useFormFields(initial, async ({ expiresInDays, screenshotSteps }) => {
    const body = { expiresInDays, ...(screenshotSteps.length > 0 && { screenshots: true, screenshotSteps }) }
    show((await shareRun({ path: { id }, body })).data.url)
    await invalidate('getRun', 'getAudit')
  })
  const end = () =>
    mutate({
      send: () => shareRun({ path: { id }, body: { revoke: true } }),
      invalidates: ['getRun', 'getAudit'],
      message: t.linksRevoked,
    })
  const valid = shares.filter(({ revokedAt, expiresAt }) => revokedAt === null && expiresAt > now)
  return (
    <Stack gap="md">
      <Text>{t.shareHint}</Text>
      <Form
        submission={sending}
        button={t.createLink}
        isWide={pictured.length > 0}
        actions={
          valid.length > 0 && (
            <Button variant="default" onClick={() => void end()}>
              {t.revokeLinks}
            </Button>
          )
        }
      >
        <NumberInput label={t.shareDays} {...field('expiresInDays')} min={1} max={MAX_DAYS} allowDecimal={false} />
        {pictured.length > 0 && (
          <SharePictures
            runId={id}
            steps={pictured}
            chosen={values.screenshotSteps}
            choose={(screenshotSteps) => set({ screenshotSteps })}
          />
        )}
      </Form>
      <Text c="dimmed" fz="sm">
        {valid.length === 0 ? t.noActiveLinks : t.activeLinks(valid.length)}
      </Text>
    </Stack>
  )
}

interface SharePicturesProps {
  runId: string
  /** Steps with a screenshot. */
  steps: RunDetail['steps']
  /** Indexes of the steps whose screenshots are shared. */
  chosen: readonly number[]
  choose(steps: number[]): void
}

/** The screenshots of a run, each with a checkbox to share it. */
function SharePictures({ runId, steps, chosen, choose }: SharePicturesProps) {
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
            {/* A picture that arrives late must not move the button under the pointer. */}
            <ApiImage
              path={`/v1/flows/runs/${runId}/steps/${index}/screenshot`}
              name={t.screenshotOf(title)}
              height={PICTURE_HEIGHT}
            />
          </Stack>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
