import type { ElementHandle, Frame, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import type { CheckedStep } from '../recording.ts'
import type { StepType } from '../recording-steps.ts'
import type { Found } from './find-element.ts'

/** The context in which a step runs. */
export interface StepContext {
  browsing: Browsing
  /** Returns the tab that the step names, in front; waits for it. */
  page(): Promise<Page>
  /** Returns the frame that the step names; waits for it. */
  frame(): Promise<Frame>
  /** Returns the frame at once; null when it does not exist or may not receive the secrets of the step. */
  frameNow(): Frame | null
  /** Returns why `frameNow` returned null. */
  placeFault(): string
  /** Throws a `StepFault` when the step uses secrets that are not bound to the host of the address. */
  requireSecretHost(address: string): void
  /**
   * Finds the step's element.
   * @param use returns the required property of the element, or why it can't be used yet; called until it can
   */
  element<T>(
    use: (element: ElementHandle<Element>) => Promise<{ ready: T } | { fault: string }>,
  ): Promise<Found & { ready: T }>
  /** True for a touch device. */
  hasTouch: boolean
  /** Timeout of the step, in milliseconds. */
  limitMs: number
  stopping: AbortSignal
}

/** One kind of step. */
export interface StepKind<T extends StepType> {
  /** True when the step may cause tags. After other steps, nothing is awaited and no screenshot is taken. */
  causesTags: boolean
  /** Executes the step. Throws a `StepFault` or an error of the browser. */
  do(step: CheckedStep<T>, doing: StepContext): Promise<void>
}
