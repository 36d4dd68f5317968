import type { Room } from '../base.ts'
import type { Instant } from '../core/clock.ts'
import { Emitter } from '../core/emitter.ts'
import type { HistoryBase } from '../history-base.ts'
import type { IngestRoom } from '../ingest/room.ts'
import type { Enqueue } from '../issues/issue.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { SignalChanges } from '../signals/signal-changes.ts'
import { autoAlertJob } from './auto-alerts.ts'
import { evaluate, WokenAlerts } from './evaluate-alerts.ts'
import { monitorSeries } from './evaluate-series.ts'

export interface EvaluationRoom extends Room {
  /** Returns the time of the last successful evaluation; null before the first one since startup. */
  lastEvaluationAt(): Instant | null
  /**
   * Returns whether all signals that the alert monitors were still learning in the last evaluation since startup. False
   * for alerts that monitor none.
   */
  isLearning(alertId: string): boolean
  /** Emits the domain of a signal that begins or stops deviating. */
  signalsChanged: Emitter<{ orgId: string; domainId: string }>
}

interface Deps {
  ingest: Pick<IngestRoom, 'violated'>
  signals: SignalsRoom
  enqueue: Enqueue
}

export function openEvaluation(base: HistoryBase, { ingest, signals, enqueue }: Deps): EvaluationRoom {
  const { db, clock, warehouse, privacyOf } = base
  const { gaps, seriesMonitor, serverOutage } = signals
  const woken = new WokenAlerts(warehouse.readsSpool ? null : clock.now())
  ingest.violated.subscribe(({ alertIds, domainId, receivedAt }) => woken.add(alertIds, domainId, receivedAt))
  const signalsChanged: EvaluationRoom['signalsChanged'] = new Emitter()
  const signalChanges = new SignalChanges((orgId, domainId) => signalsChanged.emit({ orgId, domainId }))
  const common = { db, clock, visible: base, enqueue, gapsOf: gaps.gapsOf.bind(gaps) }
  const learning = new Set<string>()
  const noteLearning = (id: string, isLearning: boolean) => void (isLearning ? learning.add(id) : learning.delete(id))
  let lastEvaluationAt: Instant | null = null
  return {
    lastEvaluationAt: () => lastEvaluationAt,
    isLearning: (alertId) => learning.has(alertId),
    signalsChanged,
    jobs: [
      {
        name: 'evaluate',
        pattern: '* * * * * *',
        trigger: woken.emitter,
        async run(stopping) {
          await evaluate({ ...common, warehouse, woken, privacyOf }, stopping)
          lastEvaluationAt = clock.now()
        },
      },
      {
        name: 'evaluate series',
        pattern: '*/10 * * * * *',
        run: (stopping) =>
          monitorSeries({ ...common, seriesMonitor, serverOutage, signalChanges, noteLearning }, stopping),
      },
      { name: 'automatic alerts', pattern: '15 */5 * * * *', run: autoAlertJob({ db, clock, warehouse, enqueue }) },
    ],
  }
}
