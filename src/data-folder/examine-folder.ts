import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { firstFew } from '../core/text.ts'
import { readSegment, spooledSegments } from '../ingest/segment-reader.ts'
import type { Db } from '../store/database.ts'
import { diskSpace } from '../store/disk-space.ts'
import { inspectDatabase, openToRead } from '../store/inspect-database.ts'
import { type Examined, examineFolder, ListError, listedFiles } from '../warehouse/inspect-warehouse-folder.ts'
import type { ExaminedFolder } from './folder-access.ts'
import { cutDatabase, doctorCommand, FolderError, lostEvents } from './folder-errors.ts'
import type { FolderPaths } from './folder-paths.ts'
import { checkKey, keyModeWarning } from './sealed-secrets.ts'

/** The result of one check. */
export interface Finding {
  /** Name of the check: one or two words in lower case. */
  check: string
  /** `note`: not an error, but important to know. */
  state: 'good' | 'note' | 'wrong'
  /** Result, with advice about a problem. Contains nothing from events. */
  says: string
}

/** With less free space than this, SQLite and the spool will soon be unable to write. */
const MIN_FREE_BYTES = 500 * 2 ** 20

/**
 * Checks everything in a data folder without changing it. Skips files that a running server is writing. `progress` is
 * called after each file with the number of files checked.
 */
export async function examine(
  examined: ExaminedFolder,
  progress: (done: number, of: number) => void,
): Promise<Finding[]> {
  const { paths } = examined
  const database = databaseFinding(examined)
  const findings = [...folderFindings(examined), database]
  // Tables of older versions can't be read before the upgrade.
  if (database.state === 'good') {
    const db = openToRead(examined.database)
    try {
      findings.push(keyFinding(paths, db), ...(await fileFindings(examined, db, progress)))
    } finally {
      db.close()
    }
  }
  return [...findings, spoolFinding(paths), diskFinding(paths)]
}

export const good = (check: string, says: string): Finding => ({ check, state: 'good', says })
export const note = (check: string, says: string): Finding => ({ check, state: 'note', says })
export const wrong = (check: string, says: string): Finding => ({ check, state: 'wrong', says })

function folderFindings({ paths: { folder }, readOnly }: ExaminedFolder): Finding[] {
  return [...modeFindings(folder), ...(readOnly === null ? [] : [readOnlyNote(folder, readOnly)])]
}

const readOnlyNote = (folder: string, reason: string) =>
  note('folder', `${folder} ${reason}; it was checked without writing to it`)

function modeFindings(folder: string): Finding[] {
  const mode = statSync(folder).mode & 0o777
  if ((mode & 0o077) === 0) return [good('folder', `${folder} is accessible only to its owner`)]
  const says = `other users of this machine can enter ${folder} (mode ${mode.toString(8)}) and read its events; run "chmod 700 ${folder}"`
  return [wrong('folder', says)]
}

function databaseFinding({ paths, database, isRunning }: ExaminedFolder): Finding {
  const state = inspectDatabase(database, { isLive: isRunning, isThorough: true })
  const advice = `restore a backup, or run "${doctorCommand(paths, '--rebuild')}" to create a new one`
  if (state.kind === 'damaged') return wrong('database', `${paths.database} is damaged (${state.reason}); ${advice}`)
  if (state.kind === 'cut') return wrong('database', cutDatabase(paths, state.reason).message)
  if (state.kind === 'empty') return wrong('database', `${paths.database} is missing or empty; ${advice}`)
  const { schema } = state
  if (schema > migrations.length) {
    return wrong(
      'database',
      `written by a newer version (schema ${schema}, this version supports ${migrations.length})`,
    )
  }
  if (schema < migrations.length)
    return note(
      'database',
      `intact, schema ${schema}; the next start upgrades it to schema ${migrations.length}, see "tagwarden upgrade --check". Files and key were not checked`,
    )
  return good('database', `intact, schema ${schema}`)
}

function keyFinding(paths: FolderPaths, db: Db): Finding {
  try {
    checkKey(paths, db)
  } catch (error) {
    if (error instanceof FolderError) return wrong('key', error.message)
    throw error
  }
  const exposed = existsSync(paths.key) ? keyModeWarning(paths) : null
  return exposed ? wrong('key', exposed) : good('key', 'decrypts all stored secrets')
}

async function fileFindings(
  { paths, isRunning, temporaryFolder }: ExaminedFolder,
  db: Db,
  progress: (done: number, of: number) => void,
): Promise<Finding[]> {
  try {
    const lost = existsSync(paths.events) ? 0 : listedFiles(db)
    if (lost > 0) return [wrong('files', lostEvents(paths, lost).message)]
    const parts = { db, folder: paths.events, spoolFolder: paths.spool }
    const { listed, broken, uncompacted, unlisted } = await examineFolder(parts, {
      isRunning,
      temporaryFolder,
      progress,
    })
    const findings = [
      ...broken.map(({ path, fault }) => wrong('files', `${path} ${fault}`)),
      ...(uncompacted > 0 && isRunning ? [uncompactedNote(uncompacted)] : []),
      ...(unlisted ? unlistedFindings(paths, unlisted) : [UNLISTED_NOT_CHECKED]),
    ]
    if (findings.length > 0) return findings
    return [good('files', listed === 0 ? 'none yet' : `all ${listed} are present and readable`)]
  } catch (error) {
    if (error instanceof ListError) return [wrong('files', `the list of files is unreadable (${error.message})`)]
    throw error
  }
}

const uncompactedNote = (files: number) =>
  note(
    'files',
    `${files} files of hours that ended more than 6 h ago are not compacted; see the server's log for failed merges`,
  )

const UNLISTED_NOT_CHECKED = note('files', 'unlisted files were not checked, because a running server is writing files')

function unlistedFindings(paths: FolderPaths, { strays, leftovers }: NonNullable<Examined['unlisted']>): Finding[] {
  const says = `${strays.length} files are not listed (${firstFew(strays)}); run "${doctorCommand(paths, '--rebuild')}" to add them`
  return [
    ...(strays.length > 0 ? [wrong('files', says)] : []),
    ...(leftovers.length > 0
      ? [note('files', `the next start removes ${leftovers.length} leftovers of a killed process`)]
      : []),
  ]
}

function spoolFinding({ spool }: FolderPaths): Finding {
  const names = spooledSegments(spool)
  const damaged = names.filter((name) => {
    const path = join(spool, `${name}.ndjson`)
    // A running server may have loaded the segment in the meantime.
    if (!existsSync(path)) return false
    const { broken, isTorn } = readSegment(readFileSync(path))
    // An incomplete batch at the end of the file was never acknowledged.
    return broken.some(({ batches }) => batches > 0) && !(isTorn && broken.length === 1)
  })
  if (damaged.length > 0) {
    return wrong(
      'spool',
      `${damaged.length} of ${names.length} segments have unreadable batches (${firstFew(damaged)}); the next start keeps the others`,
    )
  }
  return good('spool', names.length === 0 ? 'empty' : `${names.length} segments are waiting to be loaded`)
}

function diskFinding({ folder }: FolderPaths): Finding {
  const { freeBytes, totalBytes } = diskSpace(folder)
  const says = `${Math.floor(freeBytes / 2 ** 20)} MiB free (${Math.floor((100 * freeBytes) / totalBytes)} %)`
  return freeBytes < MIN_FREE_BYTES ? wrong('disk', `only ${says}`) : good('disk', says)
}
