import { HOUR_MS, type Instant } from '../core/clock.ts'
import { previousTimes } from '../core/cron-schedule.ts'
import type { Db } from '../store/database.ts'
import { type BackupRecord, lastEnded, lastSuccess } from './store.ts'

/** Delay after which a failed backup is repeated. */
const RETRY_MS = HOUR_MS

/** True if a scheduled backup to this place is due: its time has come, or the last attempt failed an hour ago. */
export function isBackupDue(last: BackupRecord | null, pattern: string, now: Instant): boolean {
  if (last?.status === 'running') return false
  const [due] = previousTimes(pattern, 'UTC', now, 1)
  if (!last) return true
  if (last.status === 'failed') return now - last.startedAt >= RETRY_MS
  return due !== undefined && last.startedAt < due
}

/**
 * `ok`: the most recent backup succeeded and is not older than the schedule permits; `stale`: two scheduled backups were
 * missed; `failed`: the most recent attempt failed; `none`: there is no backup.
 */
type BackupState = 'ok' | 'stale' | 'failed' | 'none'

export interface BackupStatus {
  state: BackupState
  lastSuccess: BackupRecord | null
  lastEnded: BackupRecord | null
}

/** Returns the state of the backups. `pattern` is null if none are scheduled. */
export function backupStatus(db: Db, pattern: string | null, now: Instant): BackupStatus {
  const [success, ended] = [lastSuccess(db), lastEnded(db)]
  return { state: stateOf(success, ended, pattern, now), lastSuccess: success, lastEnded: ended }
}

function stateOf(
  success: BackupRecord | null,
  ended: BackupRecord | null,
  pattern: string | null,
  now: Instant,
): BackupState {
  if (ended?.status === 'failed') return 'failed'
  if (!success) return 'none'
  const missed = pattern === null ? [] : previousTimes(pattern, 'UTC', now, 2)
  const beforeLast = missed.length === 2 ? missed[1] : undefined
  return beforeLast !== undefined && success.startedAt < beforeLast ? 'stale' : 'ok'
}
