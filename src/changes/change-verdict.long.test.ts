import { describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { ERROR } from './change-verdict.ts'
import { evaluationTimesOf } from './change-window.ts'
import { HARMFUL, HARMLESS, isNamed, momentOf } from './release-scenarios.fixture.ts'
import { Shop } from './shop.fixture.ts'
import { SOME_DAYS, verdictOn } from './tabulate.fixture.ts'

/**
 * Options of the evaluation at the end of a one-hour window. `bench/detector/changes.ts` runs many more such
 * evaluations, with other seeds.
 */
const AT_END = { lengthMs: HOUR_MS, error: ERROR / 2, days: SOME_DAYS }

/** Returns the false findings for fifty harmless releases of shops with this amount of traffic. */
function accused(scale: number, first: number): string[] {
  return Array.from({ length: 50 }, (_, n) => n).flatMap((n) => {
    const release = HARMLESS[n % HARMLESS.length]
    const seed = first + n
    const at = momentOf(seed, false)
    const effects = verdictOn(new Shop(seed, scale), release?.doing(at) ?? {}, at, AT_END)
    const harm = effects.filter(({ harmful }) => harmful).map(({ detail }) => detail)
    return harm.length > 0 ? [`${release?.name}: ${harm.join(' ')}`] : []
  })
}

describe('verdicts for generated shops with nights, weekends, campaigns and quiet hours', () => {
  test('detect at least 18 of 20 harmful releases, with the correct vendor, event and key', () => {
    const missed = HARMFUL.flatMap((release, n) => {
      const [seed, at] = [n, momentOf(n, true)]
      return isNamed(release, verdictOn(new Shop(seed), release.doing(at), at, AT_END)) ? [] : [release.name]
    })
    expect(missed.length <= 2 ? [] : missed).toEqual([])
  })

  test.each([
    ['full traffic', 1],
    ['a tenth of the traffic', 0.1],
  ])('report at most 2 of 50 harmless releases for shops with %s', (_what, scale) => {
    const wrong = accused(scale, 100)
    expect(wrong.length <= 2 ? [] : wrong).toEqual([])
  })
})

test('effects that are certain are reported before the window ends', () => {
  const looks = evaluationTimesOf(HOUR_MS)
  const error = ERROR / 2 / (looks.length - 1)
  const sureAt = (name: string) => {
    const release = HARMFUL.find((one) => one.name === name)
    if (!release) throw new Error(`there is no release ${name}`)
    const [shop, at] = [new Shop(42), momentOf(42, true)]
    const first = looks.find((lengthMs) =>
      isNamed(release, verdictOn(shop, release.doing(at), at, { lengthMs, error, days: SOME_DAYS })),
    )
    return (first ?? Number.POSITIVE_INFINITY) / MINUTE_MS
  }
  expect(sureAt('a common key is missing from 30 % of events')).toBeLessThanOrEqual(15)
  expect(sureAt('an item id is missing')).toBeLessThanOrEqual(15)
  expect(sureAt('all events of a vendor are missing')).toBeLessThanOrEqual(15)
})

test('a change is evaluated often at first, then less often, and at the end of its window', () => {
  expect(evaluationTimesOf(5 * MINUTE_MS).map((ms) => ms / MINUTE_MS)).toEqual([1, 2, 3, 4, 5])
  for (const minutes of [5, 60, 1440, 10_080]) {
    const looks = evaluationTimesOf(minutes * MINUTE_MS)
    expect([looks.at(-1), looks.length <= 20]).toEqual([minutes * MINUTE_MS, true])
    expect(looks).toEqual(looks.toSorted((a, b) => a - b))
  }
})
