import type { Room } from '../base.ts'
import type { Instant } from '../core/clock.ts'
import type { RunFiles } from '../flows/run-files.ts'
import type { HistoryBase } from '../history-base.ts'
import type { IngestRoom } from '../ingest/room.ts'
import type { IntegrationsRoom } from '../integrations/room.ts'
import { IdleDetector } from '../native/idle-detector.ts'
import { releaseFilePages } from '../native/release-mapped-memory.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { limitInForce } from '../store/retention-limits.ts'
import { eventsOfParts } from '../warehouse/inspect-warehouse-folder.ts'
import { deleteExpired } from './delete-expired.ts'
import { ClockWatch, clockNotice } from './detect-clock-steps.ts'
import { DiskBudget } from './disk-budget.ts'
import { type FlushDeps, finalFlush, flush, SEGMENT_AGE_MS } from './flush-spool.ts'
import { type WaitingDeletion, waitingDeletions, waitingDeletionTexts } from './waiting-deletions.ts'

const EVERY_SECOND = '* * * * * *'

/** Moves events from the spool to the warehouse, and keeps the data folder within its limits. */
export interface DataFolderRoom extends Room {
  diskBudget: DiskBudget
  /** Returns the time of the last successful flush; null before the first flush since startup. */
  lastFlushAt(): Instant | null
  /** Returns the shorter limits that wait, with the data that they will delete. */
  waitingDeletions(): WaitingDeletion[]
}

interface Deps {
  signals: SignalsRoom
  ingest: Pick<IngestRoom, 'batches' | 'collector'>
  integrations: IntegrationsRoom
  runFiles: RunFiles
}

/**
 * Opens the jobs that maintain the data folder. Its `heartbeat` must be the first job, so that gaps in collection are
 * known before counts are evaluated.
 */
export function openDataFolder(base: HistoryBase, { signals, ingest, integrations, runFiles }: Deps): DataFolderRoom {
  const { db, clock, log, spool, warehouse, notifyOperator } = base
  const { gaps, seriesMonitor, serverOutage } = signals
  const clockWatch = new ClockWatch({
    db,
    clock,
    spool,
    warehouse,
    stepped: (step) => notifyOperator(clockNotice(step)),
  })
  const diskBudget = new DiskBudget({
    db,
    warehouse,
    runFiles,
    clock,
    notifyOperator,
    get budgetBytes() {
      return limitInForce(db, 'diskBudget', gaps.retentionNow())
    },
    warn: log.warn,
  })
  const waiting = waitingDeletionTexts(db)
  if (waiting.length > 0) notifyOperator({ subject: 'a shorter retention will delete data', text: waiting.join('. ') })
  const flushing: FlushDeps = { db, spool, warehouse, batches: ingest.batches, collector: ingest.collector }
  const idleDetector = new IdleDetector(() => process.cpuUsage(), releaseFilePages)
  let lastFlushAt: Instant | null = null
  return {
    diskBudget,
    lastFlushAt: () => lastFlushAt,
    waitingDeletions: () => waitingDeletions(db, (before) => eventsOfParts(warehouse.storage(), before)),
    jobs: [
      {
        name: 'heartbeat',
        pattern: EVERY_SECOND,
        async run() {
          if (clockWatch.check()) {
            for (const detector of [seriesMonitor, serverOutage]) detector.reset()
            integrations.dispatcher.forget()
          }
          gaps.heartbeat()
        },
      },
      {
        name: 'flush',
        pattern: EVERY_SECOND,
        async run() {
          await flush(flushing, SEGMENT_AGE_MS)
          lastFlushAt = clock.now()
        },
      },
      { name: 'compact', pattern: '*/5 * * * * *', run: () => warehouse.compact() },
      { name: 'check files', pattern: '20 * * * * *', run: () => warehouse.check() },
      {
        name: 'retain',
        pattern: '30 */5 * * * *',
        run: () => deleteExpired({ db, warehouse, agedAt: () => gaps.retentionNow(), runFiles, log }),
      },
      { name: 'disk budget', pattern: '*/10 * * * * *', run: () => diskBudget.enforce() },
      { name: 'release memory', pattern: EVERY_SECOND, run: async () => idleDetector.check() },
    ],
    close: () => finalFlush(flushing, log),
  }
}
