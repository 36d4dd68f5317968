import { existsSync } from 'node:fs'
import { migrations } from '../../migrations/index.ts'
import { version } from '../../package.json'
import { SECOND_MS } from '../core/clock.ts'
import { countText, sizeText } from '../core/text.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { diskSpace } from '../store/disk-space.ts'
import { FolderInUse, lockFolder } from '../store/folder-lock.ts'
import { inspectDatabase, openToRead } from '../store/inspect-database.ts'
import { databaseBytes, upgradeBytes, upgradeCopyPath } from '../store/upgrade-copy.ts'
import { type Command, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'

/** Deliberately low estimate of the speed at which a database is checked, copied and migrated. */
const BYTES_PER_SECOND = 50e6

/** Effect of the next start of this program on a data folder. */
interface UpgradePlan {
  /** `current`: nothing. `upgrade`: it upgrades the database. Otherwise it does not start. */
  state: 'current' | 'upgrade' | 'newer' | 'full' | 'damaged'
  /** Schema of the database; null if the database is damaged. */
  schema: number | null
  /** Schema of this program. */
  supportedSchema: number
  /** Names of the migrations that would run. */
  migrations: string[]
  databaseBytes: number
  /** Free disk space that the upgrade requires; 0 without an upgrade. */
  requiredBytes: number
  freeBytes: number
  /** Rough duration of the upgrade; 0 without an upgrade. */
  estimatedMs: number
  /** Path of the copy that the upgrade makes first; null without an upgrade. */
  copy: string | null
  says: string
}

export const upgrade: Command = {
  name: 'upgrade',
  summary:
    'Describes how this program would upgrade a data folder at its next start, and changes nothing. Exits with 1 when it could not open the folder.',
  flags: {
    ...DATA_FLAG,
    check: { type: 'boolean', meaning: 'Required: the upgrade itself is done by the next start of the server' },
    json: {
      type: 'boolean',
      meaning:
        'Print {state, schema, supportedSchema, migrations, databaseBytes, requiredBytes, freeBytes, estimatedMs, copy, says} as JSON',
    },
  },
  async run(invocation) {
    const { data } = configOf(invocation)
    if (!invocation.flags.check) {
      throw new UsageError('upgrade: --check is missing; the next start of the server upgrades the data folder')
    }
    if (!existsSync(folderPaths(data).database)) throw new UsageError(`upgrade: data folder not found: ${data}`)
    const plan = planUpgrade(data)
    console.log(invocation.flags.json ? JSON.stringify(plan) : plan.says)
    return plan.state === 'current' || plan.state === 'upgrade' ? 0 : 1
  },
}

function planUpgrade(data: string): UpgradePlan {
  const { database } = folderPaths(data)
  const { freeBytes } = diskSpace(data)
  const own = migrations.length
  const none = { supportedSchema: own, migrations: [], requiredBytes: 0, freeBytes, estimatedMs: 0, copy: null }
  const state = inspectDatabase(database, { isLive: isRunning(data) })
  if (state.kind !== 'sound') {
    const reason = state.kind === 'empty' ? 'it is empty' : state.reason
    const says = `${database} cannot be read (${reason}); run "tagwarden doctor"`
    return { ...none, state: 'damaged', schema: null, databaseBytes: 0, says }
  }
  const { schema } = state
  const bytes = bytesOf(database)
  const known = { ...none, schema, databaseBytes: bytes }
  if (schema === own) {
    return {
      ...known,
      state: 'current',
      says: `the database has the schema of this version (${schema}); no upgrade is needed`,
    }
  }
  if (schema > own) {
    const copy = upgradeCopyPath(database, own)
    const hint = existsSync(copy) ? `. The copy from before the upgrade is ${copy}` : ''
    const says = `the database was written by a newer version (schema ${schema}, version ${version} supports ${own}); install that version${hint}`
    return { ...known, state: 'newer', says }
  }
  const requiredBytes = upgradeBytes(bytes)
  const steps = migrations.slice(schema).map(({ name }) => name)
  const estimatedMs = Math.max(1, Math.ceil(bytes / BYTES_PER_SECOND)) * SECOND_MS
  const copy = upgradeCopyPath(database, schema)
  const plan = { ...known, migrations: steps, requiredBytes, estimatedMs, copy }
  const what = `the next start upgrades the database (${sizeText(bytes)}) from schema ${schema} to ${own}: ${countText(steps.length)} ${steps.length === 1 ? 'migration' : 'migrations'}, about ${countText(estimatedMs / SECOND_MS)} s. It first copies the database to ${copy}`
  const space = `${sizeText(requiredBytes)} of free disk space are required, ${sizeText(freeBytes)} are available`
  if (freeBytes < requiredBytes)
    return {
      ...plan,
      state: 'full',
      says: `the next start would not upgrade the database from schema ${schema} to ${own}: ${space}`,
    }
  return { ...plan, state: 'upgrade', says: `${what}. ${space}` }
}

/** True while a server uses the folder. */
function isRunning(folder: string): boolean {
  // Locking would create the file.
  if (!existsSync(`${folder}/lock`)) return false
  try {
    lockFolder(folder)()
    return false
  } catch (error) {
    if (error instanceof FolderInUse) return true
    throw error
  }
}

function bytesOf(database: string): number {
  const db = openToRead(database)
  try {
    return databaseBytes(db)
  } finally {
    db.close()
  }
}
