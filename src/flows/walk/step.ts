import type { ElementHandle, Frame, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import type { KnownStep } from '../recording.ts'
import type { StepType } from '../recording-steps.ts'
import type { Found } from './find.ts'

/** What a step may use while it is done. */
export interface Doing {
  browsing: Browsing
  /** The tab that the step names, in front; waited for. */
  page(): Promise<Page>
  /** The frame that the step names; waited for. */
  frame(): Promise<Frame>
  /** The same at once; null: it is not there, or may not get the secrets of the step. */
  frameNow(): Frame | null
  /** Why `frameNow` returned null. */
  placeFault(): string
  /** Fails with a `StepFault` when the step mentions secrets that are not bound to the host of the address. */
  requireSecretHost(address: string): void
  /**
   * The step's element, found and told of.
   * @param use what is needed of it, or why it cannot be used yet; it is asked until it can
   */
  element<T>(
    use: (element: ElementHandle<Element>) => Promise<{ ready: T } | { fault: string }>,
  ): Promise<Found & { ready: T }>
  /** Whether the device is one that is touched. */
  hasTouch: boolean
  /** Time for the step, in milliseconds. */
  limitMs: number
  stopping: AbortSignal
}

/** One kind of step. */
export interface StepKind<T extends StepType> {
  /** Whether it may cause tags. Behind one that does not, nothing is waited for, and no picture is taken. */
  causesTags: boolean
  /** Does it. Fails with a `StepFault`, or whatever the browser threw. */
  do(step: KnownStep<T>, doing: Doing): Promise<void>
}
