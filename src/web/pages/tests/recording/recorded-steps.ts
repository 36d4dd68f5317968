import type { FlowTestInput } from '#client/types.gen'
import type { FormSchema, FormValue } from '../../../components/form-schema.ts'
import { jsonFaultPosition, type TextPosition } from './json-fault.ts'

export type Expectation = NonNullable<FlowTestInput['expectations']>[number]

/** A step of a recording: its `type` and the fields of that kind of step. */
export type RecordedStep = FormValue & { type: string }

/** A step in the editor. The key identifies it while it is edited and moved. */
export interface EditedStep {
  key: number
  step: RecordedStep
}

/** A recording in the editor. `rest` contains its other fields, such as `title`. */
export interface EditedRecording {
  steps: readonly EditedStep[]
  rest: FormValue
}

/** The steps and the expected tags, which refer to steps by index. */
export interface Walk {
  recording: EditedRecording
  expectations: readonly Expectation[]
}

/** A selector as a string, or a path through shadow trees. */
export type Selector = string | readonly string[]

let lastKey = 0
const edited = (step: RecordedStep): EditedStep => ({ key: ++lastKey, step })

export const EMPTY_RECORDING: EditedRecording = { steps: [], rest: { title: '' } }

/** Returns the recording in the form in which it is edited. */
export function editedRecording({ steps, ...rest }: FlowTestInput['recording']): EditedRecording {
  return { steps: (steps as unknown as RecordedStep[]).map(edited), rest }
}

/** Returns the recording as sent to the server. A recording without a title gets the name of the test. */
export function recordingOf({ steps, rest }: EditedRecording, name: string): FlowTestInput['recording'] {
  return { ...rest, title: rest.title || name, steps: steps.map(({ step }) => step) } as FlowTestInput['recording']
}

/** The result of reading the JSON of a recording: the recording, or where the JSON is invalid. */
export type ReadRecording = { recording: EditedRecording } | { recording: null; fault: TextPosition | null }

/**
 * Parses the JSON of a recording. `fault` is the position of a syntax error; null when the JSON is valid but has no list
 * of steps.
 */
export function readRecording(text: string): ReadRecording {
  try {
    const value: unknown = JSON.parse(text)
    const steps = (value as { steps?: unknown } | null)?.steps
    const isList = Array.isArray(steps) && steps.every((step) => typeof step?.type === 'string')
    return isList ? { recording: editedRecording(value as never) } : { recording: null, fault: null }
  } catch {
    return { recording: null, fault: jsonFaultPosition(text) }
  }
}

/** Returns the expectations with the index of their step replaced. Those of steps without a new index are removed. */
function reindexed(expectations: readonly Expectation[], newIndex: (old: number) => number | null): Expectation[] {
  return expectations.flatMap((one) => {
    if (one.step === undefined) return [one]
    const step = newIndex(one.step)
    return step === null ? [] : [{ ...one, step }]
  })
}

const withSteps = ({ rest }: EditedRecording, steps: readonly EditedStep[]): EditedRecording => ({ steps, rest })

/** Inserts a step. */
export function insertStep({ recording, expectations }: Walk, at: number, step: RecordedStep | EditedStep): Walk {
  const one = 'key' in step && 'step' in step ? (step as EditedStep) : edited(step as RecordedStep)
  return {
    recording: withSteps(recording, recording.steps.toSpliced(at, 0, one)),
    expectations: reindexed(expectations, (old) => (old >= at ? old + 1 : old)),
  }
}

/** Inserts a copy of a step after it. The expectations of the step are not copied. */
export function duplicateStep(walk: Walk, at: number): Walk {
  const original = walk.recording.steps[at]
  return original ? insertStep(walk, at + 1, structuredClone(original.step)) : walk
}

/** Moves a step with its expectations. Does nothing at the ends of the list. */
export function moveStep({ recording, expectations }: Walk, from: number, to: number): Walk {
  const one = recording.steps[from]
  if (!one || to < 0 || to >= recording.steps.length) return { recording, expectations }
  const order = recording.steps
    .map((_, index) => index)
    .toSpliced(from, 1)
    .toSpliced(to, 0, from)
  return {
    recording: withSteps(
      recording,
      order.flatMap((index) => recording.steps[index] ?? []),
    ),
    expectations: reindexed(expectations, (old) => (order.includes(old) ? order.indexOf(old) : old)),
  }
}

/** Deletes a step with its expectations. */
export function deleteStep({ recording, expectations }: Walk, at: number): Walk {
  return {
    recording: withSteps(recording, recording.steps.toSpliced(at, 1)),
    expectations: reindexed(expectations, (old) => (old === at ? null : old > at ? old - 1 : old)),
  }
}

/** Puts a deleted step and its expectations back, as far as possible in the same position. */
export function restoreStep(walk: Walk, at: number, step: EditedStep, expectations: readonly Expectation[]): Walk {
  if (walk.recording.steps.some(({ key }) => key === step.key)) return walk
  const index = Math.min(at, walk.recording.steps.length)
  const next = insertStep(walk, index, step)
  return { ...next, expectations: [...next.expectations, ...expectations.map((one) => ({ ...one, step: index }))] }
}

/** Replaces a step. */
export function replaceStep({ recording, expectations }: Walk, at: number, step: RecordedStep): Walk {
  const one = recording.steps[at]
  if (!one) return { recording, expectations }
  return { recording: withSteps(recording, recording.steps.with(at, { ...one, step })), expectations }
}

/** Returns the step as another kind of step, with the fields that both kinds have. */
export function withType(step: RecordedStep, type: string, schema: FormSchema): RecordedStep {
  const common = Object.entries(step).filter(([name]) => Object.hasOwn(schema.properties ?? {}, name))
  return { ...Object.fromEntries(common), type }
}

/** Returns a selector as one string, with ` >>> ` between the parts of a path through shadow trees. */
export const selectorText = (selector: Selector): string => [selector].flat().join(SHADOW)
const SHADOW = ' >>> '

/** Parses a string returned by `selectorText`. */
export function selectorOf(text: string): Selector {
  const parts = text.split(SHADOW)
  return parts.length > 1 ? parts : text
}

/** Returns the selectors of a step, the preferred one first. */
export const selectorsOf = ({ selectors }: RecordedStep): Selector[] => (Array.isArray(selectors) ? selectors : [])

/** Replaces, adds or, with an empty string, removes a selector. */
export function withSelector(step: RecordedStep, index: number, text: string): RecordedStep {
  const before = selectorsOf(step)
  const selectors = text === '' ? before.toSpliced(index, 1) : before.toSpliced(index, 1, selectorOf(text))
  const { selectors: _, ...rest } = step
  return (selectors.length > 0 ? { ...step, selectors } : rest) as RecordedStep
}

/** Returns whether the step waits for a new page. */
export const waitsForPage = ({ assertedEvents }: RecordedStep): boolean =>
  Array.isArray(assertedEvents) && assertedEvents.length > 0

/** Makes the step wait for a new page, or not. */
export function waitingForPage(step: RecordedStep, isWaiting: boolean): RecordedStep {
  const { assertedEvents: _, ...rest } = step
  return (isWaiting ? { ...rest, assertedEvents: [{ type: 'navigation' }] } : rest) as RecordedStep
}
