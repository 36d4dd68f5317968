import { setPriority } from 'node:os'
import { createBackup } from '../backups/create-backup.ts'
import { openPlace } from '../backups/open-place.ts'
import { systemClock } from '../core/clock.ts'
import { keepOf } from './backup.ts'
import { type Command, required } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'
import { logTo } from './json-log.ts'

/** Nice value of the process, so that the server has priority. */
const NICENESS = 10

/** Makes a backup that the server has recorded as running. */
export const backupJob: Command = {
  name: 'backup job',
  isInternal: true,
  summary: 'Makes a backup for a running server; started by the server',
  flags: {
    ...DATA_FLAG,
    to: { type: 'string', value: 'DIR|s3://…', meaning: 'Place of the backup' },
    keep: { type: 'string', value: 'N', meaning: 'Number of backups to keep' },
    id: { type: 'string', value: 'ID', meaning: 'Record of the backup' },
  },
  async run(invocation) {
    setPriority(NICENESS)
    const { data: folder, logLevel } = configOf(invocation)
    const place = openPlace(required(backupJob, invocation, 'to'), invocation.env)
    const id = required(backupJob, invocation, 'id')
    const { warn } = logTo(logLevel)
    await createBackup({ folder, place, keep: keepOf(invocation), id, clock: systemClock, warn })
    return 0
  },
}
