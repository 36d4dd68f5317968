import type { SeenEvent } from '../browser/traffic.ts'
import type { Instant } from '../core/clock.ts'

export type StepStatus = 'passed' | 'healed' | 'failed' | 'skipped'

/** Result of one step of the recording. */
export interface StepResult {
  /** Index in `recording.steps`. */
  index: number
  /** Type in the recording: `click`. */
  type: string
  /** Step as text: `Click “Add to basket”`. */
  title: string
  status: StepStatus
  /** Null when the step was never begun. */
  startedAt: Instant | null
  durationMs: number | null
  /** Why it failed, in one sentence; null when it did not. */
  error: string | null
  /** How the element was found, when the step's first selector did not find it. */
  healed: { before: string; after: string } | null
  screenshot: boolean
}

/** An event of a run. */
export interface RunEvent extends Omit<SeenEvent, 'request'> {
  /** Index of the step that caused it: the last one begun when it was sent. */
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
  /** One sentence without a full stop. */
  sentence: string
  expected: string | null
  observed: string | null
}
