import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskSpace } from '../store/disk-space.ts'
import { FolderInUse, lockFolder, lockFolderToRead } from '../store/folder-lock.ts'
import { FolderError } from './folder-errors.ts'
import type { FolderPaths } from './folder-paths.ts'

/** A data folder that is open for examination. Disposing it unlocks the folder and deletes the temporary files. */
export interface ExaminedFolder extends Disposable {
  paths: FolderPaths
  /** Path of the database to read: the original, or a copy. */
  database: string
  /** True while a server is using the folder. */
  isRunning: boolean
  /** Why nothing may be written to the folder, as a clause that follows its path; null if it may be changed. */
  readOnly: string | null
  /** Empty folder outside the data folder. */
  temporaryFolder: string
}

/**
 * Opens a data folder to examine it, while a server may be using it. If the folder is read-only or belongs to another
 * user, nothing is written to it: SQLite would create files next to the database, so a copy is read instead.
 *
 * Throws `FolderError` if the folder or the folder for temporary files can't be used. If `isChange` is true, also throws
 * it if the folder can't be changed, and `FolderInUse` if a server is running.
 */
export function openToExamine(paths: FolderPaths, { isChange }: { isChange: boolean }): ExaminedFolder {
  using opened = new DisposableStack()
  checkReadable(paths)
  const readOnly = readOnlyReason(paths)
  if (isChange && readOnly !== null) throw new FolderError(`${paths.folder} can't be changed: it ${readOnly}`)
  const lock = () => (readOnly === null ? lockFolder(paths.folder) : lockFolderToRead(paths.folder))
  const unlock = isChange ? lock() : unlessUsed(lock)
  if (unlock) opened.defer(unlock)
  const temporaryFolder = makeTemporaryFolder()
  opened.defer(() => rmSync(temporaryFolder, { recursive: true, force: true }))
  const isRunning = unlock === null
  // A running server keeps the files open that SQLite needs, so none are created.
  const database = readOnly === null || isRunning ? paths.database : copyOf(paths, temporaryFolder)
  const owned = opened.move()
  return { paths, database, isRunning, readOnly, temporaryFolder, [Symbol.dispose]: () => owned.dispose() }
}

function makeTemporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'tagwarden-doctor-'))
  } catch (error) {
    const { code } = error as { code?: string }
    throw new FolderError(`${tmpdir()} can't be written: ${code}; set TMPDIR to a folder that this user can write`)
  }
}

function unlessUsed(lock: () => () => void): (() => void) | null {
  try {
    return lock()
  } catch (error) {
    if (error instanceof FolderInUse) return null
    throw error
  }
}

/** Throws `FolderError` if this user can't read the folder or its main files. */
function checkReadable({ folder, database, key, events, spool }: FolderPaths): void {
  for (const path of [folder, `${folder}/lock`, database, key, events, spool]) {
    // A file in a closed folder is reported as missing, but the folder itself comes first.
    if (!existsSync(path)) continue
    const isFolder = statSync(path).isDirectory()
    if (isAllowed(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK)) continue
    const { uid } = statSync(path)
    throw new FolderError(
      `${path} can't be read by this user; run the command as the user to which it belongs: sudo --user '#${uid}' tagwarden …`,
    )
  }
}

/**
 * Returns why nothing may be written to the folder; null if it may be. The owner of the database decides, because the
 * folder itself can belong to a group. Files that root creates could not be opened by another user's server.
 */
function readOnlyReason({ folder, database }: FolderPaths): string | null {
  const { uid } = statSync(existsSync(database) ? database : folder)
  const own = process.getuid?.() ?? uid
  if (uid !== own) return `belongs to another user (uid ${uid}), as which the server must run`
  return isAllowed(folder, constants.W_OK)
    ? null
    : 'is read-only for this process, so that it could not run a server here'
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Space that other programs should still have in the temporary folder. */
const SPARE_BYTES = 64 * 2 ** 20

/** Copies the database and the files that belong to it. Throws `FolderError` if there is not enough space. */
function copyOf({ database }: FolderPaths, folder: string): string {
  const target = join(folder, 'tagwarden.db')
  // SQLite's shared memory is not read, but its presence shows that there was a write-ahead log.
  const parts = ['', '-wal', '-shm'].filter((suffix) => existsSync(database + suffix))
  const bytes = parts.reduce((sum, suffix) => sum + statSync(database + suffix).size, 0)
  if (diskSpace(folder).freeBytes < bytes + SPARE_BYTES) {
    const mib = Math.ceil((bytes + SPARE_BYTES) / 2 ** 20)
    throw new FolderError(
      `the copy of ${database} needs ${mib} MiB in ${tmpdir()}; set TMPDIR to a folder with enough space`,
    )
  }
  for (const suffix of parts) copyFileSync(database + suffix, target + suffix)
  return target
}
