import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { SECOND_MS, systemClock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import { countText, eventsText, timeText } from '../core/text.ts'
import { FolderError } from '../data-folder/folder-errors.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { type Migration, migrateWarehouse as migrate } from '../data-folder/migrate-warehouse.ts'
import { FolderInUse } from '../store/folder-lock.ts'
import { type ClickhouseLogin, parseClickhouseUrl } from '../transport/clickhouse-url.ts'
import type { DayProgress } from '../warehouse/migration/copy-history.ts'
import { clickhouseFailure } from '../warehouse/open-warehouse.ts'
import { type Command, required, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'
import { logTo } from './json-log.ts'

const FOLDER = 'folder'

export const migrateWarehouse: Command = {
  name: 'migrate warehouse',
  summary: 'Moves the stored events to ClickHouse, or back to the data folder, while the server is stopped.',
  flags: {
    ...DATA_FLAG,
    to: {
      type: 'string',
      value: 'TARGET',
      meaning: 'ClickHouse database (clickhouse://…), or folder for the data folder',
    },
    warehouse: { type: 'string', value: 'URL', meaning: 'ClickHouse database that has the events, with --to folder' },
    'skip-damaged': { type: 'boolean', meaning: 'Move the events although some files are damaged' },
    restart: { type: 'boolean', meaning: 'Discard the progress of an unfinished migration' },
    json: { type: 'boolean', meaning: 'Print each day and the result as a line of JSON' },
  },
  async run(invocation) {
    const { flags } = invocation
    const target = required(migrateWarehouse, invocation, 'to')
    const config = configOf(invocation)
    const { data, outboundCa: ca } = config
    const to = target === FOLDER ? 'folder' : 'clickhouse'
    const address = { ...loginOf(target, config), cluster: null, ca }
    if (!existsSync(folderPaths(data).database))
      throw new UsageError(`migrate warehouse: data folder not found: ${data}`)
    const log = logTo(config.logLevel === 'info' ? 'warn' : config.logLevel)
    const output = new Output(flags.json === true)
    try {
      const result = await migrate({
        data,
        clock: systemClock,
        to,
        address,
        skipsDamaged: flags['skip-damaged'] === true,
        restarts: flags.restart === true,
        progress: (day) => output.day(day),
        report: (error, where) => log.error(error, where),
        log,
        notifyOperator: ({ subject, text }) => log.warn(`${subject}: ${text}`),
      })
      output.end(result, to)
      return result.isDone ? 0 : 1
    } catch (error) {
      if (error instanceof FolderInUse) throw new UsageError(`migrate warehouse: ${error.message}; stop it first`)
      if (error instanceof FolderError || error instanceof AppError)
        throw new UsageError(`migrate warehouse: ${error.message}`)
      const reason = clickhouseFailure(error) ?? (isDiskFull(error) ? 'the disk is full' : messageOf(error))
      console.error(
        `tagwarden: migrate warehouse: ${reason}. The events are still where they were. Run the same command again to continue`,
      )
      return 1
    }
  },
}

const isDiskFull = (error: unknown) => /No space left on device|ENOSPC|EDQUOT|EFBIG/.test(messageOf(error))

/** Returns the ClickHouse database of a migration. Throws `UsageError`. */
function loginOf(target: string, { warehouse }: Config): ClickhouseLogin {
  if (target === FOLDER) {
    if (warehouse) return warehouse
    throw new UsageError('migrate warehouse: --to folder requires --warehouse or TAGWARDEN_WAREHOUSE')
  }
  try {
    return parseClickhouseUrl(target)
  } catch (error) {
    throw new UsageError(`migrate warehouse: --to: must be ${FOLDER}, or ${messageOf(error).replace(/^must be /, '')}`)
  }
}

/** Prints the progress and the result. */
class Output {
  private readonly begun = performance.now()
  private events = 0

  constructor(private readonly isJson: boolean) {}

  day(progress: Parameters<DayProgress>[0]): void {
    const { day, events, done, total } = progress
    this.events += events
    if (this.isJson) return console.log(JSON.stringify(progress))
    const share = total === 0 ? 100 : Math.floor((100 * done) / total)
    console.log(`${new Date(day).toISOString().slice(0, 10)}: ${eventsText(events)} copied (${share} %)`)
  }

  end(result: Migration, to: 'clickhouse' | 'folder'): void {
    const seconds = (performance.now() - this.begun) / SECOND_MS
    if (this.isJson)
      return console.log(JSON.stringify({ ...result, copied: this.events, seconds: Math.round(seconds * 10) / 10 }))
    for (const path of result.damaged) console.log(`damaged and not copied: events/${path}`)
    for (const name of result.rejected) console.log(`rejected by ClickHouse and kept in the folder: segment ${name}`)
    for (const one of result.differences) console.log(differenceText(one))
    console.log(this.summary(result, to, seconds))
  }

  private summary({ isDone, differences }: Migration, to: 'clickhouse' | 'folder', seconds: number): string {
    if (differences.length > 0)
      return 'The copy is different, so the events are still used where they were. Run the same command again to copy these days again.'
    if (!isDone)
      return 'The events are still used where they were. Restore the damaged files from a backup, or run the command with --skip-damaged to move all others.'
    const copied = `${eventsText(this.events)} copied in ${countText(Math.round(seconds))} s, and the counts are the same.`
    return to === 'clickhouse'
      ? `${copied} The events are in ClickHouse: start the server with TAGWARDEN_WAREHOUSE. The old files are in events/moved.`
      : `${copied} The events are in the data folder: start the server without TAGWARDEN_WAREHOUSE. ClickHouse was not changed.`
  }
}

function differenceText(difference: Migration['differences'][number]): string {
  const { kind, orgId, domainId, vendor, event, hour, inFolder, inClickhouse } = difference
  const what = [kind, orgId, domainId, JSON.stringify(vendor), JSON.stringify(event), timeText(hour)].join(' ')
  return `${what}: ${inFolder ?? 0} in the folder, ${inClickhouse ?? 0} in ClickHouse`
}
