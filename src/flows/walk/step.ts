import type { ElementHandle, Frame, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import type { CheckedStep } from '../recorder-export.ts'
import type { StepType } from '../recording-steps.ts'
import type { Found } from './find-element.ts'

/** The context in which a step runs. */
export interface StepContext {
  browsing: Browsing
  /** Returns the tab specified in the step after bringing it to the front. Waits until the tab exists. */
  page(): Promise<Page>
  /** Returns the frame specified in the step. Waits until the frame exists. */
  frame(): Promise<Frame>
  /** Returns the frame without waiting. Null when the frame does not exist or must not receive the step's secrets. */
  frameNow(): Frame | null
  /** Returns why `frameNow` returned null. */
  placeFault(): string
  /** Throws a `StepFault` when the step uses secrets that were not entered for the URL's host. */
  requireSecretHost(address: string): void
  /**
   * Finds the step's element.
   * @param use returns the required property of the element, or the reason why the element can't be used yet; called
   * repeatedly until the element is usable
   */
  element<T>(
    use: (element: ElementHandle<Element>) => Promise<{ ready: T } | { fault: string }>,
  ): Promise<Found & { ready: T }>
  /** True when the device has a touch screen. */
  hasTouch: boolean
  /** Timeout of the step in milliseconds. */
  limitMs: number
  stopping: AbortSignal
}

/** Implementation of one kind of step. */
export interface StepKind<T extends StepType> {
  /**
   * True when the step may cause tags to fire. After other steps, the runner neither waits for tags nor takes a
   * screenshot.
   */
  causesTags: boolean
  /** Executes the step. Rejects with a `StepFault` or an error from the browser. */
  do(step: CheckedStep<T>, doing: StepContext): Promise<void>
}
