import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import type { RunDetail } from '#client/types.gen'
import { ApiImage } from '../../../components/api-image.tsx'
import { Data } from '../../../components/data-text.tsx'
import { Duration, Num } from '../../../components/numbers.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { StatusMark } from '../../../components/status-mark.tsx'
import { messages } from '../../../messages.ts'
import { STEP_MARKS } from '../status-marks.ts'

/** The steps of a run, with the screenshot of the selected step, which is initially the last one. */
export function Steps({ run: { id, steps } }: { run: RunDetail }) {
  const lastPictured = steps.findLast(({ screenshot }) => screenshot)?.index ?? null
  const [chosen, choose] = useState<number | null>(null)
  const shown = chosen ?? lastPictured
  const t = messages.tests
  const shownStep = steps.find(({ index }) => index === shown)
  return (
    <Stack gap="md">
      <SimpleTable
        name={t.steps}
        rows={steps}
        keyOf={({ index }) => String(index)}
        columns={[
          { head: t.step, isNumber: true, cell: ({ index }) => <Num value={index + 1} /> },
          { head: t.name, cell: (step) => <What step={step} /> },
          {
            head: t.stepStatus,
            cell: ({ status }) => <StatusMark status={STEP_MARKS[status]} word={t.stepStatuses[status]} />,
          },
          { head: t.duration, isNumber: true, cell: ({ durationMs }) => <Duration ms={durationMs} /> },
          {
            head: t.screenshot,
            cell: ({ index, title, screenshot }) =>
              screenshot && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.showScreenshot(title)}
                  aria-pressed={index === shown}
                  onClick={() => choose(index)}
                >
                  {t.showStep}
                </Button>
              ),
          },
        ]}
      />
      {shownStep && (
        <ApiImage
          key={shownStep.index}
          path={`/v1/flows/runs/${id}/steps/${shownStep.index}/screenshot`}
          name={t.screenshotOf(shownStep.title)}
        />
      )}
    </Stack>
  )
}

function What({ step: { title, error, healed } }: { step: RunDetail['steps'][number] }) {
  return (
    <div>
      <Data>{title}</Data>
      {error !== null && (
        <div className="under">
          <Data>{error}</Data>
        </div>
      )}
      {healed && (
        <div className="under">
          <Data>{messages.tests.healedFrom(healed.before, healed.after)}</Data>
        </div>
      )}
    </div>
  )
}
