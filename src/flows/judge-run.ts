import type { Condition } from '../conditions/condition.ts'
import { joinWords } from '../conditions/condition-text.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { capitalized } from '../core/text.ts'
import { duplicatesIn } from './duplicate-events.ts'
import type { Expectation } from './expectation.ts'
import {
  conditionRequirement,
  deviationOf,
  eventName,
  expectedName,
  shortfallText,
  stepName,
  timesText,
} from './finding-text.ts'
import { type CompiledExpectation, compileExpectations, type LabelMembers, spanOf } from './match-expectations.ts'
import type { RunEvent, RunFinding, StepResult } from './run-result.ts'

/** A finished attempt with its expectations. */
export interface FinishedWalk {
  steps: readonly StepResult[]
  events: readonly RunEvent[]
  /** Reason why the attempt ended early; null when all steps were executed. */
  error: string | null
  expectations: readonly Expectation[]
  labels: LabelMembers
  /** Privacy settings of the organization. Findings never contain the personal data that these settings define. */
  privacy: Privacy
}

/**
 * Returns the findings of a run: first the reason for an early end, then unmet expectations in order, then duplicates.
 * Only events of completed steps are expected, so steps that were not reached have no missing events. Expectations for
 * the whole run apply only when all steps were completed.
 */
export function judgeRun(run: FinishedWalk): RunFinding[] {
  const compiled = compileExpectations(run.expectations, run.labels)
  return [
    ...failuresIn(run),
    ...compiled.flatMap((one) => [...tooFew(one, compiled, run), ...tooMany(one, run)]),
    ...repeatedIn(run),
  ]
}

function failuresIn({ steps, error, privacy }: FinishedWalk): RunFinding[] {
  const failed = steps.filter(({ status }) => status === 'failed')
  const base = { kind: 'step_failed', vendor: null, event: null, expected: null } as const
  if (failed.length === 0) {
    return error === null ? [] : [{ ...base, step: null, sentence: `The run ended early: ${error}`, observed: error }]
  }
  return failed.map(({ index, error: why }) => {
    const observed = maskPersonal(why ?? error ?? 'unknown reason', '', privacy)
    return {
      ...base,
      step: index,
      sentence: `${capitalized(stepName(index, steps, privacy))}, failed: ${observed}`,
      observed,
    }
  })
}

const isDone = ({ status }: StepResult) => status === 'passed' || status === 'healed'

/** Returns whether the attempt got far enough for events of this step, or of the whole run, to be expected. */
function isWalked(step: number | undefined, { steps, error }: FinishedWalk): boolean {
  if (step === undefined) return error === null && steps.every(isDone)
  return steps.some((one) => one.index === step && isDone(one))
}

/** Returns a `missing` or `wrong_data` finding for an expectation that matches too few events. */
function tooFew(one: CompiledExpectation, all: readonly CompiledExpectation[], run: FinishedWalk): RunFinding[] {
  const { expectation, matches } = one
  const { min, step } = expectation
  const inSpan = spanOf(expectation, run.events)
  const count = inSpan.filter(matches).length
  if (count >= min) return []
  const wrong = closest(one, all, inSpan)
  if (wrong) return [wrongData(wrong, run)]
  if (!isWalked(step, run)) return []
  const name = expectedName(expectation)
  return [
    {
      kind: 'missing',
      step: step ?? null,
      vendor: expectation.vendor ?? null,
      event: expectation.event ?? null,
      sentence: `${shortfallText(expectation, count, placeOf(step, run))}${insteadOf(one, run)}`,
      expected: min === 1 ? name : `${name}, ${timesText(min)}`,
      observed: count === 0 ? null : timesText(count),
    },
  ]
}

const placeOf = (step: number | undefined, { steps, privacy }: FinishedWalk) =>
  step === undefined ? 'in the run' : `in ${stepName(step, steps, privacy)}`

/** Describes the step in which the event fired instead, or the other account that received it. */
function insteadOf({ expectation, matches }: CompiledExpectation, run: FinishedWalk): string {
  const { step, account, vendor, event } = expectation
  const elsewhere = step === undefined ? undefined : run.events.find((seen) => seen.step !== step && matches(seen))
  if (elsewhere)
    return `; ${event === undefined ? 'one' : 'it'} fired in ${stepName(elsewhere.step, run.steps, run.privacy)}`
  if (account === undefined || event === undefined) return ''
  const other = spanOf(expectation, run.events).find(
    (seen) => seen.event === event && seen.account !== account && (vendor === undefined || seen.vendor === vendor),
  )
  if (!other) return ''
  return other.account
    ? `; it fired for the account ${maskPersonal(other.account, '$account', run.privacy)}`
    : '; it fired without an account'
}

