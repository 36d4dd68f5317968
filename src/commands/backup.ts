import { createBackup } from '../backups/create-backup.ts'
import { openPlace } from '../backups/open-place.ts'
import { systemClock } from '../core/clock.ts'
import { countText, sizeText } from '../core/text.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'
import { logTo } from './json-log.ts'

export const backup: Command = {
  name: 'backup',
  summary:
    'Backs up a data folder, also while its server is running. Later backups to the same place add only what is new.',
  flags: {
    ...DATA_FLAG,
    to: {
      type: 'string',
      value: 'DIR|s3://…',
      meaning: 'Folder or s3://bucket/prefix for the backup (default: TAGWARDEN_BACKUP_TO)',
    },
    keep: {
      type: 'string',
      value: 'N',
      meaning:
        'Number of backups to keep; older ones are then deleted (default: TAGWARDEN_BACKUP_KEEP with its place, else all)',
    },
    json: { type: 'boolean', meaning: 'Print {place, name, files, bytes, addedBytes, durationMs} as JSON' },
  },
  async run(invocation) {
    const { flags, env } = invocation
    const config = configOf(invocation)
    const to = typeof flags.to === 'string' && flags.to !== '' ? flags.to : config.backupTo
    if (to === '') throw new UsageError('backup: --to is missing')
    const place = openPlace(to, env)
    const log = logTo(config.logLevel)
    const begun = performance.now()
    const order = { folder: config.data, place, clock: systemClock, warn: log.warn }
    const keep = keepOf(invocation) ?? (to === config.backupTo ? config.backupKeep : null)
    const result = await createBackup({ ...order, keep })
    const durationMs = Math.round(performance.now() - begun)
    if (flags.json) console.log(JSON.stringify({ place: place.title, ...result, durationMs }))
    else
      console.log(
        `${result.name} in ${place.title}: ${countText(result.files)} files, ${sizeText(result.bytes)}, of which ${sizeText(result.addedBytes)} are new`,
      )
    return 0
  },
}

/** Returns the value of `--keep`; null if it is not given. */
export function keepOf({ flags }: Invocation): number | null {
  if (flags.keep === undefined) return null
  const keep = Number(flags.keep)
  if (Number.isInteger(keep) && keep >= 1 && keep <= 10_000) return keep
  throw new UsageError(`backup: --keep must be a whole number from 1 to 10000, not "${flags.keep}"`)
}
