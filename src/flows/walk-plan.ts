import type { BrowsingOptions } from '../browser/browsing.ts'
import type { Consent } from '../browser/consent.ts'
import type { KnownElement } from './element.ts'
import type { Expectation } from './expectation.ts'
import type { Recording } from './recording.ts'
import type { RunEvent, StepResult } from './run.ts'

/** One attempt at walking a flow test: all that the browser process is told. */
export interface WalkPlan {
  browsing: BrowsingOptions
  /** With the start page in place, and `{{name}}` still in its texts. */
  recording: Recording
  /** Of variables and secrets together; the values of secrets are also in `browsing.secrets`. */
  values: Record<string, string>
  /** Names of secrets, each with the hosts that may get it, as `secretHostOf` spells them. */
  secretHosts: Record<string, readonly string[]>
  expectations: readonly Expectation[]
  /** With labels read: each stands for its members. */
  labels: Record<string, readonly { vendor: string; event: string }[]>
  consent: Consent
  /** By index of the step: the element it met in the last approved run. */
  elements: Record<number, KnownElement>
  /** Healed selectors that a person refused: by index of the step. */
  refused: Record<number, readonly string[]>
  timeoutMs: number
  /** Where screenshots (`step-<index>.png`) and `requests.har` are written. */
  folder: string
}

/** What the browser process tells while it walks, in order. */
export type WalkMessage =
  | { kind: 'step'; step: StepResult; element: KnownElement | null }
  | { kind: 'event'; event: RunEvent }
  | {
      kind: 'done'
      /** What ended the walk early; null: every step was walked. */
      error: string | null
      /** Errors of the page. */
      errors: readonly string[]
      /** Time that the walk waited for tags. */
      pausedMs: number
    }
