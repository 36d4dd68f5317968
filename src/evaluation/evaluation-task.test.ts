import { describe, expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { volumeInput } from '../alerts/alert.fixture.ts'
import { activeAlerts, createAlert } from '../alerts/alert-store.ts'
import { HOUR_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import { findingOf, NOON } from '../issues/issue.fixture.ts'
import { type EvaluationResult, evaluateGroup, tasksOf } from './evaluation-task.ts'

const clear: EvaluationResult = { findings: [], isInconclusive: false }

/**
 * Creates two alerts with the same windows. Each has an open issue that is resolved by the next window without a
 * violation.
 */
async function setUp() {
  const db = memoryDb()
  const clock = testClock(NOON - 2 * HOUR_MS)
  const { orgId } = cast(db, clock)
  const domainId = createDomain(db, clock, orgId, { name: 'Shop' })
  for (const name of ['One', 'Two']) createAlert(db, clock, orgId, { ...volumeInput, name })
  const evaluate = (results: EvaluationResult[]) => {
    clock.advance(HOUR_MS)
    const group = activeAlerts(db).flatMap((active) => tasksOf(active, clock.now(), false))
    return evaluateGroup({ db, clock, enqueue() {}, gapsOf: () => [] }, group, () => Promise.resolve(results))
  }
  const fired = { findings: [findingOf({ domainId })], isInconclusive: false }
  for (const result of [fired, clear]) expect(await evaluate([result, result])).toEqual([])
  return {
    evaluate,
    states: () => db.prepare('SELECT status FROM issue').pluck().all(),
    through: () => activeAlerts(db).map(({ cursor }) => cursor.evaluatedThrough),
  }
}

describe('an evaluation', () => {
  test('without findings resolves open issues', async () => {
    const { evaluate, states, through } = await setUp()
    expect(await evaluate([clear, clear])).toEqual([])
    expect(states()).toEqual(['resolved', 'resolved'])
    expect(through()).toEqual([NOON + HOUR_MS, NOON + HOUR_MS])
  })

  test.each([1, 3])(
    "of two alerts with %i results commits neither, because results can't be matched to alerts",
    async (count) => {
      const { evaluate, states, through } = await setUp()
      const failures = await evaluate(Array.from({ length: count }, () => clear))
      expect(failures.map(({ alert, error }) => `${alert.name}: ${error}`).sort()).toEqual([
        `One: Error: expected 2 evaluation results, got ${count}`,
        `Two: Error: expected 2 evaluation results, got ${count}`,
      ])
      expect(states()).toEqual(['open', 'open'])
      expect(through()).toEqual([NOON, NOON])
    },
  )
})
