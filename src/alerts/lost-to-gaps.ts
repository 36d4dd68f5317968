import type { Instant } from '../core/clock.ts'
import { type Gap, isCovered } from '../signals/gap.ts'
import { rowStart, type SeriesScope } from '../signals/series.ts'
import type { Alert } from './alert.ts'
import type { Window } from './finding.ts'
import type { AlertType } from './types/alert-type.ts'

/** When nothing could be collected; in order, without overlaps. */
export type GapsOf = (from: Instant, to: Instant) => readonly Gap[]

/** True when gaps of our own hide too much of what decides about the window. */
export function isLostToGaps(
  { counted }: Pick<AlertType, 'counted'>,
  alert: Alert,
  window: Window,
  gapsOf: GapsOf,
): boolean {
  return (counted?.(alert, window) ?? []).some((span) => isCovered(gapsOf(span.from, span.to), span))
}

/**
 * The same for a type that follows series: a row that a gap lies in is not judged, so it counts whole. What the other
 * rows and silences say stands; but where too much is hidden, nothing is clear.
 */
export function areRowsLostToGaps(
  scope: Pick<SeriesScope, 'stepMs' | 'offsetMs'> | undefined,
  { from, to }: Window,
  gapsOf: GapsOf,
): boolean {
  if (!scope) return false
  const start = rowStart(scope, from)
  const hurt: Gap[] = []
  for (const gap of gapsOf(start, to)) {
    const fromAt = Math.max(rowStart(scope, gap.fromAt), hurt.at(-1)?.toAt ?? start)
    const toAt = rowStart(scope, gap.toAt - 1) + scope.stepMs
    if (toAt > fromAt) hurt.push({ ...gap, fromAt, toAt })
  }
  return isCovered(hurt, { from, to })
}
