import type { Privacy } from '../conditions/privacy-settings.ts'
import type { History } from '../warehouse/warehouse.ts'
import { findSegments } from './find-segments.ts'
import { sessionsOf } from './rank-segments.ts'
import { countScope } from './segment-counts.ts'
import type { SegmentScope } from './segment-query.ts'
import { type AffectedSegments, describeSegment, maskedSegment } from './segment-schema.ts'
import { type CountedUnit, violationSummary } from './segment-text.ts'

interface Deps {
  history: History
  privacy: Privacy
  /** Time zone in which the summary names hours. */
  timezone: string
}

/**
 * Returns the segments in which events violate far more often than elsewhere. `unit`: what a row of the scope is.
 * `oneIn`: one in this many rows is in the scope.
 */
export async function compareViolations(
  scope: SegmentScope,
  { history, privacy, timezone }: Deps,
  { unit = 'events', oneIn = 1 }: { unit?: CountedUnit; oneIn?: number } = {},
): Promise<AffectedSegments> {
  const { size, sampling, counts } = await countScope(scope, history)
  const { violating, total } = size
  const { all, segments } = await findSegments(counts)
  const shown = segments.map((segment) => maskedSegment(segment, privacy))
  return {
    violating: Math.round(violating),
    healthy: Math.round(total - violating),
    segments: shown.map((segment) => describeSegment(segment, all.violating)),
    summary: violationSummary(shown, {
      violating: all.violating,
      total: all.total,
      sessions: sessionsOf(all),
      oneIn: sampling.oneIn * oneIn,
      unit,
      timezone,
      at: scope.window.to,
    }),
  }
}

/** Returns the answer if there is nothing to compare. `reason` completes the sentence `No segment stands out: …`. */
export const nothingCompared = (reason: string): AffectedSegments => ({
  violating: 0,
  healthy: 0,
  segments: [],
  summary: `No segment stands out: ${reason}.`,
})
