import { describe, expect, test } from 'bun:test'
import { RHO_ALONE, RHO_LEAST } from '../changes/suspected-share-effects.ts'
import { randomOf } from '../detector/series.fixture.ts'
import { type Planted, tablesOfVisits, visitsOf } from './compared-visits.fixture.ts'
import { differencesOf, ERROR, shareDifferenceChance, type TestedDifference } from './side-differences.ts'

async function compared(seed: number, planted: Planted, { a = 400, b = 400, rho = RHO_LEAST } = {}) {
  const random = randomOf(seed)
  const before = visitsOf(random, { visits: a, planted: 'none', prefix: 'a' })
  const after = visitsOf(random, { visits: b, planted, prefix: 'b' })
  return differencesOf(tablesOfVisits({ before, after }), rho)
}

const nameOf = ({ kind, vendor, event, key, value }: TestedDifference) =>
  [kind, vendor, event, key, value].filter((part) => part !== null).join(' ')
const sureIn = (rows: readonly TestedDifference[]) => rows.filter(({ sure }) => sure).map(nameOf)

const GA4 = 'Google Analytics 4'
const EXPECTED: Record<Exclude<Planted, 'none'>, readonly string[]> = {
  event_lost: [`event ${GA4} purchase`],
  event_doubled: [`event ${GA4} purchase`],
  key_lost: ['page_view', 'purchase'].map((event) => `key ${GA4} ${event} user`),
  value: ['EUR', 'CHF'].map((value) => `value ${GA4} page_view currency ${value}`),
  consent: [`consent ${GA4} consent.ad_storage granted`],
  violation: [`violation ${GA4} page_view`],
  host: ['host new.shop.example', 'host m.shop.example'],
}

describe('a planted difference is found', () => {
  test.each(Object.keys(EXPECTED) as (keyof typeof EXPECTED)[])('%s', async (planted) => {
    for (let seed = 1; seed <= 10; seed++) {
      const sure = sureIn(await compared(seed, planted))
      for (const name of EXPECTED[planted]) expect(sure).toContain(name)
      // Nothing but the planted difference, which several vendors and events may show.
      const [kind] = EXPECTED[planted][0]?.split(' ') ?? []
      const related = planted === 'consent' ? ['consent', 'value'] : [kind]
      expect(sure.filter((name) => !related.includes(name.split(' ')[0]))).toEqual([])
    }
  })

  test('also on a side with far fewer sessions', async () => {
    for (let seed = 1; seed <= 10; seed++)
      expect(sureIn(await compared(seed, 'key_lost', { a: 3000, b: 120 }))).toContain(`key ${GA4} page_view user`)
  })
})

test('sides that do not differ have a sure difference at most as often as the chosen rate', async () => {
  const rounds = 400
  let wrong = 0
  for (let seed = 1; seed <= rounds; seed++) {
    const sizes = { a: 30 + ((seed * 37) % 700), b: 30 + ((seed * 101) % 400) }
    if (sureIn(await compared(seed, 'none', sizes)).length > 0) wrong++
  }
  expect(wrong).toBeLessThanOrEqual(rounds * ERROR)
})

test('sure differences come first, then by probability', async () => {
  const rows = await compared(1, 'consent')
  const sure = rows.map((row) => row.sure)
  expect(sure).toEqual(sure.toSorted((a, b) => Number(b) - Number(a)))
  for (const part of [true, false]) {
    const chances = rows.filter((row) => row.sure === part).map(({ chance }) => chance)
    expect(chances).toEqual(chances.toSorted((a, b) => a - b))
  }
})

test.each([
  [
    { share: 0.5, trials: 100 },
    { share: 0.5, trials: 100 },
  ],
  [
    { share: 1, trials: 4 },
    { share: 0, trials: 4000 },
  ],
])('%j and %j do not differ', (a, b) => {
  expect(shareDifferenceChance(a, b, RHO_LEAST)).toBe(1)
})

test('the sides are interchangeable, and different times make a difference less certain', () => {
  const [a, b] = [
    { share: 0.4, trials: 700 },
    { share: 0.55, trials: 300 },
  ]
  expect(shareDifferenceChance(a, b, RHO_LEAST)).toBe(shareDifferenceChance(b, a, RHO_LEAST))
  expect(shareDifferenceChance(a, b, RHO_ALONE)).toBeGreaterThan(10 * shareDifferenceChance(a, b, RHO_LEAST))
})

test('a side without events differs in nothing that could be certain', async () => {
  const before = visitsOf(randomOf(1), { visits: 50, planted: 'none', prefix: 'a' })
  expect(sureIn(await differencesOf(tablesOfVisits({ before, after: [] }), RHO_LEAST))).toEqual([])
  expect(await differencesOf(tablesOfVisits({ before: [], after: [] }), RHO_LEAST)).toEqual([])
})
