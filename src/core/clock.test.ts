import { expect, test } from 'bun:test'
import { CLOCK_STEP_MS, clockStepDetector, DAY_MS, HOUR_MS, type Instant } from './clock.ts'

test('a clock that differs from the elapsed time is reported as adjusted', () => {
  let now: Instant = Date.UTC(2026, 0, 5, 12)
  let passed = 0
  const wasSet = clockStepDetector({ now: () => now }, () => passed)
  const goes = (byMs: number, clockMs = byMs) => {
    passed += byMs
    now += clockMs
    return wasSet()
  }
  expect([goes(1000), goes(HOUR_MS), goes(0)]).toEqual([false, false, false])
  expect([goes(1000, -DAY_MS), goes(1000), goes(1000, DAY_MS), goes(1000)]).toEqual([true, false, true, false])
  // A clock that is adjusted gradually is not reported, regardless of the total adjustment.
  for (let round = 0; round < 100; round++) expect(goes(HOUR_MS, HOUR_MS + CLOCK_STEP_MS)).toBe(false)
  expect(goes(1000, 1001 + CLOCK_STEP_MS)).toBe(true)
})
