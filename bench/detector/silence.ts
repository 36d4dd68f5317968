import { DAY_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { randomOf } from '../../src/detector/series.fixture.ts'
import { fallsIn, plain, type Site, shop, verdictsOn, visitsOf } from '../../src/signals/visits.fixture.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'

const DAYS = 49
const LEARNED = 7
/** Hour at which each outage on the last Thursday starts. */
const OUTAGES = [3.3, 10.3, 16.3]
const SEEDS = sized(Number(process.env.SEEDS ?? 10), 1)

const SITES: readonly [string, (visits: number) => Site][] = [
  ['one event per visit', plain],
  ['shop', shop],
  [
    'eight events per page',
    (visits) => ({ ...shop(visits), events: { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1 } }),
  ],
  ['eight long pages', (visits) => ({ ...shop(visits), pages: 8, minutesPerPage: 3 })],
]

/**
 * Counts false reports of a drop in traffic on simulated domains without faults. Also measures the time to detect
 * simulated outages, and counts how often halved traffic is detected within a day.
 */
export async function benchSilence(): Promise<Budget[]> {
  let worst = 0
  console.log(
    '| site | visits per day | false drops per month | in the first week | outage detected after, min | halving detected within 24 h |',
  )
  console.log('|---|---|---|---|---|---|')
  for (const [name, siteOf] of SITES) {
    for (const visits of sized([20, 100, 300, 1000, 3000], [20])) {
      const found = measure(siteOf(visits), visits)
      const sorted = found.minutes.toSorted((a, b) => a - b)
      const times = [0.5, 0.9].map((share) => sorted[Math.floor(share * sorted.length)]?.toFixed(0))
      worst = Math.max(worst, found.monthly)
      const cells = [
        name,
        visits,
        found.monthly.toFixed(2),
        found.early,
        times.join(', '),
        `${found.halves} of ${SEEDS}`,
      ]
      console.log(`| ${cells.join(' | ')} |`)
    }
  }
  return [budget('false drops of all traffic per domain and month, worst site', worst, 'at most', 1 / 3)]
}

function measure(site: Site, salt: number): { monthly: number; early: number; minutes: number[]; halves: number } {
  let [falls, early, halves] = [0, 0, 0]
  const minutes: number[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    const traffic = visitsOf(site, DAYS, randomOf(1000 * seed + salt))
    for (const day of fallsIn(verdictsOn(traffic, { from: 0, to: DAYS }))) {
      if (day < LEARNED) early += 1
      else falls += 1
    }
    for (const hour of OUTAGES) {
      const from = DAYS - 4 + hour / 24
      const outage = { from, to: DAYS }
      const [at = Number.POSITIVE_INFINITY] = fallsIn(verdictsOn(traffic, { from, to: DAYS }, outage))
      minutes.push(((at - from) * DAY_MS) / MINUTE_MS)
    }
    const from = DAYS - 4 + 0.4
    const halved = visitsOf(site, DAYS, randomOf(1000 * seed + salt), from)
    if (fallsIn(verdictsOn(halved, { from, to: from + 1 })).length > 0) halves += 1
  }
  return { monthly: (falls / (SEEDS * (DAYS - LEARNED))) * 30, early, minutes, halves }
}
