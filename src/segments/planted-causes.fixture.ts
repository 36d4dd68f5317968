import { findSegments } from './find-segments.ts'
import { CAUSE_KINDS, overlap, type Planted, plantCause } from './plant-cause.fixture.ts'
import { Shop } from './shop-traffic.fixture.ts'

/** Fewer violating sessions than this are too few to expect a result, so that none is right as well. */
const FEW_SESSIONS = 10
/** Another segment with at least this share of events in common is the same segment by another name. */
const SAME = 0.95

interface Trial {
  shops: number
  /** Number of events of the largest shop; the smallest has 500. Sizes are spread evenly on a logarithmic scale. */
  largest: number
  seed: number
  sampled: boolean
  /** Range of the shops that are examined, from the smallest; default: all. */
  from?: number
  to?: number
}

/** Number of right results and of all, by the expected result (`cause` or `none`) and the rate of violating events. */
export type Results = Record<string, { right: number; all: number }>

/** Plants a cause in shops of different sizes, with each kind in every fifth shop. */
export async function plantedResults(trial: Trial): Promise<Results> {
  const { shops, largest, seed, sampled, from = 0, to = shops } = trial
  const results: Results = {}
  for (let at = from; at < to; at++) {
    const shop = new Shop({
      events: Math.round(500 * (largest / 500) ** ((at + 0.5) / shops)),
      seed: seed + at,
      rate: sampled ? ([0.5, 0.25, 0.1][at % 3] ?? 1) : 1,
      robot: at % 11 === 9 ? 300 : 0,
    })
    const kind = CAUSE_KINDS[at % CAUSE_KINDS.length] ?? 'none'
    for (const share of [0.01, 0.05, 0.3]) {
      const planted = await plantCause(shop, kind, share)
      if (!planted) continue
      const name = `${kind === 'none' ? 'none' : 'cause'}, ${share * 100} %`
      const { right, all } = results[name] ?? { right: 0, all: 0 }
      results[name] = { right: right + ((await isFound(shop, planted)) ? 1 : 0), all: all + 1 }
    }
  }
  return results
}

async function isFound(shop: Shop, { cause, members, violates }: Planted): Promise<boolean> {
  const { segments } = await findSegments(shop.counts(violates))
  const [first] = segments
  if (!first || !members || !cause)
    return first === undefined && (!cause || violatingSessions(shop, violates) < FEW_SESSIONS)
  return overlap(shop, shop.members(first), members) >= SAME
}

function violatingSessions(shop: Shop, violates: Uint8Array): number {
  return shop.starts.filter(
    (start, at) => start < shop.robotAt && violates.subarray(start, shop.starts[at + 1]).includes(1),
  ).length
}

/** Adds the results of further shops. */
export function addResults(results: Results, others: Results): void {
  for (const [name, { right, all }] of Object.entries(others)) {
    const known = results[name] ?? { right: 0, all: 0 }
    results[name] = { right: known.right + right, all: known.all + all }
  }
}

/** Returns the share of right results for `cause` and `none`, at all rates together. */
export function rightShares(results: Results): Record<'cause' | 'none', number> {
  const shareOf = (expected: string) => {
    const own = Object.entries(results).flatMap(([name, result]) => (name.startsWith(expected) ? [result] : []))
    return own.reduce((sum, { right }) => sum + right, 0) / own.reduce((sum, { all }) => sum + all, 0)
  }
  return { cause: shareOf('cause'), none: shareOf('none') }
}
