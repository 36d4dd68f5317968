import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import type { FlowTest, FlowTestKey, Healing } from './flow-test.ts'
import type { KnownElement } from './known-element.ts'
import { withFirstSelector } from './recording.ts'
import type { StepResult } from './run.ts'
import { findFlowTest, type Learned, makeVersion, type StoredFlowTest, saveLearned, storedFlowTest } from './store.ts'

/** Maximum number of refused selectors stored per step; the oldest are dropped. */
const MAX_REFUSED = 20

/** Findings of a walk about the steps of a test. */
export interface Met {
  runId: string
  at: Instant
  passed: boolean
  steps: readonly StepResult[]
  /** The element found by each step, by index of the step. */
  elements: Readonly<Record<number, KnownElement>>
}

/**
 * Returns what is learned from a run. Healed steps await approval until the first selector works again. When a run
 * passes, elements of steps that were not healed become the known elements.
 */
export function learnedFrom(
  { test, elements }: StoredFlowTest,
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
 * Approves or refuses a healed step. Approved: a new version uses the healed selector first, and its element becomes
 * the known one. Refused: finding the element this way fails the step from then on. Throws `notFound`, or `conflict`
 * when nothing awaits approval.
 */
export function decideHealing(
  db: Db,
  key: FlowTestKey,
  { step, approve, now }: { step: number; approve: boolean; now: Instant },
  elementOf: (runId: string, step: number) => KnownElement | null,
): FlowTest {
  return tx(db, () => {
    const kept = storedFlowTest(db, key)
    const { test, refused, elements } = kept
    const waiting = test.healing.find((one) => one.step === step)
    if (!waiting) throw new AppError('conflict', `step: step ${step} has no healing that awaits approval`)
    const healing = test.healing.filter((one) => one !== waiting)
    if (approve) {
      const element = elementOf(waiting.runId, step)
      saveLearned(db, kept, { healing, elements: element ? { ...elements, [step]: element } : elements })
      makeVersion(db, test, { ...test, recording: withFirstSelector(test.recording, step, waiting.after) }, now)
    } else {
      const others = (refused[step] ?? []).filter((selector) => selector !== waiting.after)
      saveLearned(db, kept, {
        healing,
        refused: { ...refused, [step]: [...others, waiting.after].slice(-MAX_REFUSED) },
      })
    }
    return findFlowTest(db, key)
  })
}
