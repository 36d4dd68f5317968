import { existsSync } from 'node:fs'
import { type Config, retentionMs } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { countText } from '../core/text.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { type Imported, importEvents as importInto, isImportable } from '../data-folder/import-events.ts'
import { openAllStores, type Stores } from '../data-folder/open-folder.ts'
import { importDomains } from '../domains/domain-directory.ts'
import { FolderInUse } from '../store/folder-lock.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'
import { logTo } from './json-log.ts'

const PROGRESS_AFTER_MS = 2000

export const importEvents: Command = {
  name: 'import events',
  operands: 'FILE…',
  summary:
    'Imports past events into a data folder while its server is stopped. Files: .ndjson or .jsonl, optionally with .gz, or .parquet.',
  flags: {
    ...DATA_FLAG,
    domain: {
      type: 'string',
      value: 'ID',
      meaning: 'Domain of all events. If omitted, each event must have a domainId',
    },
    warehouse: { type: 'string', value: 'URL', meaning: 'ClickHouse database that stores the events' },
    json: { type: 'boolean', meaning: 'Print {imported, refused, errors: [{file, line, error}]} as JSON' },
  },
  async run(invocation) {
    const { names, flags } = invocation
    const config = configOf(invocation)
    checkFiles(names)
    const stores = await openStopped(config)
    try {
      const domainId = domainOf(stores, flags.domain)
      const now = systemClock.now()
      const order = {
        files: names,
        domainId,
        now,
        from: now - retentionMs(config),
        progress: progressBar(names.length),
      }
      const result = await importInto(stores, order)
      // Also sends what an interrupted import has left in the folder.
      if (!stores.warehouse.readsSpool) await stores.warehouse.compact()
      if (flags.json) console.log(JSON.stringify(result))
      else console.log(linesOf(result).join('\n'))
      return 0
    } finally {
      await stores.spool.close()
      stores.close()
    }
  },
}

function checkFiles(files: readonly string[]): void {
  if (files.length === 0) throw new UsageError('import events: no file given')
  for (const file of files) {
    if (!isImportable(file))
      throw new UsageError(`import events: ${file} must end in .ndjson, .jsonl, .ndjson.gz, .jsonl.gz or .parquet`)
    if (!existsSync(file)) throw new UsageError(`import events: file not found: ${file}`)
  }
}

async function openStopped({ data, logLevel, warehouse, outboundCa: ca }: Config): Promise<Stores> {
  if (!existsSync(folderPaths(data).database)) throw new UsageError(`import events: data folder not found: ${data}`)
  const log = logTo(logLevel === 'info' ? 'warn' : logLevel)
  try {
    return await openAllStores(data, systemClock, {
      clickhouse: warehouse && { ...warehouse, cluster: null, ca },
      report: (error, where) => log.error(error, where),
      log,
      notifyOperator: ({ subject, text }) => log.warn(`${subject}: ${text}`),
    })
  } catch (error) {
    if (error instanceof FolderInUse) throw new UsageError(`import events: ${error.message}; stop it first`)
    throw error
  }
}

function domainOf({ db }: Stores, domain: Invocation['flags'][string]): string | null {
  if (domain === undefined) return null
  if (typeof domain === 'string' && importDomains(db).has(domain)) return domain
  throw new UsageError(`import events: --domain: no such domain: ${domain}`)
}

function linesOf({ imported, refused, errors }: Imported): string[] {
  return [
    `${countText(imported)} events imported, ${countText(refused)} lines rejected`,
    ...errors.map(({ file, line, error }) => `${file}:${line}: ${error}`),
  ]
}

/** Returns a function that shows progress on a terminal. */
function progressBar(files: number): (file: string, done: number) => void {
  const started = performance.now()
  let shown = ''
  return (file, done) => {
    if (!process.stderr.isTTY || performance.now() - started < PROGRESS_AFTER_MS) return
    const text = `${Math.floor(done * 100)} % of ${files === 1 ? file : `${file} (${files} files)`}`
    if (text === shown) return
    shown = text
    process.stderr.write(done < 1 ? `\r\x1b[K${text}` : '\r\x1b[K')
  }
}
