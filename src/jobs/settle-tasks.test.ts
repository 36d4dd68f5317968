import { describe, expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fakes.ts'
import { volumeInput } from '../alerts/alert.fixture.ts'
import { activeAlerts, createAlert } from '../alerts/store.ts'
import { HOUR_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import { findingOf, NOON } from '../issues/issue.fixture.ts'
import { type Result, settleGroup, tasksOf } from './settle-tasks.ts'

const clear: Result = { findings: [], isBlind: false }

/** Two alerts that share their windows, each with an open issue that one more clear window resolves. */
async function setUp() {
  const db = memoryDb()
  const clock = testClock(NOON - 2 * HOUR_MS)
  const { orgId } = cast(db, clock)
  const domainId = createDomain(db, clock, orgId, { name: 'Shop' })
  for (const name of ['One', 'Two']) createAlert(db, clock, orgId, { ...volumeInput, name })
  const settle = (results: Result[]) => {
    clock.advance(HOUR_MS)
    const group = activeAlerts(db).flatMap((active) => tasksOf(active, clock.now(), false))
    return settleGroup({ db, clock, enqueue() {}, gapsOf: () => [] }, group, () => Promise.resolve(results))
  }
  const fired = { findings: [findingOf({ domainId })], isBlind: false }
  for (const result of [fired, clear]) expect(await settle([result, result])).toEqual([])
  return {
    settle,
    states: () => db.prepare('SELECT status FROM issue').pluck().all(),
    through: () => activeAlerts(db).map(({ cursor }) => cursor.evaluatedThrough),
  }
}

describe('an evaluation', () => {
  test('that finds nothing resolves', async () => {
    const { settle, states, through } = await setUp()
    expect(await settle([clear, clear])).toEqual([])
    expect(states()).toEqual(['resolved', 'resolved'])
    expect(through()).toEqual([NOON + HOUR_MS, NOON + HOUR_MS])
  })

  test.each([1, 3])('of two alerts with %i results settles none: nobody knows whose they are', async (count) => {
    const { settle, states, through } = await setUp()
    const failures = await settle(Array.from({ length: count }, () => clear))
    expect(failures.map(({ alert, error }) => `${alert.name}: ${error}`).sort()).toEqual([
      `One: Error: 2 evaluations have ${count} results`,
      `Two: Error: 2 evaluations have ${count} results`,
    ])
    expect(states()).toEqual(['open', 'open'])
    expect(through()).toEqual([NOON, NOON])
  })
})
