import type { Room } from '../base.ts'
import type { Instant } from '../core/clock.ts'
import { nextTime } from '../core/cron-schedule.ts'
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
    idle: () => runner.idle(),
    stop: () => runner.close(),
  }
}