interface Wrong {
  seen: RunEvent
  /** Conditions that the event does not meet. */
  faults: Condition[]
}

/**
 * Returns the event that was probably meant; null when there is none. The event has the right name and the fewest
 * faults, and is not claimed by another expectation with the same parameters. Of equal candidates, the latest is
 * returned.
 */
function closest(
  { expectation, isNamed, faultsIn }: CompiledExpectation,
  all: readonly CompiledExpectation[],
  inSpan: readonly RunEvent[],
): Wrong | null {
  const { data = [], event, label } = expectation
  if (data.length === 0 || (event === undefined && label === undefined)) return null
  const isOthers = ({ seen, faults }: Wrong) => {
    const parameters = new Set(faults.map(({ parameter }) => parameter))
    return all.some(
      (other) =>
        other.expectation.max !== 0 &&
        other.expectation.data?.some(({ parameter }) => parameters.has(parameter)) &&
        spanOf(other.expectation, [seen]).length > 0 &&
        other.matches(seen),
    )
  }
  const candidates = inSpan
    .filter(isNamed)
    .map((seen) => ({ seen, faults: faultsIn(seen) }))
    .filter((one) => one.faults.length > 0 && !isOthers(one))
  return candidates.toSorted((a, b) => a.faults.length - b.faults.length || b.seen.at - a.seen.at)[0] ?? null
}

const subjectOf = ({ vendor, event }: RunEvent, { privacy }: FinishedWalk) => ({
  vendor: maskPersonal(vendor, '$vendor', privacy),
  event: maskPersonal(event, '$event', privacy),
})

function wrongData({ seen, faults }: Wrong, run: FinishedWalk): RunFinding {
  const observed = joinWords(faults.map((condition) => deviationOf(condition, seen, run.privacy)))
  return {
    kind: 'wrong_data',
    step: seen.step,
    ...subjectOf(seen, run),
    sentence: `${eventName(seen, run.privacy)} had ${observed} ${placeOf(seen.step, run)}`,
    expected: joinWords(faults.map(conditionRequirement)),
    observed,
  }
}

/** Returns an `unexpected` finding when there are more events than allowed. */
function tooMany({ expectation, matches }: CompiledExpectation, run: FinishedWalk): RunFinding[] {
  const { max, step } = expectation
  const fired = spanOf(expectation, run.events).filter(matches)
  const [first] = fired
  if (max === null || !first || fired.length <= max) return []
  const seen = max === 0 ? first : (fired[max] ?? first)
  const where = placeOf(step ?? (max === 0 ? seen.step : undefined), run)
  const fault = max === 0 ? ', where it should not' : `; expected at most ${timesText(max)}`
  return [
    {
      kind: 'unexpected',
      step: seen.step,
      ...subjectOf(seen, run),
      sentence: `${eventName(seen, run.privacy)} fired ${timesText(fired.length)} ${where}${fault}`,
      expected: max === 0 ? 'none' : `at most ${timesText(max)}`,
      observed: timesText(fired.length),
    },
  ]
}

/**
 * Returns `duplicate` findings for events repeated within a step. When several variants of an event's data are
 * repeated, only the most frequent variant is reported.
 */
function repeatedIn(run: FinishedWalk): RunFinding[] {
  const most = new Map<string, [RunEvent, ...RunEvent[]]>()
  for (const events of [...Map.groupBy(run.events, ({ step }) => step).values()].flatMap(duplicatesIn)) {
    const [{ step, vendor, event, account }] = events
    const key = JSON.stringify([step, vendor, event, account])
    if (events.length > (most.get(key)?.length ?? 0)) most.set(key, events)
  }
  return [...most.values()].map((events): RunFinding => {
    const [seen] = events
    const count = timesText(events.length)
    return {
      kind: 'duplicate',
      step: seen.step,
      ...subjectOf(seen, run),
      sentence: `${eventName(seen, run.privacy)} was sent ${count} with the same data ${placeOf(seen.step, run)}`,
      expected: 'once',
      observed: count,
    }
  })
}
