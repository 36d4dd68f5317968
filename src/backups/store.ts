import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'

/** One attempt to back up the data folder. */
export interface BackupRecord {
  id: string
  status: 'running' | 'succeeded' | 'failed'
  /** Folder or `s3://` address. */
  place: string
  /** Name of the backup in its place; null unless it succeeded. */
  name: string | null
  startedAt: Instant
  /** Null while it is running. */
  finishedAt: Instant | null
  files: number | null
  bytes: number | null
  /** Bytes that this backup added to its place. */
  addedBytes: number | null
  /** Reason of the failure. */
  error: string | null
}

/** Result of a backup that succeeded. */
export type BackupResult = { [F in 'name' | 'files' | 'bytes' | 'addedBytes']: NonNullable<BackupRecord[F]> }

const COLUMNS = 'id, status, place, name, startedAt, finishedAt, files, bytes, addedBytes, error'

/** Records that a backup has started, deletes expired records, and returns the id. */
export function beginRecord(db: Db, place: string, now: Instant): string {
  const id = newId('bkp', now)
  tx(db, () => {
    prepared(db, 'DELETE FROM backup WHERE startedAt < ?').run(now - RECORD_RETENTION_MS)
    prepared(db, `INSERT INTO backup (id, status, place, startedAt) VALUES (?, 'running', ?, ?)`).run(id, place, now)
  })
  return id
}

/** Records the result of a backup, or the reason of its failure. Does nothing if the backup has already failed. */
export function endRecord(db: Db, id: string, result: BackupResult | { error: string }, now: Instant): void {
  const empty = { name: null, files: null, bytes: null, addedBytes: null, error: null }
  const status = 'error' in result ? 'failed' : 'succeeded'
  tx(db, () => {
    prepared(
      db,
      `UPDATE backup SET status = @status, finishedAt = @now, name = @name, files = @files, bytes = @bytes,
         addedBytes = @addedBytes, error = @error WHERE id = @id AND status = 'running'`,
    ).run({ ...empty, ...result, id, status, now })
  })
}

/** Marks backups that are recorded as running as failed. */
export function failInterrupted(db: Db, now: Instant): void {
  const running = prepared<[], { id: string }>(db, `SELECT id FROM backup WHERE status = 'running'`).all()
  for (const { id } of running) endRecord(db, id, { error: 'the backup was interrupted' }, now)
}

/** Deletes the record of the backup from which this database was restored. */
export function forgetRunning(db: Db): void {
  tx(db, () => void prepared(db, `DELETE FROM backup WHERE status = 'running'`).run())
}

export function findBackup(db: Db, id: string): BackupRecord {
  const found = prepared<[string], BackupRecord>(db, `SELECT ${COLUMNS} FROM backup WHERE id = ?`).get(id)
  if (!found) throw new AppError('notFound', 'no such backup')
  return found
}

/** Lists all attempts, most recent first. */
export function listBackups(db: Db, page: PageRequest): Page<BackupRecord> {
  return readPage<BackupRecord, BackupRecord>(db, page, {
    sql: `SELECT ${COLUMNS} FROM backup WHERE true`,
    values: {},
    sortBy: 'id',
    descending: true,
    itemOf: (row) => row,
  })
}

/** Returns the most recent attempt that has ended; null if there is none. */
export function lastEnded(db: Db): BackupRecord | null {
  return lastWith(db, `status <> 'running'`, 'finishedAt')
}

/** Returns the most recent backup that succeeded; null if there is none. */
export function lastSuccess(db: Db): BackupRecord | null {
  return lastWith(db, `status = 'succeeded'`, 'startedAt')
}

/** Returns the most recent attempt to this place; null if there is none. */
export function lastAttempt(db: Db, place: string): BackupRecord | null {
  return (
    prepared<[string], BackupRecord>(
      db,
      `SELECT ${COLUMNS} FROM backup WHERE place = ? ORDER BY startedAt DESC LIMIT 1`,
    ).get(place) ?? null
  )
}

function lastWith(db: Db, condition: string, order: 'startedAt' | 'finishedAt'): BackupRecord | null {
  return (
    prepared<[], BackupRecord>(
      db,
      `SELECT ${COLUMNS} FROM backup WHERE ${condition} ORDER BY ${order} DESC LIMIT 1`,
    ).get() ?? null
  )
}
