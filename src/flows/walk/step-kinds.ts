import type { StepType } from '../recording-steps.ts'
import { change, keyDown, keyUp } from './input-steps.ts'
import { close, emulateNetworkConditions, navigate, setViewport } from './page-steps.ts'
import { click, doubleClick, hover, scroll } from './pointer-steps.ts'
import type { StepKind } from './step.ts'
import { waitForElement, waitForExpression } from './waiting-steps.ts'

/** All kinds of steps, by their name in the Recorder. */
export const STEP_KINDS: { readonly [T in StepType]: StepKind<T> } = {
  setViewport,
  emulateNetworkConditions,
  navigate,
  click,
  doubleClick,
  hover,
  change,
  keyDown,
  keyUp,
  scroll,
  close,
  waitForElement,
  waitForExpression,
}
