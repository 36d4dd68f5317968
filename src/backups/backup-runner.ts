import type { Subprocess } from 'bun'
import { workerEnv } from '../core/child-env.ts'
import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { programCommand } from '../core/program-command.ts'
import { timeText } from '../core/text.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import type { HistoryBase } from '../history-base.ts'
import type { Db } from '../store/database.ts'
import { type BackupStatus, backupStatus, isBackupDue } from './backup-schedule.ts'
import { isBackupRunning } from './create-backup.ts'
import { openPlace } from './open-place.ts'
import { s3Environment } from './s3-place.ts'
import { beginRecord, endRecord, failInterrupted, forgetRunning, lastAttempt } from './store.ts'

/** Where and when backups are made. */
interface BackupPlan {
  /** Folder or `s3://` address. */
  to: string
  keep: number
  /** Cron pattern in UTC; null if backups are made only on request. */
  pattern: string | null
}

export interface BackupRunnerDeps extends Pick<HistoryBase, 'notifyOperator' | 'quiet'> {
  db: Db
  clock: Clock
  /** The data folder. */
  folder: string
  plan: BackupPlan
}

/** Makes backups in another process, so that copying and hashing don't slow down the server. */
export class BackupRunner {
  /** Folder or address of the backups. */
  readonly place: string
  private child: Subprocess | null = null
  private ended: Promise<void> = Promise.resolve()
  private notified: { state: BackupStatus['state']; at: Instant } | null = null

  /** Throws `invalid` if the place can't be used. */
  constructor(private readonly deps: BackupRunnerDeps) {
    const { db, clock, folder, quiet } = deps
    this.place = openPlace(deps.plan.to, process.env).title
    if (quiet()) forgetRunning(db)
    else if (!isBackupRunning(folderPaths(folder))) failInterrupted(db, clock.now())
  }

  status(): BackupStatus {
    const { db, clock, plan } = this.deps
    return backupStatus(db, plan.pattern, clock.now())
  }

  /** Starts a scheduled backup that is due, and notifies the operator if backups fail or are missing. */
  check(): void {
    const { db, clock, plan } = this.deps
    if (plan.pattern === null) return
    if (!this.child && isBackupDue(lastAttempt(db, this.place), plan.pattern, clock.now())) this.start()
    this.notifyIfMissing()
  }

  /** Starts a backup and returns its id. Throws `conflict` while another one is running. */
  start(): string {
    const { db, clock, folder, plan, quiet } = this.deps
    if (quiet())
      throw new AppError('conflict', 'this server is quiet, because its data folder is a copy; resume it first')
    if (this.child || isBackupRunning(folderPaths(folder))) throw new AppError('conflict', 'another backup is running')
    const id = beginRecord(db, this.place, clock.now())
    const flags = ['--id', id, '--data', folder, '--to', plan.to, '--keep', String(plan.keep)]
    const child = Bun.spawn([...programCommand(), 'backup', 'job', ...flags], {
      env: workerEnv(s3Environment(process.env)),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    this.child = child
    this.ended = child.exited.then((code) => {
      this.child = null
      // Otherwise, the process has recorded the result.
      const error = code === 143 ? 'the server was stopped' : `the process ended with code ${code}`
      if (code !== 0) endRecord(db, id, { error }, clock.now())
      this.notifyIfMissing()
    })
    return id
  }

  /** Resolves when no backup is running. */
  idle(): Promise<void> {
    return this.ended
  }

  /** Stops the running backup. */
  async close(): Promise<void> {
    this.child?.kill('SIGTERM')
    await this.ended
  }

  /** At most once a day while the state is the same. */
  private notifyIfMissing(): void {
    const { clock, notifyOperator } = this.deps
    const { state, lastSuccess, lastEnded } = this.status()
    const now = clock.now()
    if (state !== 'failed' && state !== 'stale') {
      this.notified = null
      return
    }
    if (this.notified?.state === state && now - this.notified.at < DAY_MS) return
    this.notified = { state, at: now }
    const last = lastSuccess ? `The last backup is of ${timeText(lastSuccess.startedAt)}.` : 'There is no backup yet.'
    notifyOperator(
      state === 'failed'
        ? { subject: 'a backup failed', text: `${lastEnded?.error} (${lastEnded?.place}). ${last}` }
        : { subject: 'backups are missing', text: `The last two scheduled backups were not made. ${last}` },
    )
  }
}
