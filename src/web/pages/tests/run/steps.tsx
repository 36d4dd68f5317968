import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import type { RunDetail } from '#client/types.gen'
import { Data } from '../../../parts/data.tsx'
import { Duration, Num } from '../../../parts/numbers.tsx'
import { Picture } from '../../../parts/picture.tsx'
import { SimpleTable } from '../../../parts/simple-table.tsx'
import { StatusMark } from '../../../parts/status-mark.tsx'
import { words } from '../../../words.ts'
import { STEP_STANDING } from '../standing.ts'

/** The steps of a run, each with its picture when it is asked for; that of the last one stands open. */
export function Steps({ run: { id, steps } }: { run: RunDetail }) {
  const lastPictured = steps.findLast(({ screenshot }) => screenshot)?.index ?? null
  const [chosen, choose] = useState<number | null>(null)
  const shown = chosen ?? lastPictured
  const said = words.tests
  const shownStep = steps.find(({ index }) => index === shown)
  return (
    <Stack gap="md">
      <SimpleTable
        name={said.steps}
        rows={steps}
        keyOf={({ index }) => String(index)}
        columns={[
          { head: said.step, isNumber: true, cell: ({ index }) => <Num value={index + 1} /> },
          { head: said.name, cell: (step) => <What step={step} /> },
          {
            head: said.stepStatus,
            cell: ({ status }) => <StatusMark status={STEP_STANDING[status]} word={said.stepStatuses[status]} />,
          },
          { head: said.took, isNumber: true, cell: ({ durationMs }) => <Duration ms={durationMs} /> },
          {
            head: said.screenshot,
            cell: ({ index, title, screenshot }) =>
              screenshot && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={said.showScreenshot(title)}
                  aria-pressed={index === shown}
                  onClick={() => choose(index)}
                >
                  {said.showStep}
                </Button>
              ),
          },
        ]}
      />
      {shownStep && (
        <Picture
          key={shownStep.index}
          path={`/v1/flows/runs/${id}/steps/${shownStep.index}/screenshot`}
          name={said.screenshotOf(shownStep.title)}
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
          <Data>{words.tests.healedFrom(healed.before, healed.after)}</Data>
        </div>
      )}
    </div>
  )
}
