import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import type { KnownElement } from './element.ts'
import type { FlowTest, FlowTestKey, Healing } from './flow-test.ts'
import { withFirstSelector } from './recording.ts'
import type { StepResult } from './run.ts'
import { findFlowTest, type KeptFlowTest, keptFlowTest, type Learned, learn, makeVersion } from './store.ts'

/** The most selectors that are remembered as refused for one step; the oldest go. */
const MAX_REFUSED = 20

/** What a walk showed of a test's steps. */
export interface Met {
  runId: string
  at: Instant
  passed: boolean
  steps: readonly StepResult[]
  /** The element that a step met, by index of the step. */
  elements: Readonly<Record<number, KnownElement>>
}

/**
 * Returns what is learned from a run: healed steps wait for a person, until the step is done by its first selector again;
 * of a run that passed, the elements of steps that needed no healing are those to look for from then on.
 */
export function learnedFrom(
  { test, elements }: KeptFlowTest,
  met: Met,
): Required<Pick<Learned, 'healing' | 'elements'>> {
  const statusOf = new Map(met.steps.map(({ index, status }) => [index, status]))
  const waiting = test.healing.filter(({ step }) => !['passed', 'healed'].includes(statusOf.get(step) ?? ''))
  const healed = met.steps.flatMap(({ index, healed }): Healing[] =>
    healed ? [{ step: index, ...healed, runId: met.runId, at: met.at }] : [],
  )
  const known = Object.entries(met.elements).filter(([step]) => statusOf.get(Number(step)) === 'passed')
  return {
    healing: [...waiting, ...healed].sort((a, b) => a.step - b.step),
    elements: met.passed ? { ...elements, ...Object.fromEntries(known) } : elements,
  }
}

/**
 * Approves or refuses how a step was healed. Approved: a version uses it first, and its element is the one to look for.
 * Refused: a step that would be done so fails from then on. Fails with `notFound`, or with `conflict` when nothing
 * waits.
 */
export function decideHealing(
  db: Db,
  key: FlowTestKey,
  { step, approve, now }: { step: number; approve: boolean; now: Instant },
  elementOf: (runId: string, step: number) => KnownElement | null,
): FlowTest {
  return tx(db, () => {
    const kept = keptFlowTest(db, key)
    const { test, refused, elements } = kept
    const waiting = test.healing.find((one) => one.step === step)
    if (!waiting) throw new AppError('conflict', `step: nothing of step ${step} waits for approval`)
    const healing = test.healing.filter((one) => one !== waiting)
    if (approve) {
      const element = elementOf(waiting.runId, step)
      learn(db, kept, { healing, elements: element ? { ...elements, [step]: element } : elements })
      makeVersion(db, test, { ...test, recording: withFirstSelector(test.recording, step, waiting.after) }, now)
    } else {
      const others = (refused[step] ?? []).filter((selector) => selector !== waiting.after)
      learn(db, kept, { healing, refused: { ...refused, [step]: [...others, waiting.after].slice(-MAX_REFUSED) } })
    }
    return findFlowTest(db, key)
  })
}
