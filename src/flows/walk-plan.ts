import type { BrowsingOptions } from '../browser/browsing.ts'
import type { Consent } from '../browser/consent.ts'
import type { Expectation } from './expectation.ts'
import type { KnownElement } from './known-element.ts'
import type { Recording } from './recording.ts'
import type { RunEvent, StepResult } from './run.ts'

/** One attempt at walking a flow test: everything the browser process is given. */
export interface WalkPlan {
  browsing: BrowsingOptions
  /** With the start page set, and `{{name}}` still in its texts. */
  recording: Recording
  /** Values of variables and secrets; values of secrets are also in `browsing.secrets`. */
  values: Record<string, string>
  /** Names of secrets, each with the hosts that may receive it, in the form of `secretHostOf`. */
  secretHosts: Record<string, readonly string[]>
  expectations: readonly Expectation[]
  /** Members of each label. */
  labels: Record<string, readonly { vendor: string; event: string }[]>
  consent: Consent
  /** The element found in the last approved run, by index of the step. */
  elements: Record<number, KnownElement>
  /** Refused healed selectors, by index of the step. */
  refused: Record<number, readonly string[]>
  timeoutMs: number
  /** Folder for screenshots (`step-<index>.png`) and `requests.har`. */
  folder: string
}

/** Messages of the browser process during a walk, in order. */
export type WalkMessage =
  | { kind: 'step'; step: StepResult; element: KnownElement | null }
  | { kind: 'event'; event: RunEvent }
  | {
      kind: 'done'
      /** Reason why the walk ended early; null when every step was walked. */
      error: string | null
      /** Errors of the page. */
      errors: readonly string[]
      /** Time the walk waited for tags. */
      pausedMs: number
    }
