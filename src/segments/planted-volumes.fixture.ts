import { NOON, warehouseWith } from '../alerts/alert.fixture.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { comparePeriods, type PeriodComparison } from './compare-periods.ts'
import { overlap } from './plant-cause.fixture.ts'
import type { Dimension, DimensionSet, SegmentKey } from './segment.ts'
import type { AffectedSegments } from './segment-schema.ts'
import { Shop, storedEvents } from './shop-traffic.fixture.ts'

/**
 * Change of one segment: its purchases are lost, tripled, or fall with its other events. `none`: no segment changes more
 * than others.
 */
export type VolumeChange = 'loss' | 'rise' | 'shift' | 'none'

const MIDNIGHT = NOON - 12 * HOUR_MS
const OBSERVED = { from: MIDNIGHT, to: MIDNIGHT + DAY_MS }
const BASELINE = { from: MIDNIGHT - 7 * DAY_MS, to: MIDNIGHT - 6 * DAY_MS }

const isNamed = (event: string) => () => ({ sql: `event = '${event}'` })
const COMPARISON: PeriodComparison = {
  orgId: 'org_a',
  counted: isNamed('purchase'),
  traffic: isNamed('page_view'),
  observed: OBSERVED,
  baseline: BASELINE,
  direction: null,
}

const DIMENSIONS: readonly Dimension[] = [
  'browser',
  'browserVersion',
  'os',
  'device',
  'country',
  'consent',
  'pageGroup',
]

/** Returns a segment with 6 to 50 % of the shop's events. */
async function segmentOf(shop: Shop): Promise<SegmentKey> {
  const { all, tallies } = await shop.counts(new Uint8Array(shop.length)).single([])
  const whole = all?.total ?? 0
  const suitable = tallies.filter(
    ({ dimensions: [dimension], total }) =>
      DIMENSIONS.includes(dimension) && total >= 0.06 * whole && total <= 0.5 * whole,
  )
  const chosen = suitable[Math.floor(shop.random() * suitable.length)]
  if (!chosen) throw new Error('no suitable segment')
  return chosen
}

export interface PlantedVolume {
  shop: Shop
  cause: SegmentKey
  answer: AffectedSegments
  /** Purchases in the baseline and observed, in the cause and in total. */
  counts: { inside: PeriodCounts; all: PeriodCounts }
}

interface PeriodCounts {
  before: number
  now: number
}

/**
 * Plants a change in a shop whose sessions belong to one of two periods at random, and compares these with the
 * production code.
 */
export async function plantedVolume(change: VolumeChange, seed: number): Promise<PlantedVolume> {
  const shop = new Shop({ events: 8000 + 200 * (seed % 40), seed })
  const cause = await segmentOf(shop)
  const members = shop.members(cause)
  const { random } = shop
  const sessions = new Set(shop.starts)
  const counts = { inside: { before: 0, now: 0 }, all: { before: 0, now: 0 } }
  const events: StoredEvent[] = []
  const everywhere = random() < 0.5 ? 0.3 : 0
  let isNow = false
  let isGone = false
  for (const [n, event] of storedEvents(shop, new Uint8Array(shop.length), MIDNIGHT).entries()) {
    const isInside = members[n] === 1
    if (sessions.has(n)) [isNow, isGone] = [random() < 0.5, random() < 0.8]
    const isPurchase = random() < 0.5
    if (isNow && change === 'shift' && isInside && isGone) continue
    if (isNow && change === 'loss' && isInside && isPurchase && random() < 0.9) continue
    if (isNow && change === 'none' && isPurchase && random() < everywhere) continue
    const copies = isNow && change === 'rise' && isInside && isPurchase ? 3 : 1
    for (let copy = 0; copy < copies; copy++) {
      const receivedAt = event.receivedAt - (isNow ? 0 : 7 * DAY_MS)
      events.push({ ...event, seq: events.length + 1, receivedAt, event: isPurchase ? 'purchase' : 'page_view' })
      if (!isPurchase) continue
      counts.all[isNow ? 'now' : 'before']++
      if (isInside) counts.inside[isNow ? 'now' : 'before']++
    }
  }
  using history = await warehouseWith(events)
  const answer = await comparePeriods(COMPARISON, { history, privacy: PLAIN_PRIVACY, timezone: 'UTC' })
  return { shop, cause, answer, counts }
}

/** Another segment with at least this share of events in common is the same segment by another name. */
const SAME = 0.95

/** True if the first segment of the answer is the planted one. */
export function isCauseFirst({ shop, cause, answer }: PlantedVolume): boolean {
  const [first] = answer.segments
  if (!first) return false
  const key: SegmentKey = {
    dimensions: first.dimension.split('+') as unknown as DimensionSet,
    values: first.value.split('+'),
  }
  return overlap(shop, shop.members(key), shop.members(cause)) >= SAME
}
