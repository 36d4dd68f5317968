import { Button, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { IssueEvidence } from '#client/types.gen'
import { joinIsolated } from '../../../bidi-isolation.ts'
import { ApiImage } from '../../../components/api-image.tsx'
import { Data } from '../../../components/data-text.tsx'
import { PathLink } from '../../../components/path-link.tsx'
import { type StatusIcon, StatusMark } from '../../../components/status-mark.tsx'
import { messages } from '../../../messages.ts'
import { STEP_MARKS } from '../../tests/status-marks.ts'

type EvidenceRun = NonNullable<IssueEvidence['run']>
type Step = EvidenceRun['steps'][number]

/** A run of a flow test or audit: its steps, with one screenshot. */
export function Run({ run: { path, headline, steps, sent } }: { run: EvidenceRun }) {
  const [chosen, choose] = useState<number | null>(null)
  const shown = chosen ?? stepToShow(steps)
  const { screenshot = null, title = '' } = steps[shown] ?? {}
  return (
    <Stack gap="sm">
      {headline && (
        <Text>
          <Data>{headline}</Data>
        </Text>
      )}
      <List type="ordered" fz="sm" spacing="sm">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a run never change
          <List.Item key={index}>
            <StepLine step={step} isShown={index === shown} show={() => choose(index)} />
          </List.Item>
        ))}
      </List>
      {screenshot && <ApiImage key={screenshot} path={screenshot} name={messages.issue.stepScreenshot(title)} />}
      {sent.length > 0 && (
        <Text fz="sm" c="dimmed">
          {messages.issue.sentEvents}{' '}
          <Data>{sent.map(({ vendor, event }) => joinIsolated([vendor, event], ' ')).join(', ')}</Data>
        </Text>
      )}
      <PathLink path={pageOf(path)}>{isAudit({ path }) ? messages.issue.viewAudit : messages.issue.viewRun}</PathLink>
    </Stack>
  )
}

function StepLine({ step, isShown, show }: { step: Step; isShown: boolean; show(): void }) {
  const { title, status, error, screenshot } = step
  const standings: Readonly<Record<string, StatusIcon>> = STEP_MARKS
  const statuses: Readonly<Record<string, string>> = messages.tests.stepStatuses
  return (
    <>
      <Group gap="sm">
        <Data>{title}</Data>
        <StatusMark status={standings[status] ?? 'learning'} word={statuses[status] ?? status} />
        {screenshot && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={messages.tests.showScreenshot(title)}
            aria-pressed={isShown}
            onClick={show}
          >
            {messages.tests.screenshot}
          </Button>
        )}
      </Group>
      {error && (
        <Text c="var(--tw-critical-text)" fz="sm">
          <Data>{error}</Data>
        </Text>
      )}
    </>
  )
}

/**
 * Index of the step whose screenshot is shown: the last one with a screenshot, up to the first failed step; -1 without
 * screenshots.
 */
function stepToShow(steps: readonly Pick<Step, 'status' | 'screenshot'>[]): number {
  const failed = steps.findIndex(({ status }) => status === 'failed')
  const until = failed === -1 ? steps : steps.slice(0, failed + 1)
  return until.findLastIndex(({ screenshot }) => screenshot !== null)
}

export const isAudit = ({ path }: Pick<EvidenceRun, 'path'>): boolean => path.startsWith('/v1/audits/')

/**
 * Converts an API path to a page path: `/v1/flows/runs/run_…` → `/tests/runs/run_…`, `/v1/audits/aud_…` →
 * `/audits/aud_…`.
 */
const pageOf = (path: string): string => path.replace(/^\/v1\/flows\/runs\//, '/tests/runs/').replace(/^\/v1\//, '/')
