import { type EvaluateSeriesParts, evaluateSeries } from '../evaluation/evaluate-series.ts'
import { tickBefore } from '../signals/series.ts'
import type { Suspicion } from '../signals/suspicion.ts'
import type { Job } from './job.ts'

export interface FollowSeriesParts extends Omit<EvaluateSeriesParts, 'suspected'> {
  suspicion: Suspicion
}

/** Evaluates the alerts that follow series, soon after a tick or a short row has ended. */
export function followSeriesJob({ suspicion, ...parts }: FollowSeriesParts): Job {
  return {
    name: 'evaluate series',
    pattern: '*/10 * * * * *',
    async run(stopping) {
      await evaluateSeries({ ...parts, suspected: (tickAt) => suspicion.at(tickAt) }, stopping)
      if (stopping?.aborted) return
      // Where nothing falls any more, nobody asks whether the suspicion still holds.
      if (suspicion.suspected) await suspicion.at(tickBefore(parts.spool.watermark()))
    },
  }
}
