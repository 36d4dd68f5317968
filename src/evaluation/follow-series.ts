import { tickBefore } from '../signals/series.ts'
import type { Suspicion } from '../signals/suspicion.ts'
import { type EvaluateSeriesParts, evaluateSeries } from './evaluate-series.ts'

export interface FollowSeriesParts extends Omit<EvaluateSeriesParts, 'suspected'> {
  suspicion: Suspicion
}

/** Evaluates the alerts that follow series, soon after a tick or a short row has ended. */
export async function followSeries({ suspicion, ...parts }: FollowSeriesParts, stopping?: AbortSignal): Promise<void> {
  await evaluateSeries({ ...parts, suspected: (tickAt) => suspicion.at(tickAt) }, stopping)
  if (stopping?.aborted) return
  // Without falls the evaluation does not query whether the suspicion still holds.
  if (suspicion.suspected) await suspicion.at(tickBefore(parts.spool.watermark()))
}
