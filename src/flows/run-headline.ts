import { capitalized, countText } from '../core/text.ts'
import type { RunFinding, StepResult } from './run-result.ts'

/** The fields of a finished run that its headline describes. */
export interface HeadlinedRun {
  steps: readonly StepResult[]
  findings: readonly RunFinding[]
  /** Reason why the run ended early; null when all steps were executed. */
  error: string | null
}

const MAX_FAULTS = 2

/**
 * Describes a run in one line without a full stop: its first two faults, the number of further faults, and the healed
 * steps. Example: `Purchase without its transaction id; one button found by its text`.
 */
export function headlineOf({ steps, findings, error }: HeadlinedRun): string {
  const faults = [...new Set(findings.map((finding) => faultOf(finding, steps)))]
  const more = faults.length - MAX_FAULTS
  const told = [
    ...faults.slice(0, MAX_FAULTS),
    ...(more > 0 ? [`${countText(more)} more ${more === 1 ? 'fault' : 'faults'}`] : []),
  ]
  const outcome = told.length > 0 ? told : [error ?? passed(steps)]
  return capitalized([...outcome, ...healings(steps)].join('; '))
}

function passed({ length }: readonly StepResult[]): string {
  if (length === 1) return 'the only step passed'
  return length === 2 ? 'both steps passed' : `all ${length} steps passed`
}

/** Describes a finding in a few words. Starts in lower case. */
function faultOf(
  { kind, step, vendor, event, sentence, expected, observed }: RunFinding,
  steps: readonly StepResult[],
): string {
  const name = event ? inWords(event) : vendor ? `${vendor} event` : 'expected event'
  switch (kind) {
    case 'missing':
      if (observed !== null) return `${name} fired only ${observed}`
      return event ? `${name} did not fire` : `no ${name} fired`
    case 'wrong_data':
      return `${name} ${dataFault(expected ?? '', observed ?? '')}`
    case 'unexpected':
      return `${name} fired ${expected === 'none' ? 'where it should not' : (observed ?? 'too often')}`
    case 'duplicate':
      return `${name} sent ${observed === '2 times' ? 'twice' : (observed ?? 'twice')}`
    case 'rule':
      return `${name} triggers ${/ the alert (“.*”) in step /.exec(sentence)?.[1] ?? 'an alert'}`
    case 'step_failed': {
      if (step === null) return sentence
      const title = steps.find(({ index }) => index === step)?.title
      return `step ${step + 1} failed${title ? ` (${title})` : ''}`
    }
  }
}

/** Describes wrong data: `without its transaction id`, `with a wrong currency`. */
function dataFault(expected: string, observed: string): string {
  const keys = [...expected.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key)
  const [key, ...others] = keys
  if (key === undefined) return 'with wrong data'
  const more = others.length === 0 ? '' : ` and ${countText(others.length)} more`
  const isGone = observed.includes(`no \`${key}\``)
  return isGone ? `without its ${inWords(key)}${more}` : `with a wrong ${inWords(key)}${more}`
}

/** Names for keys that are not words. */
const KEYS: Readonly<Record<string, string>> = { cu: 'currency', dl: 'page address', dt: 'page title' }

/**
 * Converts a name to words: `ep.transaction_id`, `cd[transactionId]` → `transaction id`; `AddToCart` → `add to cart`.
 */
function inWords(name: string): string {
  const last =
    name
      .split(/[.[\]]+/)
      .filter(Boolean)
      .at(-1) ?? name
  if (Object.hasOwn(KEYS, last)) return KEYS[last] ?? last
  const words = last
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_$-]+/g, ' ')
    .trim()
  return (words || name).toLowerCase()
}

/** Describes healed steps: `one button found by its text`, `2 fields found by their names`. */
function healings(steps: readonly StepResult[]): string[] {
  const healed = steps.flatMap(({ type, healed }) =>
    healed ? [{ what: nounOf(type, healed), by: wayOf(healed.after) }] : [],
  )
  return [...Map.groupBy(healed, ({ what, by }) => `${what} ${by}`).values()].map((same) => {
    const [{ what, by } = { what: 'element', by: 'another way' }] = same
    if (same.length === 1)
      return by === 'another way' ? `one ${what} found another way` : `one ${what} found by its ${by}`
    const number = `${countText(same.length)} ${what}s found`
    return by === 'another way' ? `${number} another way` : `${number} by their ${by}s`
  })
}

function nounOf(type: string, { before, after }: { before: string; after: string }): string {
  const said = `${before} ${after}`.toLowerCase()
  if (type === 'change') return 'field'
  if (/\b(?:button|submit)\b/.test(said)) return 'button'
  return /\blink\b/.test(said) ? 'link' : 'element'
}

function wayOf(after: string): 'text' | 'name' | 'another way' {
  if (after.startsWith('text/')) return 'text'
  return after.startsWith('aria/') ? 'name' : 'another way'
}
