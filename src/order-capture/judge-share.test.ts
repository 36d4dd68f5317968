import { describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { randomOf } from '../detector/series.fixture.ts'
import { exceedsLimit, INITIAL_SHARE, judgeShare } from './judge-share.ts'
import { type Shop, STEP_MS, slicesOf, storedAt } from './shop.fixture.ts'
import type { Slice } from './usual-share.ts'

const QUIET: Omit<Shop, 'perDay' | 'loss' | 'random'> = { rhythm: 0, weekend: 0, hourNoise: 0, dayNoise: 0 }
const START = 21 * DAY_MS + 10 * HOUR_MS

/** Judges a shop every `everyMs` from one day before a loss. */
function watch(slices: readonly Slice[], until: Instant, everyMs: number) {
  let state = INITIAL_SHARE
  const opened: { at: Instant; since: Instant }[] = []
  const closed: Instant[] = []
  for (let now = START - DAY_MS; now <= until; now += everyMs) {
    const next = judgeShare(storedAt(slices, now), state).state
    if (state.since === null && next.since !== null) opened.push({ at: now, since: next.since })
    if (state.since !== null && next.since === null) closed.push(now)
    state = next
  }
  return { opened, closed, state }
}

describe('the share of missing orders', () => {
  test.each([
    [120_000, 0],
    [12_000, 0],
    [12_000, 0.12],
    [6000, 0.02],
  ])(
    'of a shop with %p orders a day and a usual loss of %p rises by 10 %%, found within an hour, and ends',
    (perDay, loss) => {
      const shop = { ...QUIET, perDay, loss, random: randomOf(perDay) }
      const end = START + DAY_MS
      const slices = slicesOf(shop, 0, START + 3 * DAY_MS, (at) => (at >= START && at < end ? 0.1 : 0))
      const { opened, closed } = watch(slices, START + 3 * DAY_MS, STEP_MS)
      expect(opened).toHaveLength(1)
      expect((opened[0]?.at ?? 0) - START).toBeLessThanOrEqual(HOUR_MS)
      expect(Math.abs((opened[0]?.since ?? 0) - START)).toBeLessThanOrEqual(HOUR_MS / 2)
      expect(closed).toHaveLength(1)
      expect((closed[0] ?? 0) - end).toBeLessThanOrEqual(3 * HOUR_MS)
    },
  )

  test('is found in a small shop, too', () => {
    const shop = { ...QUIET, perDay: 20, loss: 0.01, random: randomOf(3) }
    const slices = slicesOf(shop, 0, START + 14 * DAY_MS, (at) => (at >= START ? 0.3 : 0))
    const { opened } = watch(slices, START + 14 * DAY_MS, 2 * HOUR_MS)
    expect(opened).toHaveLength(1)
  })

  test('is not judged before a week has been learned', () => {
    const shop = { ...QUIET, perDay: 5000, loss: 0, random: randomOf(5) }
    const slices = slicesOf(shop, 0, 6 * DAY_MS, (at) => (at >= 5 * DAY_MS ? 0.5 : 0))
    expect(judgeShare(slices, INITIAL_SHARE)).toEqual({ state: INITIAL_SHARE, usual: null })
  })

  test('becomes usual after 28 days of a loss', () => {
    const shop = { ...QUIET, perDay: 1000, loss: 0.02, random: randomOf(6) }
    const slices = slicesOf(shop, 0, START + 60 * DAY_MS, (at) => (at >= START ? 0.2 : 0))
    const { opened, closed, state } = watch(slices, START + 60 * DAY_MS, 6 * HOUR_MS)
    expect(opened).toHaveLength(1)
    expect(closed).toHaveLength(1)
    expect(Math.round(((closed[0] ?? 0) - START) / DAY_MS)).toBe(28)
    const { usual } = judgeShare(storedAt(slices, START + 60 * DAY_MS), state)
    expect(usual?.share).toBeCloseTo(0.216, 1)
  })

  test('does not learn an incident in the history', () => {
    const shop = { ...QUIET, perDay: 5000, loss: 0.02, random: randomOf(8) }
    const isIncident = (at: Instant) => at >= 9 * DAY_MS && at < 11 * DAY_MS
    const slices = slicesOf(shop, 0, START, (at) => (isIncident(at) ? 0.4 : 0))
    expect(judgeShare(storedAt(slices, START), INITIAL_SHARE).usual?.share).toBeCloseTo(0.02, 2)
  })
})

describe('a fixed maximum', () => {
  const shop = { ...QUIET, perDay: 2400, random: randomOf(9) }

  test.each([
    [0.02, null],
    [0.04, null],
    [0.12, 'exceeded'],
    [1, 'exceeded'],
  ])('of 5 %% for a share of %p is %p', (loss, result) => {
    const since = exceedsLimit(slicesOf({ ...shop, loss }, 0, 3 * DAY_MS), 0.05)
    expect(since === null).toBe(result === null)
    if (since !== null) expect(since).toBeGreaterThanOrEqual(2 * DAY_MS)
  })

  test('is kept again soon after the share has fallen', () => {
    const slices = slicesOf({ ...shop, loss: 0 }, 0, 3 * DAY_MS, (at) => (at < 2.5 * DAY_MS ? 0.3 : 0))
    expect(exceedsLimit(slices, 0.05)).toBeNull()
  })
})
