import type { Room } from '../base.ts'
import { type Instant, SECOND_MS } from '../core/clock.ts'
import { nextTime } from '../core/cron-schedule.ts'
import type { Metric } from '../core/metric.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import type { HistoryBase } from '../history-base.ts'
import { BackupRunner } from './backup-runner.ts'
import type { BackupStatus } from './backup-schedule.ts'
import { backupRoutes } from './routes.ts'

export interface BackupsRoom extends Room {
  status(): BackupStatus
}

/** Opens the backups of the data folder: on a schedule if a place is configured, else on request. */
export function openBackups(base: HistoryBase): BackupsRoom {
  const { db, clock, config, notifyOperator, quiet } = base
  const { data: folder, backupTo, backupSchedule, backupKeep: keep } = config
  const schedule = backupTo === '' ? null : backupSchedule
  const plan = { to: backupTo || folderPaths(folder).backups, keep, pattern: schedule }
  const runner = new BackupRunner({ db, clock, folder, plan, notifyOperator, quiet })
  const nextAt = (): Instant | null => (schedule === null ? null : nextTime(schedule, 'UTC', clock.now()))
  return {
    status: () => runner.status(),
    routes: backupRoutes({ db, folder, runner, nextAt, keep, schedule }),
    jobs: [{ name: 'back up', isOutbound: true, pattern: '40 * * * * *', run: async () => runner.check() }],
    metrics: () => backupMetrics(runner.status(), { db, quiet }),
    idle: () => runner.idle(),
    stop: () => runner.close(),
  }
}

/** Metrics of the last backup have no value until there is one. */
function backupMetrics({ lastSuccess }: BackupStatus, { db, quiet }: Pick<HistoryBase, 'db' | 'quiet'>): Metric[] {
  const failed = db.prepare<[], number>("SELECT value FROM total WHERE name = 'backupsFailed'").pluck().get() ?? 0
  const ofLast = (measure: (last: NonNullable<BackupStatus['lastSuccess']>) => number) =>
    lastSuccess === null ? [] : [{ labels: {}, value: measure(lastSuccess) }]
  return [
    {
      name: 'tagwarden_backup_last_success_timestamp_seconds',
      type: 'gauge',
      help: 'Time at which the last successful backup started.',
      samples: ofLast(({ startedAt }) => startedAt / SECOND_MS),
    },
    {
      name: 'tagwarden_backup_duration_seconds',
      type: 'gauge',
      help: 'Duration of the last successful backup.',
      samples: ofLast(({ startedAt, finishedAt }) => ((finishedAt ?? startedAt) - startedAt) / SECOND_MS),
    },
    {
      name: 'tagwarden_backup_bytes',
      type: 'gauge',
      help: 'Size of the last successful backup in bytes.',
      samples: ofLast(({ bytes }) => bytes ?? 0),
    },
    { name: 'tagwarden_backups_failed_total', type: 'counter', help: 'Backups that failed.', value: failed },
    {
      name: 'tagwarden_quiet',
      type: 'gauge',
      help: '1 while the server sends nothing, because its data folder was copied or restored.',
      value: quiet() ? 1 : 0,
    },
  ]
}
