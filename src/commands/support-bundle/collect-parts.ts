import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { cpus, freemem, loadavg, totalmem, uptime } from 'node:os'
import { basename, join } from 'node:path'
import { lagOf, listCollectors, statusOf } from '../../collectors/store.ts'
import type { describeConfig } from '../../config.ts'
import type { ExaminedFolder } from '../../data-folder/folder-access.ts'
import type { FolderPaths } from '../../data-folder/folder-paths.ts'
import type { Db } from '../../store/database.ts'
import { diskSpace } from '../../store/disk-space.ts'
import { schemaStatements, tableSizes, textsIn } from '../../store/inspect-database.ts'
import { timeQueries } from '../../warehouse/inspect-warehouse-folder.ts'
import type { Scrubber } from './scrub-text.ts'

/**
 * Settings whose values are numbers, words or schedules. The values of all others could contain hosts, addresses, paths
 * or names.
 */
const SHOWN = new Set(
  [
    'BACKUP_KEEP',
    'BACKUP_SCHEDULE',
    'DISK_BUDGET',
    'ENDPOINT_LOCK',
    'FLOW_CONCURRENCY',
    'LOG_LEVEL',
    'MAX_CONNECTIONS',
    'QUERY_TIMEOUT_S',
    'QUESTIONS_AT_ONCE',
    'QUESTIONS_PER_CALLER',
    'QUESTIONS_PER_ORGANIZATION',
    'RATE_COLLECT_PER_SECOND',
    'RATE_KEY_PER_MINUTE',
    'RATE_SIGNIN_PER_MINUTE',
    'REQUEST_TIMEOUT_S',
    'RETENTION_DAYS',
    'RUN_RETENTION_DAYS',
  ].map((name) => `TAGWARDEN_${name}`),
)

type Settings = ReturnType<typeof describeConfig>

/** Returns the value of each setting, or `(set)` if the value must not be shown. Empty settings are ''. */
export function shownSettings(settings: Settings): Record<string, string> {
  return Object.fromEntries(
    settings.map(({ name, value, default: fallback }) => {
      const isShown = value === '' || value === fallback || SHOWN.has(name)
      return [name, isShown ? value : '(set)']
    }),
  )
}

/** Columns with names of people, organizations and sites. */
const NAMES: readonly [table: string, column: string][] = [
  ['user', 'email'],
  ['user', 'name'],
  ['org', 'name'],
  ['domain', 'name'],
  ['domain', 'collectHostname'],
  ['project', 'name'],
  ['hostname', 'hostname'],
  ['label', 'name'],
  ['integration', 'label'],
  ['alert', 'name'],
  ['collector', 'name'],
  ['domainVendor', 'vendor'],
  ['countedName', 'event'],
]

const MAX_NAMES = 20_000
/** Shorter words, such as `of`, say nothing on their own. */
const MIN_WORD_LENGTH = 4

/**
 * Returns the words in the names of people, organizations, sites and events, and in settings that are not shown, in lower
 * case. `db` is null if the database can't be read.
 */
export function privateWords(db: Db | null, settings: Settings): Set<string> {
  const shown = shownSettings(settings)
  const hidden = settings.flatMap(({ name, value }) => (shown[name] === value ? [] : [value]))
  const stored = db === null ? [] : NAMES.flatMap(([table, column]) => textsIn(db, table, column, MAX_NAMES))
  const names = [...hidden, ...stored]
  // Words that describe settings, such as `data` and `server`, identify nobody, and occur in most messages.
  const common = new Set(settings.flatMap(({ name, meaning }) => wordsOf(`${name} ${meaning}`)))
  return new Set(names.flatMap(wordsOf).filter((word) => word.length >= MIN_WORD_LENGTH && !common.has(word)))
}

const wordsOf = (text: string) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u)

export const schemaText = (db: Db): string => `${schemaStatements(db).join(';\n')};\n`

/** Sizes of the tables, and durations of queries on the database and the event files. */
export async function databaseParts({ paths, temporaryFolder }: ExaminedFolder, db: Db) {
  return {
    tables: tableSizes(db),
    timings: existsSync(paths.events) ? await timeQueries({ db, folder: paths.events }, temporaryFolder) : [],
  }
}

