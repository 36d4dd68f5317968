import { AppError } from '../core/error.ts'
import { parser, type Static, Text, Type } from '../core/schema.ts'
import { isStepType, STEP_SCHEMAS, STEP_TYPES, type StepType } from './recording-steps.ts'

/** Maximum number of steps in a recording. */
export const MAX_STEPS = 200
const MAX_BYTES = 1 << 20

/** The JSON that the Recorder of Chrome DevTools exports. `parseRecording` checks each step according to its kind. */
export const RecordingSchema = Type.Object(
  {
    title: Text(0, 1000),
    timeout: Type.Optional(
      Type.Number({ minimum: 1, maximum: 600_000, description: 'Default timeout of steps, in milliseconds' }),
    ),
    selectorAttribute: Type.Optional(Text(0, 200)),
    steps: Type.Array(Type.Object({ type: Text(1, 100) }), {
      minItems: 1,
      maxItems: MAX_STEPS,
      description: `Steps of these kinds: ${STEP_TYPES.join(', ')}`,
    }),
  },
  { description: 'JSON exported by the Recorder of Chrome DevTools, unchanged' },
)

/** A step in a recording. Its other fields depend on its kind. Unknown fields are kept and ignored. */
export interface RecordedStep {
  type: string
  [field: string]: unknown
}

/** A step that `parseRecording` has checked. */
export type CheckedStep<T extends StepType = StepType> = {
  [type in T]: { type: type } & Static<(typeof STEP_SCHEMAS)[type]>
}[T]

export interface Recording {
  title: string
  /** Timeout in milliseconds for steps without their own. */
  timeout?: number
  steps: readonly RecordedStep[]
}

/** A selector as a string, or a path through shadow trees whose last part selects the element. */
export type Selector = string | readonly string[]

const checkRecording = parser(RecordingSchema)
const checkStep = Object.fromEntries(STEP_TYPES.map((type) => [type, parser(STEP_SCHEMAS[type])])) as Record<
  StepType,
  (value: unknown, root?: string) => unknown
>

/**
 * Returns the recording if it can be executed.
 * @param path path of the field, for error messages: `recording`
 * @throws {AppError} `invalid`, naming the field, such as `recording.steps[2].url`
 */
export function parseRecording(value: unknown, path: string): Recording {
  const recording = checkRecording(value, path)
  if (Buffer.byteLength(JSON.stringify(recording)) > MAX_BYTES) {
    throw new AppError('invalid', `${path}: must be at most 1 MiB`)
  }
  for (const [index, step] of recording.steps.entries()) parseStep(step, `${path}.steps[${index}]`)
  return recording as Recording
}

/**
 * Checks one step.
 * @param path path of the step, for error messages: `recording.steps[2]`
 * @throws {AppError} `invalid`, naming the field
 */
export function parseStep(step: RecordedStep, path: string): void {
  if (step.type === 'customStep') {
    throw new AppError(
      'invalid',
      `${path}.type: customStep belongs to an extension of the Recorder and is not supported`,
    )
  }
  if (!isStepType(step.type)) {
    throw new AppError('invalid', `${path}.type: must be one of ${STEP_TYPES.join(', ')}`)
  }
  checkStep[step.type](step, path)
  if (step.type === 'navigate') requireWebAddress(String(step.url), `${path}.url`)
  if (typeof step.target === 'string' && !['main', 'about:blank'].includes(step.target)) {
    requireWebAddress(step.target, `${path}.target`)
  }
  for (const [index, selector] of ((step.selectors ?? []) as Selector[]).entries()) {
    // Chrome writes `aria/…`. Puppeteer's own syntax is rejected, because selectors in that syntax would match every
    // element when misinterpreted.
    if ([selector].flat().some((part) => part.includes('::-p-'))) {
      throw new AppError('invalid', `${path}.selectors[${index}]: use aria/…, text/… or xpath/… instead of ::-p-…`)
    }
  }
}

/**
 * Throws `invalid` for a URL that is not a web address. The URL or its beginning may be a variable. The variable's
 * value is checked when the step is executed.
 */
function requireWebAddress(address: string, path: string): void {
  if (address.startsWith('{{')) return
  if (!isWebAddress(address.replaceAll(PLACEHOLDER, 'x'))) {
    throw new AppError('invalid', `${path}: must be a URL that begins with http:// or https://`)
  }
}

export const isWebAddress = (address: string): boolean => /^https?:\/\//i.test(address) && URL.canParse(address)

const PLACEHOLDER = /\{\{\s*([\w.-]{1,100})\s*\}\}/g

/** Returns the distinct names used as `{{name}}` in the strings of a value, in order of first use. */
export function placeholdersIn(value: unknown): string[] {
  const names = JSON.stringify(value)?.matchAll(PLACEHOLDER) ?? []
  return [...new Set([...names].map(([, name = '']) => name))]
}

/**
 * Returns the value with `{{name}}` replaced in all of its strings, at any depth. Names without a value are not
 * replaced.
 */
export function withValues<T>(value: T, values: Readonly<Record<string, string>>): T {
  if (typeof value === 'string') {
    return value.replaceAll(PLACEHOLDER, (whole, name) =>
      Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
    ) as T
  }
  if (Array.isArray(value)) return value.map((item) => withValues(item, values)) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withValues(item, values)])) as T
}

/**
 * Returns the recording with the URL in its first `navigate` step replaced.
 * @param startUrl the new URL; null to keep the recording's own URL
 * @throws {AppError} `invalid`, naming `startUrl`, when it is not a web address or there is no `navigate` step
 */
export function withStartUrl(recording: Recording, startUrl: string | null): Recording {
  if (startUrl === null) return recording
  requireWebAddress(startUrl, 'startUrl')
  const first = recording.steps.findIndex(({ type }) => type === 'navigate')
  if (first < 0)
    throw new AppError('invalid', 'startUrl: the recording has no navigate step whose URL could be replaced')
  const steps = recording.steps.map((step, index) => (index === first ? { ...step, url: startUrl } : step))
  return { ...recording, steps }
}

/** Returns a selector as one string, with ` >>> ` between the parts of a path through shadow trees. */
export const selectorText = (selector: Selector): string => [selector].flat().join(' >>> ')

/** Parses a string returned by `selectorText`. */
export function selectorOf(text: string): Selector {
  const parts = text.split(' >>> ')
  return parts.length > 1 ? parts : text
}

/**
 * Returns the recording with a selector added before the existing selectors of a step. Used to apply an approved
 * healing.
 * @param step index of the step; a step without selectors is not changed
 * @param text selector in the form of `StepResult.healed.after`
 */
export function withFirstSelector(recording: Recording, step: number, text: string): Recording {
  const steps = recording.steps.map((one, index) => {
    if (index !== step || !Array.isArray(one.selectors)) return one
    const others = (one.selectors as Selector[]).filter((selector) => selectorText(selector) !== text)
    return { ...one, selectors: [selectorOf(text), ...others] }
  })
  return { ...recording, steps }
}
