import { AppError } from '../core/error.ts'
import { isJsonObject } from '../core/parse-json-object.ts'
import { MAX_STEPS, parseRecording, parseStep, type RecordedStep, type Recording } from './recorder-export.ts'
import { isStepType } from './recording-steps.ts'

/** A step of an imported recording that was left out or changed. */
export interface SkippedStep {
  /** Index of the step in the imported recording, from 0. */
  step: number
  /** Kind of the step; empty when it has none. */
  type: string
  /** The omitted part and the reason. */
  reason: string
}

/** Maximum number of reported steps. */
const MAX_REPORTED = 200
const MAX_TYPE = 100

/**
 * Returns the steps of a Recorder export that can be executed, and the ones that can't. A step with some unsupported
 * selectors keeps the others.
 * @param path path of the field, for error messages
 * @throws {AppError} `invalid` when the value is not a recording or no step can be executed
 */
export function importRecording(value: unknown, path: string): { recording: Recording; skipped: SkippedStep[] } {
  if (!isJsonObject(value)) throw new AppError('invalid', `${path}: must be an object, as exported by the Recorder`)
  if (!Array.isArray(value.steps)) throw new AppError('invalid', `${path}.steps: must be a list`)
  if (value.steps.length === 0) throw new AppError('invalid', `${path}.steps: must have at least one item`)
  const steps: RecordedStep[] = []
  const skipped: SkippedStep[] = []
  for (const [index, given] of value.steps.entries()) {
    const skip = (reason: string) => skipped.push({ step: index, type: typeOf(given), reason })
    if (steps.length === MAX_STEPS) {
      skip(`a test can have at most ${MAX_STEPS} steps`)
      continue
    }
    const { step, without } = withoutForeignSelectors(given)
    const fault = faultOf(step)
    if (fault !== null) skip(fault)
    else {
      steps.push(step as RecordedStep)
      if (without > 0) skip(`${without === 1 ? '1 selector' : `${without} selectors`} in Puppeteer’s syntax (::-p-…)`)
    }
  }
  if (steps.length === 0) {
    throw new AppError('invalid', `${path}.steps[0]: ${skipped[0]?.reason ?? 'can’t be executed'}`)
  }
  const title = typeof value.title === 'string' ? value.title : ''
  return { recording: parseRecording({ ...value, title, steps }, path), skipped: skipped.slice(0, MAX_REPORTED) }
}

const typeOf = (step: unknown) =>
  isJsonObject(step) && typeof step.type === 'string' ? step.type.slice(0, MAX_TYPE) : ''

/** Returns why a step can't be executed: `selectors: is missing`; null when it can be. */
function faultOf(step: unknown): string | null {
  if (!isJsonObject(step)) return 'must be an object'
  if (typeof step.type !== 'string') return 'type: is missing'
  if (!isStepType(step.type) && step.type !== 'customStep') return 'type: this kind of step is not supported'
  try {
    parseStep(step as RecordedStep, '')
    return null
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.message.replace(/^\.?:? ?/, '')
  }
}

/** Removes selectors that are not in the Recorder's syntax when there are others. */
function withoutForeignSelectors(step: unknown): { step: unknown; without: number } {
  if (!isJsonObject(step) || !Array.isArray(step.selectors)) return { step, without: 0 }
  const own = step.selectors.filter((selector) => ![selector].flat().some((part) => String(part).includes('::-p-')))
  const without = step.selectors.length - own.length
  return own.length === 0 || without === 0 ? { step, without: 0 } : { step: { ...step, selectors: own }, without }
}
