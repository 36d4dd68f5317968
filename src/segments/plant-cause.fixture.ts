import type { Dimension, SegmentKey } from './segment.ts'
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
export function plantCause(shop: Shop, kind: CauseKind, share: number): Planted | null {
  if (kind === 'none') return { cause: null, members: null, violates: violationsOf(shop, null, share, share) }
  const least = kind === 'hour' ? 0.03 : Math.max(0.03, Math.min(kind === 'segment' ? 1 : 0.1, share / MOST_INSIDE))
  const segments = segmentsOf(shop, kind, least)
  const cause = segments[Math.floor(shop.random() * segments.length)]
  if (!cause) return null
  const members = shop.members(cause)
  const size = shop.shareOf(members)
  const inside = Math.min(MOST_INSIDE, (share * (1 - ELSEWHERE)) / size)
  const elsewhere = (Math.min(share, inside * size) * ELSEWHERE) / (1 - size)
  return { cause, members, violates: violationsOf(shop, members, inside, elsewhere) }
}

function segmentsOf(shop: Shop, kind: CauseKind, least: number): SegmentKey[] {
  const dimensions: readonly Dimension[] = kind === 'segment' ? SINGLE : kind === 'hour' ? ['hour'] : ['pageGroup']
  if (kind !== 'pair') return dimensions.flatMap((one) => largeEnough(shop, one, least)).map(({ key }) => key)
  const singles = PAIRED.map((one) => largeEnough(shop, one, least))
  return singles.flatMap((firsts, at) =>
    singles.slice(at + 1).flatMap((seconds) =>
      firsts.flatMap((first) =>
        seconds.flatMap((second) => {
          const key: SegmentKey = {
            dimensions: [first.key.dimensions[0], second.key.dimensions[0]],
            values: [...first.key.values, ...second.key.values],
          }
          const size = shop.shareOf(shop.members(key))
          // Otherwise, the pair is nearly the same as one of its parts.
          return size >= least && size <= 0.7 * Math.min(first.size, second.size) ? [key] : []
        }),
      ),
    ),
  )
}

function largeEnough(shop: Shop, dimension: Dimension, least: number) {
  return shop.values[dimension].flatMap((value) => {
    const key: SegmentKey = { dimensions: [dimension], values: [value] }
    const size = shop.shareOf(shop.members(key))
    return size >= least && size <= 0.6 ? [{ key, size }] : []
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
