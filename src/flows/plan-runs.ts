import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import type { FlowTest } from './flow-test.ts'
import type { Trigger } from './run-schema.ts'
import { hasRun, queueRun } from './run-store.ts'
import { changedFlowTests, dueFlowTests, forgetChange, planNext } from './store.ts'

export interface PlanParts {
  db: Db
  clock: Clock
  region: string
  /** Returns why no browser can run; null: one can. */
  fault(): string | null
}

/**
 * Queues the runs that are due by their schedules, and those of tests whose domain changed. What was missed is made up for
 * once. A schedule's run is left out while one of the same test waits or runs; a change's while one waits.
 */
export function planRuns({ db, clock, region, fault }: PlanParts): void {
  const now = clock.now()
  const canRun = fault() === null
  const queue = (test: FlowTest, trigger: Trigger) => {
    if (!canRun) return
    try {
      queueRun(db, now, test, { trigger, region })
    } catch (error) {
      // Too many wait: the next time is another chance.
      if (!(error instanceof AppError)) throw error
    }
  }
  tx(db, () => {
    for (const test of dueFlowTests(db, now)) {
      if (!hasRun(db, test.id, ['queued', 'running'])) queue(test, 'schedule')
      planNext(db, test, now)
    }
    for (const { test, endsAt } of changedFlowTests(db, now)) {
      // What nobody watches any more is no reason.
      if (endsAt > now && !hasRun(db, test.id, ['queued'])) queue(test, 'change')
      forgetChange(db, test.id)
    }
  })
}
