import type { Dimension, SegmentKey, SegmentTally } from './segment.ts'
import type { Shop } from './shop-traffic.fixture.ts'

export type CauseKind = 'segment' | 'pair' | 'page group' | 'hour' | 'none'
export const CAUSE_KINDS: readonly CauseKind[] = ['segment', 'pair', 'page group', 'hour', 'none']

const SINGLE: readonly Dimension[] = [
  'browser',
  'browserVersion',
  'os',
  'device',
  'country',
  'language',
  'consent',
  'release',
]
const PAIRED: readonly Dimension[] = ['browser', 'browserVersion', 'os', 'device', 'country', 'consent', 'pageGroup']

/** Share of the violations outside of the planted segment. */
const ELSEWHERE = 0.03
/** Maximum share of the planted segment's events that violate. */
const MOST_INSIDE = 0.9

export interface Planted {
  cause: SegmentKey | null
  /** 1 for each event of the planted segment. */
  members: Uint8Array | null
  /** 1 for each violating event. */
  violates: Uint8Array
}

/**
 * Lets this share of a shop's events violate: nearly all of them in one segment, or anywhere. If the segment has too
 * few events, 90 % of them violate. Returns null if the shop has no segment of the kind.
 */
export async function plantCause(shop: Shop, kind: CauseKind, share: number): Promise<Planted | null> {
  if (kind === 'none') return { cause: null, members: null, violates: violationsOf(shop, null, share, share) }
  const least = kind === 'hour' ? 0.03 : Math.max(0.03, Math.min(kind === 'segment' ? 1 : 0.1, share / MOST_INSIDE))
  const segments = await segmentsOf(shop, kind, least)
  const cause = segments[Math.floor(shop.random() * segments.length)]
  if (!cause) return null
  const members = shop.members(cause)
  const size = shop.shareOf(members)
  const inside = Math.min(MOST_INSIDE, (share * (1 - ELSEWHERE)) / size)
  const elsewhere = (Math.min(share, inside * size) * ELSEWHERE) / (1 - size)
  return { cause, members, violates: violationsOf(shop, members, inside, elsewhere) }
}

type Sized = Pick<SegmentTally, 'dimensions' | 'values' | 'total'>

async function sizesOf(shop: Shop, withPairs: boolean) {
  const counts = shop.counts(new Uint8Array(shop.length))
  const { all, tallies } = await counts.single([])
  const paired = PAIRED.map((dimension) => ({ dimension, values: shop.values[dimension] }))
  return { all: all?.total ?? 0, singles: tallies, pairs: withPairs ? await counts.pairs(paired, []) : [] }
}

async function segmentsOf(shop: Shop, kind: CauseKind, least: number): Promise<readonly Sized[]> {
  const { all, singles, pairs } = await sizesOf(shop, kind === 'pair')
  const isLarge = ({ total }: Sized) => total >= least * all && total <= 0.6 * all
  if (kind !== 'pair') {
    const dimensions: readonly Dimension[] = kind === 'segment' ? SINGLE : kind === 'hour' ? ['hour'] : ['pageGroup']
    return singles.filter((one) => dimensions.includes(one.dimensions[0]) && isLarge(one))
  }
  const totals = new Map(singles.map(({ dimensions, values, total }) => [`${dimensions[0]} ${values[0]}`, total]))
  return pairs.filter((pair) => {
    const parts = pair.dimensions.map((dimension, at) => totals.get(`${dimension} ${pair.values[at]}`) ?? 0)
    // Otherwise, the pair is nearly the same as one of its parts.
    return isLarge(pair) && parts.every((total) => total <= 0.6 * all && pair.total <= 0.7 * total)
  })
}

/** Every event violates with the probability of its segment, higher in some sessions and lower in others. */
function violationsOf(shop: Shop, members: Uint8Array | null, inside: number, elsewhere: number): Uint8Array {
  const violates = new Uint8Array(shop.length)
  let factor = 1
  let session = 0
  for (let n = 0; n < shop.robotAt; n++) {
    if (shop.starts[session] === n) {
      session++
      factor = shop.random() < 0.5 ? 0.4 : 1.6
    }
    const chance = members?.[n] ? inside : elsewhere
    violates[n] = shop.random() < Math.min(0.98, chance * factor) ? 1 : 0
  }
  violates.fill(1, shop.robotAt)
  return violates
}

/** Returns how much two segments have in common: the weight of their common events over that of all their events. */
export function overlap(shop: Shop, a: Uint8Array, b: Uint8Array): number {
  let [common, either] = [0, 0]
  for (let n = 0; n < shop.length; n++) {
    const weight = shop.weights[n] ?? 0
    if (a[n] && b[n]) common += weight
    if (a[n] || b[n]) either += weight
  }
  return common / either
}
