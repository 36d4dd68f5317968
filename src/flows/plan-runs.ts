import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import type { FlowTest } from './flow-test.ts'
import type { Trigger } from './run-schema.ts'
import { hasRun, queueRun } from './run-store.ts'
import { changedFlowTests, dueFlowTests, forgetChange, planNext } from './store.ts'

export interface PlanDeps {
  db: Db
  clock: Clock
  region: string
  /** Returns why no browser can run; null when one can. */
  fault(): string | null
}

/**
 * Queues the scheduled runs that are due, and runs of tests whose domain has changed. When several scheduled times were
 * missed, only one run is queued. A scheduled run is skipped while a run of the same test is queued or running. A run
 * for a change is skipped while a run of the same test is queued.
 */
export function planRuns({ db, clock, region, fault }: PlanDeps): void {
  const now = clock.now()
  const canRun = fault() === null
  const queue = (test: FlowTest, trigger: Trigger) => {
    if (!canRun) return
    try {
      queueRun(db, now, test, { trigger, region })
    } catch (error) {
      // Too many runs are waiting, so this run is skipped.
      if (!(error instanceof AppError)) throw error
    }
  }
  tx(db, () => {
    for (const test of dueFlowTests(db, now)) {
      if (!hasRun(db, test.id, ['queued', 'running'])) queue(test, 'schedule')
      planNext(db, test, now)
    }
    for (const { test, endsAt } of changedFlowTests(db, now)) {
      // A change whose watch window has ended does not cause a run.
      if (endsAt > now && !hasRun(db, test.id, ['queued'])) queue(test, 'change')
      forgetChange(db, test.id)
    }
  })
}
