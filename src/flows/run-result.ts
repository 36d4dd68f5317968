import type { SeenEvent } from '../browser/traffic.ts'
import type { Instant } from '../core/clock.ts'

export type StepStatus = 'passed' | 'healed' | 'failed' | 'skipped'

/** Result of one step in the recording. */
export interface StepResult {
  /** Index of the step in `recording.steps`. */
  index: number
  /** Type in the recording, for example `click`. */
  type: string
  /** Description of the step: `Click “Add to basket”`. */
  title: string
  status: StepStatus
  /** Null when the step was not started. */
  startedAt: Instant | null
  durationMs: number | null
  /** The reason for the failure in one sentence; null when the step did not fail. */
  error: string | null
  /**
   * Two selectors of a healed step: the first recorded one, and the one that found the element. Null when the step was
   * not healed.
   */
  healed: { before: string; after: string } | null
  screenshot: boolean
}

/** An event recorded during a run. */
export interface RunEvent extends Omit<SeenEvent, 'request'> {
  /** Index of the step that caused the event: the last step that started before the event was sent. */
  step: number
}

export const RUN_FINDING_KINDS = ['missing', 'wrong_data', 'unexpected', 'duplicate', 'step_failed', 'rule'] as const
export type RunFindingKind = (typeof RUN_FINDING_KINDS)[number]

/** A fault found in a run. */
export interface RunFinding {
  kind: RunFindingKind
  step: number | null
  vendor: string | null
  event: string | null
  /** Description of the fault in one sentence without a full stop. */
  sentence: string
  expected: string | null
  observed: string | null
}
