import type { Privacy } from '../conditions/privacy-settings.ts'
import { countText, shareText } from '../core/text.ts'
import type { Binder, Query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import { findSegments } from './find-segments.ts'
import type { ComparedSegment } from './rank-segments.ts'
import { remainder, type Tally } from './segment.ts'
import { countScope } from './segment-counts.ts'
import { type EventTest, type SegmentScope, segmentTotalsQuery } from './segment-query.ts'
import { type AffectedSegments, describeSegment, maskedSegment } from './segment-schema.ts'
import { type HourContext, sampleText, segmentText } from './segment-text.ts'

/** Share of a loss that must remain when it is compared with the traffic of the segment; otherwise, traffic shifted. */
const REMAINING_SHARE = 0.5

/** Counts in two periods that are compared. */
export interface PeriodComparison {
  orgId: string
  /** True for the counted events. */
  counted: EventTest
  /**
   * True for other events of the same visitors, such as page views, from which a change of traffic is recognised; null
   * if all events are counted.
   */
  traffic: EventTest | null
  observed: Query['window']
  /** The period from which the expectation is taken, scaled to the length of `observed`. */
  baseline: Query['window']
  /** Null: whichever occurred. */
  direction: 'fall' | 'rise' | null
}

/**
 * Maximum number of events that a session contributes. Much higher than for violations, because events that are lost or
 * sent several times change the number of events per session.
 */
const SESSION_CAP = 64

interface Deps {
  history: History
  privacy: Privacy
  /** Time zone in which the summary names hours. */
  timezone: string
}

/** Number of events in one part of the traffic. */
interface Change {
  observed: number
  expected: number
}

/**
 * Returns the segments that lost events, or gained them. Events of both periods are put together, and those of the
 * baseline are called violating when events are missing, or those observed when there are too many: a segment that lost
 * more than others has a larger share of them.
 */
export async function comparePeriods(
  comparison: PeriodComparison,
  { history, privacy, timezone }: Deps,
): Promise<AffectedSegments> {
  const fall = scopeOf(comparison, comparison.counted, 'fall')
  const counted = await countScope(fall, history)
  const whole: Change = {
    expected: counted.size.violating,
    observed: counted.size.total - counted.size.violating,
  }
  const direction = comparison.direction ?? (whole.observed < whole.expected ? 'fall' : 'rise')
  const { counts, sampling } =
    direction === 'fall' ? counted : await countScope(scopeOf(comparison, comparison.counted, 'rise'), history)
  const changeIn = (tally: Tally) => changeOf(tally, direction)
  const { all, segments } = await findSegments(counts, {
    measure: 'odds',
    explained: (segment, all) => lostIn(changeIn(segment), direction) / lostIn(changeIn(all), direction),
  })
  const lost = lostIn(changeIn(all), direction)
  const affected = lost > 0 ? segments.filter((segment) => lostIn(changeIn(segment), direction) > 0) : []
  const shifted = await shiftedWithTraffic(comparison, affected, { direction, history })
  const [own, shifts] = [
    affected.filter((one) => !shifted.includes(one)),
    affected.filter((one) => shifted.includes(one)),
  ]
  const masked = (one: ComparedSegment) => maskedSegment(one, privacy)
  return {
    violating: Math.max(0, Math.round(lostIn(whole, direction))),
    healthy: Math.round(direction === 'fall' ? whole.observed : whole.expected),
    segments: own.map((segment) => {
      const [inside, elsewhere] = [changeIn(segment), changeIn(remainder(all, segment))]
      const base = (change: Change) => (direction === 'fall' ? change.expected : change.observed)
      const tally = { violating: lostIn(inside, direction), total: base(inside) }
      const shares = {
        inside: tally.violating / tally.total,
        elsewhere: Math.max(0, lostIn(elsewhere, direction)) / Math.max(1, base(elsewhere)),
      }
      return describeSegment({ ...masked(segment), ...tally, ...shares }, lost)
    }),
    summary:
      periodSummary({
        all,
        own: own.map(masked),
        shifts: shifts.map(masked),
        direction,
        hours: { timezone, at: comparison.observed.to },
      }) + sampleText(sampling.oneIn),
  }
}

type Direction = 'fall' | 'rise'

/** Returns the scope with the events of both periods. */
function scopeOf(
  { orgId, observed, baseline }: PeriodComparison,
  counted: EventTest,
  direction: Direction,
): SegmentScope {
  const within = ({ from, to }: Query['window']) => `(receivedAt >= ${from} AND receivedAt < ${to})`
  const factor = (observed.to - observed.from) / (baseline.to - baseline.from)
  return {
    orgId,
    window: { from: Math.min(observed.from, baseline.from), to: Math.max(observed.to, baseline.to) },
    includes(binder: Binder) {
      const { sql, ...reads } = counted(binder)
      return { ...reads, sql: `(${within(observed)} OR ${within(baseline)}) AND ${sql}` }
    },
    violates: () => ({ sql: within(direction === 'fall' ? baseline : observed) }),
    weight: () => `CASE WHEN ${within(baseline)} THEN weight * ${factor} ELSE weight END`,
    sessionCap: SESSION_CAP,
  }
}

function changeOf({ violating, total }: Tally, direction: Direction): Change {
  const others = total - violating
  return direction === 'fall' ? { expected: violating, observed: others } : { expected: others, observed: violating }
}

/** Returns the number of missing events, or of additional ones; negative if the count changed in the other direction. */
const lostIn = ({ expected, observed }: Change, direction: Direction) =>
  direction === 'fall' ? expected - observed : observed - expected

/** Returns the segments in which other events changed about as much. */
async function shiftedWithTraffic(
  comparison: PeriodComparison,
  segments: readonly ComparedSegment[],
  { direction, history }: { direction: Direction; history: History },
): Promise<ComparedSegment[]> {
  const { traffic } = comparison
  if (traffic === null || segments.length === 0) return []
  const scope = scopeOf(comparison, traffic, direction)
  const [row = {}] = await history.query<Record<string, number>>(segmentTotalsQuery(scope, segments))
  return segments.filter((segment, at) => {
    const violating = row[`violating${at}`] ?? 0
    const others = changeOf({ ...segment, violating, total: violating + (row[`healthy${at}`] ?? 0) }, direction)
    if (others.expected === 0) return false
    const own = changeOf(segment, direction)
    const expected = own.expected * (others.observed / others.expected)
    return lostIn({ ...own, expected }, direction) < REMAINING_SHARE * lostIn(own, direction)
  })
}

interface SummaryParts {
  all: Tally
  own: readonly ComparedSegment[]
  shifts: readonly ComparedSegment[]
  direction: Direction
  hours: HourContext
}

function periodSummary({ all, own, shifts, direction, hours }: SummaryParts): string {
  const kind = direction === 'fall' ? 'missing' : 'additional'
  const changeText = (segment: ComparedSegment) => {
    const { expected, observed } = changeOf(segment, direction)
    return `${segmentText(segment, hours)} (${countText(Math.round(observed))} instead of about ${countText(Math.round(expected))})`
  }
  const whole = changeOf(all, direction)
  const lost = lostIn(whole, direction)
  const moved =
    shifts.length === 0
      ? ''
      : ` Traffic changed: other events from ${shifts.map(changeText).join(' and ')} ${VERBS[direction]} as well.`
  if (own.length === 0)
    return `No segment stands out: ${reasonOf(whole, lost, { direction, hasShifts: shifts.length > 0 })}.${moved}`
  const parts = own.map((segment, at) => {
    const share = shareText(Math.min(1, lostIn(changeOf(segment, direction), direction) / lost))
    return `${share}${at === 0 ? ` of the ${kind} events` : ''} are from ${changeText(segment)}`
  })
  const rest = own.reduce<Change>(
    (sum, segment) => {
      const { expected, observed } = changeOf(segment, direction)
      return { expected: sum.expected - expected, observed: sum.observed - observed }
    },
    { ...whole },
  )
  return `${parts.join(' and ')}; elsewhere ${countText(Math.round(rest.observed))} instead of about ${countText(Math.round(rest.expected))}.${moved}`
}

const VERBS = { fall: 'fell', rise: 'rose' } as const

function reasonOf(
  { expected, observed }: Change,
  lost: number,
  { direction, hasShifts }: { direction: Direction; hasShifts: boolean },
): string {
  if (expected === 0) return 'there are no earlier events to compare'
  if (hasShifts) return `the count ${VERBS[direction]} with the traffic`
  if (lost <= 0) return 'there are as many events as expected'
  if (observed === 0) return 'all events are missing'
  const change = Math.abs(observed - expected) / expected
  return `events ${VERBS[direction]} by about ${shareText(change)} overall`
}
