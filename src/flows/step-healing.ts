import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import type { OrgRowKey } from '../store/org-rows.ts'
import type { FlowTest, Healing } from './flow-test.ts'
import type { KnownElement } from './known-element.ts'
import { withFirstSelector } from './recorder-export.ts'
import type { StepResult } from './run-result.ts'
import { findFlowTest, type Learned, makeVersion, type StoredFlowTest, saveLearned, storedFlowTest } from './store.ts'

/** Maximum number of rejected selectors stored per step. When it is exceeded, the oldest are deleted. */
const MAX_REFUSED = 20

/** Results of a run that affect the stored steps of its test. */
export interface Met {
  runId: string
  at: Instant
  passed: boolean
  steps: readonly StepResult[]
  /** The element found by each step, by step index. */
  elements: Readonly<Record<number, KnownElement>>
}

/**
 * Returns the data to store after a run. Healed steps await approval until their first selector works again. When a run
 * passes, the elements of the steps that were not healed become the known elements.
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
 * Approves or rejects a healed step. Approval creates a version that tries the healed selector first, and the healed
 * element becomes the known one. After rejection, the step fails when its element can be found only by this selector.
 * Throws `notFound`, or `conflict` when nothing awaits approval.
 */
export function decideHealing(
  db: Db,
  key: OrgRowKey,
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
