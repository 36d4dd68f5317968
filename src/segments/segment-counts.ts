import type { History } from '../warehouse/warehouse.ts'
import type { SegmentCounts } from './find-segments.ts'
import type { DimensionSet, SegmentTally } from './segment.ts'
import {
  pairsQuery,
  type SegmentSampling,
  type SegmentScope,
  type SizeRow,
  singlesQuery,
  sizeQuery,
  type TallyRow,
} from './segment-query.ts'

/** Maximum number of events read. Larger scopes are sampled by session. */
const MAX_EVENTS = 100_000

/** A scope with its size. */
export interface CountedScope {
  size: SizeRow
  sampling: SegmentSampling
  counts: SegmentCounts
}

/**
 * Counts the events of a scope by segment. Above 100,000 events, it reads a sample of sessions; violating events are
 * read in all sessions unless there are too many of them as well.
 */
export async function countScope(scope: SegmentScope, history: History): Promise<CountedScope> {
  const [size = { events: 0, violatingEvents: 0, total: 0, violating: 0 }] = await history.query<SizeRow>(
    sizeQuery(scope),
  )
  const sampling = samplingFor(size, scope.weight !== undefined)
  const counts: SegmentCounts = {
    async single(without) {
      const rows = await history.query<TallyRow>(singlesQuery(scope, { sampling, without }))
      return { all: rows.find(({ dimensions }) => dimensions.length === 0) ?? null, tallies: rows.filter(isSegment) }
    },
    async pairs(among, without) {
      const rows = await history.query<TallyRow>(pairsQuery(scope, { sampling, among, without }))
      return rows.filter(isSegment)
    },
  }
  return { size, sampling, counts }
}

function samplingFor({ events, violatingEvents }: SizeRow, comparesPeriods: boolean): SegmentSampling {
  const keepsViolating = !comparesPeriods && violatingEvents <= MAX_EVENTS / 2
  const [read, budget] = keepsViolating
    ? [events - violatingEvents, MAX_EVENTS - violatingEvents]
    : [events, MAX_EVENTS]
  return { oneIn: Math.max(1, Math.ceil(read / budget)), keepsViolating }
}

const isSegment = (row: TallyRow): row is TallyRow & SegmentTally => isDimensionSet(row.dimensions)
const isDimensionSet = (dimensions: TallyRow['dimensions']): dimensions is DimensionSet => dimensions.length > 0
