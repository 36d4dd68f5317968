import { Button, CloseButton, Fieldset, Group, NumberInput, Stack } from '@mantine/core'
import type { Forms } from '#client/types.gen'
import { messages } from '../messages.ts'
import { ChannelRows } from './channel-rows.tsx'
import { DEFAULT_CHANNEL, type EditedStep } from './edited-channels.ts'

const MAX_STEPS = 10
const MAX_MINUTES = 10_080
/** Minutes between the last step and one that is added. */
const MINUTES_APART = 30

/** A step with its default values, `MINUTES_APART` after the last one. */
export const stepAfter = (steps: readonly EditedStep[]): EditedStep => ({
  afterMinutes: Math.min((Number(steps.at(-1)?.afterMinutes) || 0) + MINUTES_APART, MAX_MINUTES),
  channels: [DEFAULT_CHANNEL],
})

interface EscalationStepsProps {
  steps: readonly EditedStep[]
  change(steps: readonly EditedStep[]): void
  forms: Forms
  /** Returns the error of a field of the escalation, such as `steps[0].afterMinutes`. */
  errorOf(path: string): string | undefined
}

/** The steps of an escalation: after how many minutes which channels are notified. */
export function EscalationSteps({ steps, change, forms, errorOf }: EscalationStepsProps) {
  const t = messages.escalation
  return (
    <>
      {steps.map((step, index) => {
        const number = index + 1
        const set = (part: Partial<EditedStep>) => change(steps.with(index, { ...step, ...part }))
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are identified only by their index
          <Fieldset key={index} legend={t.step(number)}>
            <Stack gap="md">
              <Group justify="space-between" align="start" wrap="nowrap">
                <NumberInput
                  label={t.minutes(number)}
                  value={step.afterMinutes}
                  onChange={(afterMinutes) => set({ afterMinutes })}
                  min={1}
                  max={MAX_MINUTES}
                  clampBehavior="none"
                  allowDecimal={false}
                  allowNegative={false}
                  error={errorOf(`steps[${index}].afterMinutes`)}
                  required
                />
                <CloseButton
                  aria-label={t.removeStep(number)}
                  onClick={() => change(steps.filter((_, other) => other !== index))}
                />
              </Group>
              <ChannelRows
                channels={step.channels}
                change={(channels) => set({ channels })}
                forms={forms}
                path={`steps[${index}].channels`}
                errorOf={errorOf}
                labelOf={(label) => t.inStep(label, number)}
              />
            </Stack>
          </Fieldset>
        )
      })}
      {steps.length < MAX_STEPS && (
        <Button variant="default" w="fit-content" onClick={() => change([...steps, stepAfter(steps)])}>
          {t.addStep}
        </Button>
      )}
    </>
  )
}
