import { type ComparedSegment, compareSegment, type Measure, rankedBySurprise, standOut } from './rank-segments.ts'
import { DIMENSIONS, type Dimension, EMPTY_TALLY, type SegmentKey, type SegmentTally, type Tally } from './segment.ts'

/** Maximum number of segments named. */
const MAX_SEGMENTS = 3
/** Once the named segments have this share of the violations, no further segment is searched. */
const ENOUGH = 0.8
/** Number of dimensions that are combined to pairs. */
const PAIRED = 7
/** Maximum number of values of a dimension that are combined to pairs. */
const PAIRED_VALUES = 12

/** Values of a dimension that are combined to pairs. Events with other values are not in any pair. */
export interface PairedDimension {
  dimension: Dimension
  values: readonly string[]
}

/** The counts of one scope, from the event history or from memory. */
export interface SegmentCounts {
  /**
   * Returns the sums over all events outside of these segments (null without events), and by value of every dimension.
   */
  single(without: readonly SegmentKey[]): Promise<{ all: Tally | null; tallies: readonly SegmentTally[] }>
  /** Returns the sums by pair of values, for every two of these dimensions. */
  pairs(dimensions: readonly PairedDimension[], without: readonly SegmentKey[]): Promise<readonly SegmentTally[]>
}

/** The segments that stand out, and the sums over all events. */
export interface FoundSegments {
  all: Tally
  /** Disjoint: an event that belongs to several segments is counted in the first of them. Empty if none stands out. */
  segments: ComparedSegment[]
}

interface FindOptions {
  /** Default: `risk`. */
  measure?: Measure
  /** Returns the share of the problem that a segment explains. Default: its share of the violating events. */
  explained?(segment: Tally, all: Tally): number
}

/**
 * Returns the segments in which events violate far more often than elsewhere, the best explanation first. A further
 * segment is searched among the events outside of those already found, as long as these explain less than 80 % of the
 * violations.
 */
export async function findSegments(
  counts: SegmentCounts,
  { measure = 'risk', explained = violatingShare }: FindOptions = {},
): Promise<FoundSegments> {
  const found: SegmentTally[] = []
  let all: Tally | null = null
  while (found.length < MAX_SEGMENTS) {
    const { all: rest, tallies } = await counts.single(found)
    if (!rest) break
    all ??= rest
    const leading = leadingDimensions(rest, tallies)
    const pairs = leading.length < 2 ? [] : await counts.pairs(leading, found)
    const best = standOut(rest, [...tallies, ...pairs], measure)
    if (!best) break
    found.push(best)
    const whole = all
    if (found.reduce((sum, segment) => sum + explained(segment, whole), 0) >= ENOUGH) break
  }
  const whole = all ?? EMPTY_TALLY
  return { all: whole, segments: found.map((segment) => compareSegment(whole, segment, measure)) }
}

const violatingShare = (segment: Tally, all: Tally) => segment.violating / all.violating

/**
 * Returns the dimensions that may be part of a pair, with their values. The dimensions of a pair stand out on their own
 * as well, only less. Empty if nothing indicates a segment.
 */
function leadingDimensions(all: Tally, singles: readonly SegmentTally[]): PairedDimension[] {
  const byDimension = Map.groupBy(rankedBySurprise(all, singles), ({ dimensions: [dimension] }) => dimension)
  return [...byDimension]
    .slice(0, PAIRED)
    .map(([dimension, own]) => ({ dimension, values: own.slice(0, PAIRED_VALUES).flatMap(({ values }) => values) }))
    .sort((a, b) => DIMENSIONS.indexOf(a.dimension) - DIMENSIONS.indexOf(b.dimension))
}
