import type { Instant } from '../core/clock.ts'
import { exceedsMaxCoverage, type Gap } from '../signals/gap.ts'
import { rowStart, type SeriesScope } from '../signals/series.ts'
import type { Alert } from './alert.ts'
import type { Window } from './finding.ts'
import { type AlertType, countedRangesOf } from './types/alert-type.ts'

/** Returns the collection gaps in a time range, in order and without overlaps. */
export type GapsOf = (from: Instant, to: Instant) => readonly Gap[]

/** True when collection gaps cover too much of the time range that determines the window's verdict. */
export function isWindowUnreliable(type: AlertType, alert: Alert, window: Window, gapsOf: GapsOf): boolean {
  return (countedRangesOf(type, alert, window) ?? []).some((span) =>
    exceedsMaxCoverage(gapsOf(span.from, span.to), span),
  )
}

/**
 * Like `isWindowUnreliable`, for a type that monitors series. A row that overlaps a gap is not evaluated, so it counts as
 * completely covered. Other rows and silences are still evaluated, but an unreliable window does not clear an issue.
 */
export function areRowsUnreliable(
  scope: Pick<SeriesScope, 'stepMs' | 'offsetMs'> | undefined,
  { from, to }: Window,
  gapsOf: GapsOf,
): boolean {
  if (!scope) return false
  const start = rowStart(scope, from)
  const lost: Gap[] = []
  for (const gap of gapsOf(start, to)) {
    const fromAt = Math.max(rowStart(scope, gap.fromAt), lost.at(-1)?.toAt ?? start)
    const toAt = rowStart(scope, gap.toAt - 1) + scope.stepMs
    if (toAt > fromAt) lost.push({ ...gap, fromAt, toAt })
  }
  return exceedsMaxCoverage(lost, { from, to })
}
