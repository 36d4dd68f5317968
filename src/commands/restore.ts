import { BackupDamage } from '../backups/backup-manifest.ts'
import { locateBackups } from '../backups/open-place.ts'
import { restoreBackup } from '../backups/restore-backup.ts'
import { countText, timeText } from '../core/text.ts'
import { type Command, required } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'

export const restore: Command = {
  name: 'restore',
  summary:
    'Restores a backup into an empty or absent data folder, and compares every checksum. The restored server sends nothing until you run "tagwarden resume".',
  flags: {
    ...DATA_FLAG,
    from: { type: 'string', value: 'DIR|s3://…', meaning: 'Place of the backups, or the folder of one backup' },
    backup: { type: 'string', value: 'NAME', meaning: 'Name of the backup (default: the most recent)' },
    json: { type: 'boolean', meaning: 'Print {name, createdAt, files} as JSON' },
  },
  async run(invocation) {
    const { flags, env } = invocation
    const from = required(restore, invocation, 'from')
    const { data } = configOf(invocation)
    const found = await locateBackups(from, env, typeof flags.backup === 'string' ? flags.backup : null)
    const last = found.at(-1)
    if (!last) throw new Error('no backup was found')
    try {
      const { name, createdAt, files, missing } = await restoreBackup(last.place, last.name, data, progress)
      if (flags.json) console.log(JSON.stringify({ name, createdAt, files: files.length }))
      else
        console.log(
          [
            `restored ${countText(files.length)} files of ${timeText(createdAt)} into ${data}`,
            ...missing.map((path) => `note: ${path} was already missing when the backup was made`),
            `The server sends nothing until you run "tagwarden resume --data ${data}".`,
          ].join('\n'),
        )
      return 0
    } catch (error) {
      if (!(error instanceof BackupDamage)) throw error
      console.error(`tagwarden: the backup ${last.name} is damaged, and nothing was restored:\n${error.message}`)
      return 1
    }
  },
}

const PROGRESS_AFTER_MS = 2000
const started = performance.now()

function progress(done: number, of: number): void {
  if (!process.stderr.isTTY || performance.now() - started < PROGRESS_AFTER_MS) return
  process.stderr.write(done < of ? `\r${done} of ${of} files restored` : '\r\x1b[K')
}
