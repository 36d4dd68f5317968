import { NativeSelect, Stack, Text } from '@mantine/core'
import type { EscalationStep } from '#client/types.gen'
import { Collapsible } from '../../../components/collapsible.tsx'
import type { EditedStep } from '../../../components/edited-channels.ts'
import { EscalationSteps, stepAfter } from '../../../components/escalation-steps.tsx'
import { messages } from '../../../messages.ts'
import type { Draft } from './draft.ts'
import type { SectionProps } from './section-props.ts'

type Choice = keyof typeof messages.escalation.choices

const choiceOf = ({ escalation }: Draft): Choice =>
  escalation === undefined ? 'organization' : escalation.steps.length === 0 ? 'never' : 'own'

function withChoice({ escalation: _, ...draft }: Draft, choice: Choice): Draft {
  if (choice === 'organization') return draft
  return withSteps(draft, choice === 'own' ? [stepAfter([])] : [])
}

// While a field is empty, the server rejects the step.
const withSteps = (draft: Draft, steps: readonly EditedStep[]): Draft => ({
  ...draft,
  escalation: { steps: [...steps] as EscalationStep[] },
})

/** The channels that are notified if nobody acknowledges an issue of the alert. */
export function AlertEscalation({
  draft,
  change,
  forms,
  errorOf,
  paths,
}: Pick<SectionProps, 'draft' | 'change' | 'forms' | 'errorOf' | 'paths'>) {
  const t = messages.escalation
  const choice = choiceOf(draft)
  const steps = draft.escalation?.steps ?? []
  const mustShow = paths.some((path) => path.startsWith('escalation.') && errorOf(path) !== undefined)
  return (
    <Collapsible
      title={t.title}
      summary={choice === 'own' ? t.stepCount(steps.length) : t.choices[choice]}
      isOpenAtFirst={choice !== 'organization'}
      mustShow={mustShow}
    >
      <Stack gap="md">
        <Text c="dimmed" fz="sm">
          {t.intro}
        </Text>
        <NativeSelect
          label={t.steps}
          value={choice}
          onChange={({ currentTarget }) => change(withChoice(draft, currentTarget.value as Choice))}
          data={Object.entries(t.choices).map(([value, label]) => ({ value, label }))}
          maw={360}
        />
        {choice === 'own' && (
          <EscalationSteps
            steps={steps}
            change={(next) => change(withSteps(draft, next))}
            forms={forms}
            errorOf={(path) => errorOf(`escalation.${path}`)}
          />
        )}
      </Stack>
    </Collapsible>
  )
}
