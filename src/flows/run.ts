import type { SeenEvent } from '../browser/traffic.ts'
import type { Instant } from '../core/clock.ts'

export type StepStatus = 'passed' | 'healed' | 'failed' | 'skipped'

/** What became of one step of the recording. */
export interface StepResult {
  /** In `recording.steps`. */
  index: number
  /** As in the recording: `click`. */
  type: string
  /** In words: `Click “Add to basket”`. */
  title: string
  status: StepStatus
  /** Null: it was never begun. */
  startedAt: Instant | null
  durationMs: number | null
  /** Why it failed, in one sentence; null: it did not. */
  error: string | null
  /** How the element was found, where it was not by the step's first selector. */
  healed: { before: string; after: string } | null
  screenshot: boolean
}

/** An event of a run. */
export interface RunEvent extends Omit<SeenEvent, 'request'> {
  /** Index of the step that caused it: the last one that had begun when it was sent. */
  step: number
}

export const RUN_FINDING_KINDS = ['missing', 'wrong_data', 'unexpected', 'duplicate', 'step_failed', 'rule'] as const
export type RunFindingKind = (typeof RUN_FINDING_KINDS)[number]

/** What is wrong with a run. */
export interface RunFinding {
  kind: RunFindingKind
  step: number | null
  vendor: string | null
  event: string | null
  /** One sentence without its full stop. */
  sentence: string
  expected: string | null
  observed: string | null
}
