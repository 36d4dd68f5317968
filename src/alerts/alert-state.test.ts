import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { validationInput, volumeInput } from './alert.fixture.ts'
import { alertStates } from './alert-state.ts'
import { createAlert, setEnabled } from './alert-store.ts'

const NONE = { issueStates: {}, isLearning: () => false }

function setUp() {
  const clock = testClock()
  const db = memoryDb()
  const { orgId } = cast(db, clock)
  const onArrival = createAlert(db, clock, orgId, { ...validationInput, enabled: true })
  // 12:00 is the start of a window, so the alert waits for the next one only if it is created later.
  clock.advance(60_000)
  const byWindow = createAlert(db, clock, orgId, { ...volumeInput, period: '1h', timezone: 'UTC', enabled: true })
  const evaluate = (at: number) =>
    db
      .prepare('UPDATE alert SET evaluatedThrough = ?, windowStartAt = ?, dueAt = ? WHERE id = ?')
      .run(at, at, at + HOUR_MS, byWindow.id)
  return { clock, db, orgId, onArrival, byWindow, evaluate, noon: clock.now() - 60_000 }
}

test('an alert that is evaluated by window is learning until its first whole window, and has times', () => {
  const { db, byWindow, evaluate, noon } = setUp()
  expect(alertStates(db, [byWindow], NONE)).toEqual({
    [byWindow.id]: { state: 'learning', lastEvaluatedAt: null, nextEvaluationAt: noon + 2 * HOUR_MS },
  })
  evaluate(noon + 2 * HOUR_MS)
  expect(alertStates(db, [byWindow], NONE)).toEqual({
    [byWindow.id]: {
      state: 'ok',
      lastEvaluatedAt: noon + 2 * HOUR_MS,
      nextEvaluationAt: noon + 3 * HOUR_MS,
    },
  })
})

test('an alert that is evaluated on arrival is never learning, and has no times', () => {
  const { db, onArrival } = setUp()
  expect(alertStates(db, [onArrival], NONE)).toEqual({
    [onArrival.id]: { state: 'ok', lastEvaluatedAt: null, nextEvaluationAt: null },
  })
})

test('unresolved issues determine the state of an alert, unless it is disabled', () => {
  const { clock, db, orgId, onArrival, byWindow } = setUp()
  const issueStates = { [onArrival.id]: 'violated', [byWindow.id]: 'muted' } as const
  const states = alertStates(db, [onArrival, byWindow], { ...NONE, issueStates })
  expect(Object.values(states).map(({ state }) => state)).toEqual(['violated', 'muted'])
  const disabled = setEnabled(db, clock, { orgId, id: byWindow.id }, false)
  expect(alertStates(db, [disabled], { ...NONE, issueStates })).toEqual({
    [byWindow.id]: { state: 'off', lastEvaluatedAt: null, nextEvaluationAt: null },
  })
})

test('an alert whose signals are learning is learning', () => {
  const { db, byWindow, evaluate, noon } = setUp()
  evaluate(noon + 2 * HOUR_MS)
  const states = alertStates(db, [byWindow], { ...NONE, isLearning: (id) => id === byWindow.id })
  expect(states[byWindow.id]?.state).toBe('learning')
})