/** States of the collectors, which are identified by their slots. Contains no names and no tokens. */
export function collectorFacts(db: Db) {
  return listCollectors(db).map((collector) => {
    const { slot, createdAt, seenAt: lastContactAt, version, diskBytes, freeBytes } = collector
    const lagMs = lagOf(collector)
    return { slot, status: statusOf(collector), createdAt, lastContactAt, version, lagMs, diskBytes, freeBytes }
  })
}

/** Returns the metrics of the server with replaced names of collectors. All other labels have fixed values. */
export function scrubMetrics(metrics: string, scrubber: Scrubber): string {
  return metrics.replaceAll(COLLECTOR_LABEL, (_, name: string) => `collector="${scrubber.pseudonymOf(name)}"`)
}

/** The name with its quotes, as in the results of the doctor. */
const COLLECTOR_LABEL = /\bcollector=("(?:[^"\\]|\\.)*")/g

interface FolderSize {
  files: number
  bytes: number
  largestBytes: number
}

/** Sizes of the parts of a data folder, without the names of files. */
export function folderSizes(paths: FolderPaths): Record<string, FolderSize> {
  const { folder, database, late, spool, events, runs, browsers, backupDraft, backups } = paths
  const parts = { events, spool, late, runs, browsers, backups, 'backup-draft': backupDraft }
  const known = new Set([...Object.values(parts), database, `${database}-wal`, `${database}-shm`])
  const others = readdirSync(folder).map((name) => join(folder, name))
  return {
    database: sizeOf([database]),
    'write-ahead log': sizeOf([`${database}-wal`]),
    ...Object.fromEntries(
      Object.entries(parts).map(([name, path]) => [name, sizeOf([path], name === 'spool' ? [basename(late)] : [])]),
    ),
    other: sizeOf(others.filter((path) => !known.has(path))),
  }
}

/** Total size of files and folders with everything in them. Files that disappear in the meantime are not counted. */
function sizeOf(found: readonly string[], without: readonly string[] = []): FolderSize {
  const total: FolderSize = { files: 0, bytes: 0, largestBytes: 0 }
  for (const path of found) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isFile()) {
      total.files++
      total.bytes += stat.size
      total.largestBytes = Math.max(total.largestBytes, stat.size)
    } else if (stat?.isDirectory()) {
      const names = readdirSync(path).filter((name) => !without.includes(name))
      const inside = sizeOf(names.map((name) => join(path, name)))
      total.files += inside.files
      total.bytes += inside.bytes
      total.largestBytes = Math.max(total.largestBytes, inside.largestBytes)
    }
  }
  return total
}

export function machineFacts({ folder }: FolderPaths) {
  return {
    processors: cpus().length,
    load: loadavg(),
    memoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    uptimeS: Math.round(uptime()),
    disk: diskSpace(folder),
    folderMode: (statSync(folder).mode & 0o777).toString(8),
  }
}

/** Log lines are read from the end of the log, up to this size. */
export const MAX_LOG_BYTES = 20 * 2 ** 20

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** Returns the lines of a log, scrubbed. In lines of the program, only level, time, message and stack remain. */
export function scrubLog(log: string, scrubber: Scrubber): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => `${entryOf(line, scrubber) ?? scrubber.text(line)}\n`).join('')
}

/** Reads a line that the program wrote, after a prefix that the system's log may have added. Null for other lines. */
function entryOf(line: string, scrubber: Scrubber): string | null {
  try {
    const { level, time, msg, stack } = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, unknown>
    if (!LEVELS.includes(String(level)) || typeof msg !== 'string') return null
    const at = typeof time === 'number' && Math.abs(time) < 8.64e15 ? new Date(time).toISOString() : null
    const scrubbed = typeof stack === 'string' ? { stack: scrubber.text(stack).split('\n') } : {}
    return JSON.stringify({ level, time: at, msg: scrubber.text(msg), ...scrubbed })
  } catch {
    return null
  }
}
