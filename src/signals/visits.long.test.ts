import { expect, test } from 'bun:test'
import { randomOf } from '../detector/series.fixture.ts'
import { fallsIn, plain, shop, verdictsOn, visitsOf } from './visits.fixture.ts'

const DAYS = 35
const MONTHS = DAYS / 30

test.each([
  ['20 visits per day', shop(20)],
  ['100 visits per day', shop(100)],
  ['300 visits per day', shop(300)],
  ['1,000 visits per day', shop(1000)],
  ['3,000 visits per day', shop(3000)],
  ['300 visits per day with eight long page views', { ...shop(300), pages: 8, minutesPerPage: 3 }],
  ['300 visits per day with one event', plain(300)],
])('%s with random variation trigger at most one alarm about total traffic in three months', (_, site) => {
  const seeds = [1, 2, 3]
  const falls = seeds.flatMap((seed) =>
    fallsIn(verdictsOn(visitsOf(site, DAYS, randomOf(seed)), { from: 0, to: DAYS })),
  )
  expect(falls.length).toBeLessThanOrEqual((seeds.length * MONTHS) / 3)
})

/**
 * Visits per day, hour of the outage, and minutes until its detection: the time in which about 19 visits are expected.
 */
test.each<[number, number, number]>([
  [300, 10, 180],
  [1000, 10, 60],
  [3000, 10, 25],
  [3000, 2, 90],
])(
  'an outage of a shop with %p visits a day, starting at %p o’clock, is detected within %p minutes',
  (visits, hour, within) => {
    const from = DAYS - 4 + (hour + 0.3) / 24
    const traffic = visitsOf(shop(visits), DAYS, randomOf(4))
    const [at = Number.POSITIVE_INFINITY] = fallsIn(verdictsOn(traffic, { from, to: DAYS - 3 }, { from, to: DAYS }))
    expect((at - from) * 24 * 60).toBeLessThanOrEqual(within)
  },
)

test('a signal with 3,000 visits a day and random variation rarely raises an alarm for a rise', () => {
  const rises = [4, 5, 6, 7].flatMap((seed) =>
    verdictsOn(visitsOf(shop(3000), DAYS, randomOf(seed * 77 + 3000)), { from: 7, to: DAYS })
      .flat()
      .filter(({ alarm, down, event }) => alarm && !down && event !== null),
  )
  expect(rises.length).toBeLessThanOrEqual(1)
})
