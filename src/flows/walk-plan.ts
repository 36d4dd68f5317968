import type { BrowsingOptions } from '../browser/browsing.ts'
import type { Consent } from '../browser/consent-banner-options.ts'
import type { Expectation } from './expectation.ts'
import type { KnownElement } from './known-element.ts'
import type { Recording } from './recorder-export.ts'
import type { RunEvent, StepResult } from './run-result.ts'

/** Everything that a browser process needs for one attempt at a flow test. */
export interface WalkPlan {
  browsing: BrowsingOptions
  /** The recording with its start URL already replaced, but with `{{name}}` not yet replaced. */
  recording: Recording
  /** Values of variables and secrets. `browsing.secrets` also contains the values of the secrets. */
  values: Record<string, string>
  /** Hosts that may receive each secret, by secret name, in the form of `secretHostOf`. */
  secretHosts: Record<string, readonly string[]>
  expectations: readonly Expectation[]
  /** Members of each label, by label name. */
  labels: Record<string, readonly { vendor: string; event: string }[]>
  consent: Consent
  /** The element that each step found in the last approved run, by step index. */
  elements: Record<number, KnownElement>
  /** Rejected healed selectors, by step index. */
  refused: Record<number, readonly string[]>
  timeoutMs: number
  /** Folder for screenshots (`step-<index>.png`) and `requests.har`. */
  folder: string
}

/** Messages from the browser process during an attempt, in order. */
export type WalkMessage =
  | { kind: 'step'; step: StepResult; element: KnownElement | null }
  | { kind: 'event'; event: RunEvent }
  | {
      kind: 'done'
      /** Reason why the attempt ended early; null when all steps were executed. */
      error: string | null
      /** Errors reported by the pages. */
      errors: readonly string[]
      /** Time that the attempt waited for tags, in milliseconds. */
      pausedMs: number
    }
