import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { firstFew } from '../core/text.ts'
import { readSegment, spooledSegments } from '../ingest/segment-reader.ts'
import type { Db } from '../store/database.ts'
import { diskSpace } from '../store/disk-space.ts'
import { inspectDatabase, openToRead } from '../store/inspect-database.ts'
import { type Examined, examineFolder, ListError, listedFiles } from '../warehouse/inspect-folder.ts'
import { cutDatabase, doctorCommand, FolderError, lostEvents } from './folder-errors.ts'
import type { FolderPaths } from './folder-paths.ts'
import { checkKey, keyModeWarning } from './sealed-secrets.ts'

/** The result of one check. */
export interface Finding {
  check: 'folder' | 'database' | 'key' | 'files' | 'spool' | 'disk' | 'settings'
  /** `note`: not wrong, but worth knowing. */
  state: 'good' | 'note' | 'wrong'
  says: string
}

/** With less free space, SQLite and the spool will soon fail to write. */
const LEAST_FREE_BYTES = 500 * 2 ** 20

/**
 * Checks everything in a data folder and changes nothing. While a server is running on it, files that it is writing are
 * left out. `progress` is called after each file with the number of checked files.
 */
export async function examine(
  paths: FolderPaths,
  { isRunning, progress }: { isRunning: boolean; progress(done: number, of: number): void },
): Promise<Finding[]> {
  const database = databaseFinding(paths, isRunning)
  const findings = [...folderFindings(paths), database]
  if (database.state !== 'wrong') {
    const db = openToRead(paths.database)
    try {
      findings.push(keyFinding(paths, db), ...(await fileFindings(paths, db, isRunning, progress)))
    } finally {
      db.close()
    }
  }
  return [...findings, spoolFinding(paths), diskFinding(paths)]
}

const good = (check: Finding['check'], says: string): Finding => ({ check, state: 'good', says })
const note = (check: Finding['check'], says: string): Finding => ({ check, state: 'note', says })
const wrong = (check: Finding['check'], says: string): Finding => ({ check, state: 'wrong', says })

function folderFindings({ folder }: FolderPaths): Finding[] {
  const mode = statSync(folder).mode & 0o777
  if ((mode & 0o077) === 0) return [good('folder', `${folder} is for its owner only`)]
  const says = `other users of this machine may enter ${folder} (mode ${mode.toString(8)}) and read its events; "chmod 700 ${folder}" mends it`
  return [wrong('folder', says)]
}

function databaseFinding(paths: FolderPaths, isRunning: boolean): Finding {
  const state = inspectDatabase(paths.database, { isLive: isRunning, isThorough: true })
  const goOn = `put back a copy, or make a new one by "${doctorCommand(paths, '--rebuild')}"`
  if (state.kind === 'damaged') return wrong('database', `${paths.database} is damaged (${state.reason}); ${goOn}`)
  if (state.kind === 'cut') return wrong('database', cutDatabase(paths, state.reason).message)
  if (state.kind === 'empty') return wrong('database', `${paths.database} is lost or empty; ${goOn}`)
  const { schema } = state
  if (schema > migrations.length) {
    return wrong('database', `a newer version wrote it (schema ${schema}, this one knows ${migrations.length})`)
  }
  if (schema < migrations.length) return note('database', 'it is sound; the next start brings it to this version')
  return good('database', `it is sound, schema ${schema}`)
}

function keyFinding(paths: FolderPaths, db: Db): Finding {
  try {
    checkKey(paths, db)
  } catch (error) {
    if (error instanceof FolderError) return wrong('key', error.message)
    throw error
  }
  const exposed = existsSync(paths.key) ? keyModeWarning(paths) : null
  return exposed ? wrong('key', exposed) : good('key', 'it opens everything that is sealed')
}

async function fileFindings(
  paths: FolderPaths,
  db: Db,
  isRunning: boolean,
  progress: (done: number, of: number) => void,
): Promise<Finding[]> {
  try {
    const lost = existsSync(paths.events) ? 0 : listedFiles(db)
    if (lost > 0) return [wrong('files', lostEvents(paths, lost).message)]
    const parts = { db, folder: paths.events, spoolFolder: paths.spool }
    const { listed, broken, uncompacted, unlisted } = await examineFolder(parts, { isRunning, progress })
    const findings = [
      ...broken.map(({ path, fault }) => wrong('files', `${path} ${fault}`)),
      ...(uncompacted > 0 && isRunning ? [uncompactedNote(uncompacted)] : []),
      ...(unlisted ? unlistedFindings(paths, unlisted) : [NOT_LOOKED_FOR]),
    ]
    if (findings.length > 0) return findings
    return [
      good('files', listed === 0 ? 'there are none yet' : `all ${listed} are there and can be read to their ends`),
    ]
  } catch (error) {
    if (error instanceof ListError) return [wrong('files', `the list of files can't be read (${error.message})`)]
    throw error
  }
}

const uncompactedNote = (files: number) =>
  note(
    'files',
    `${files} of hours that ended more than 6 h ago are not compacted: the log of the server says why merges fail`,
  )

const NOT_LOOKED_FOR = note(
  'files',
  'files that no list has were not looked for, because a server is running and writes some',
)

function unlistedFindings(paths: FolderPaths, { strays, leftovers }: NonNullable<Examined['unlisted']>): Finding[] {
  const says = `the list does not have ${strays.length} of the files (${firstFew(strays)}); "${doctorCommand(paths, '--rebuild')}" takes them in`
  return [
    ...(strays.length > 0 ? [wrong('files', says)] : []),
    ...(leftovers.length > 0
      ? [note('files', `the next start removes ${leftovers.length} that a kill left behind`)]
      : []),
  ]
}

function spoolFinding({ spool }: FolderPaths): Finding {
  const names = spooledSegments(spool)
  const damaged = names.filter((name) => {
    const path = join(spool, `${name}.ndjson`)
    // A running server may have loaded it meanwhile.
    if (!existsSync(path)) return false
    const { broken, isTorn } = readSegment(readFileSync(path))
    // A torn end was never acknowledged.
    return broken.some(({ batches }) => batches > 0) && !(isTorn && broken.length === 1)
  })
  if (damaged.length > 0) {
    return wrong(
      'spool',
      `${damaged.length} of ${names.length} segments have batches that can't be read; the next start keeps the others (${firstFew(damaged)})`,
    )
  }
  return good('spool', names.length === 0 ? 'it is empty' : `${names.length} segments wait to be loaded`)
}

function diskFinding({ folder }: FolderPaths): Finding {
  const { freeBytes, totalBytes } = diskSpace(folder)
  const says = `${Math.floor(freeBytes / 2 ** 20)} MiB are free, ${Math.floor((100 * freeBytes) / totalBytes)} %`
  return freeBytes < LEAST_FREE_BYTES ? wrong('disk', `only ${says}`) : good('disk', says)
}
