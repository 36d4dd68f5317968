import { countDueAlerts, type DueAlerts } from '../alerts/alert-store.ts'
import { alertTypes } from '../alerts/types/index.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { judgedThrough } from '../evaluation/clock-step-windows.ts'
import { lastHeartbeat } from '../signals/gap-store.ts'
import { activeClockStep, type ClockStep } from '../store/clock-step.ts'
import type { Db } from '../store/database.ts'
import { lastLoadedAt } from '../warehouse/inspect-warehouse-folder.ts'

/** State of a server's work according to its database, whether the server is running or not. */
export interface RecordedState {
  /** When the server was last known to be running; null before the first start. Up to 30 s old while it is running. */
  heartbeatAt: Instant | null
  /** When events were last moved into the event files; null if none have been. */
  flushedAt: Instant | null
  /** Time up to which alerts were evaluated; null if no alert is enabled. */
  evaluatedTo: Instant | null
  due: DueAlerts
  /** The last step of the clock, while stored data is dated in the future. */
  clockStep: ClockStep | null
  /** Notifications of the last 24 h that could not be delivered, and waiting ones that have failed, by channel type. */
  failing: FailingChannel[]
}

interface FailingChannel {
  channelType: string
  /** Given up in the last 24 h. */
  failed: number
  /** Waiting for another attempt. */
  retrying: number
}

const FAILURES_MS = 24 * HOUR_MS

/** Reads the state from a database with the current schema. */
export function readRecordedState(db: Db, now: Instant): RecordedState {
  const kinds = alertTypes.map(({ kind }) => kind)
  return {
    heartbeatAt: lastHeartbeat(db),
    flushedAt: lastLoadedAt(db),
    evaluatedTo: judgedThrough(db) || null,
    due: countDueAlerts(db, kinds, now),
    clockStep: activeClockStep(db, now),
    failing: db
      .prepare<[object], FailingChannel>(
        `SELECT channelType, sum(status = 'failed') AS failed, sum(status = 'pending') AS retrying FROM delivery
         WHERE channelType <> 'canary'
           AND (status = 'failed' AND lastAttemptAt >= @since OR status = 'pending' AND attempts > 0)
         GROUP BY channelType ORDER BY channelType`,
      )
      .all({ since: now - FAILURES_MS }),
  }
}
