import { existsSync, mkdirSync } from 'node:fs'
import { migrations } from '../../migrations/index.ts'
import { version } from '../../package.json'
import type { Clock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import { type FolderPaths, folderPaths } from '../data-folder/folder-paths.ts'
import { checkDatabase } from '../data-folder/open-folder.ts'
import { openBeside } from '../store/database.ts'
import { FolderInUse, lockFolder } from '../store/folder-lock.ts'
import { quietState } from '../store/folder-mark.ts'
import { schemaOf } from '../store/inspect-database.ts'
import { type BackupFile, type BackupManifest, backupName } from './backup-manifest.ts'
import type { BackupPlace } from './backup-place.ts'
import { type BackupResult, beginRecord, endRecord } from './store.ts'
import { removeDraft, type SnapshotFile, takeSnapshot } from './take-snapshot.ts'

export interface BackupOrder {
  folder: string
  place: BackupPlace
  /** Number of backups that remain in the place; null to delete none. */
  keep: number | null
  /** The record of the server that started this backup. Default: a new record. */
  id?: string
  clock: Clock
  warn(message: string): void
}

/**
 * Backs up a data folder while its server may be running, and records the attempt in the database. Earlier backups are
 * deleted only after this one has succeeded. Throws `conflict` if another backup of the folder is running.
 */
export async function createBackup({ folder, place, keep, id, clock, warn }: BackupOrder): Promise<BackupResult> {
  const paths = folderPaths(folder)
  if (!existsSync(paths.database)) throw new AppError('invalid', `there is no database in ${folder}`)
  checkUnused(paths)
  const db = openBeside(paths.database)
  const record = db && (id ?? beginRecord(db, place.title, clock.now()))
  const end = (result: BackupResult | { error: string }) => {
    if (db && record !== null) endRecord(db, record, result, clock.now())
  }
  try {
    const unlock = lockDraft(paths)
    try {
      const result = await write(paths, place, { clock, warn })
      end(result)
      if (keep !== null && db && quietState(db))
        warn('old backups were not deleted, because they may belong to the original')
      else if (keep !== null) await prune(place, result.name, keep, warn)
      return result
    } finally {
      removeDraft(paths)
      unlock()
    }
  } catch (error) {
    end({ error: messageOf(error) })
    throw error
  } finally {
    db?.close()
  }
}

/** Throws `FolderError` if no server is running and the database or its write-ahead log is damaged. */
function checkUnused(paths: FolderPaths): void {
  const unlock = lockIfFree(paths.folder)
  if (!unlock) return
  try {
    checkDatabase(paths)
    const schema = schemaOf(paths.database)
    if (schema !== migrations.length) {
      throw new AppError(
        'conflict',
        `the database has schema ${schema}, and this version ${migrations.length}; use the version that wrote it, or start this one first`,
      )
    }
  } finally {
    unlock()
  }
}

/** Locks the draft folder and empties it. Throws `conflict` if another backup is running. */
function lockDraft(paths: FolderPaths): () => void {
  mkdirSync(paths.backupDraft, { recursive: true, mode: 0o700 })
  const unlock = lockIfFree(paths.backupDraft)
  if (!unlock) throw new AppError('conflict', 'another backup of this data folder is running')
  removeDraft(paths)
  return unlock
}

function lockIfFree(folder: string): (() => void) | null {
  try {
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof FolderInUse) return null
    throw error
  }
}

/** True if a process is making a backup of the data folder. */
export function isBackupRunning(paths: FolderPaths): boolean {
  if (!existsSync(paths.backupDraft)) return false
  const unlock = lockIfFree(paths.backupDraft)
  unlock?.()
  return unlock === null
}

async function write(
  paths: FolderPaths,
  place: BackupPlace,
  { clock, warn }: Pick<BackupOrder, 'clock' | 'warn'>,
): Promise<BackupResult> {
  const createdAt = clock.now()
  const name = backupName(createdAt)
  const { files: found, serverId, schema, missing } = await takeSnapshot(paths)
  for (const path of missing) warn(`${path} is missing from the data folder and not in the backup`)
  const earlier = await earlierFiles(place, warn)
  const draft = await place.begin(name, serverId)
  try {
    const files: BackupFile[] = []
    let addedBytes = 0
    for (const file of found) {
      const { path, bytes, modifiedAt } = file
      const { sha256, added } = await draft.add(file, earlier(file))
      files.push({ path, bytes, sha256, modifiedAt })
      addedBytes += added
    }
    await draft.finish({ format: 1, name, serverId, version, schema, createdAt, missing, files })
    return { name, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), addedBytes }
  } catch (error) {
    await draft.discard()
    throw error
  }
}

type Earlier = (file: SnapshotFile) => { name: string; file: BackupFile } | null

/** Returns a function that finds an unchanged file in the most recent readable backup. */
async function earlierFiles(place: BackupPlace, warn: BackupOrder['warn']): Promise<Earlier> {
  for (const name of (await place.names()).toReversed()) {
    try {
      const files = new Map((await place.manifest(name)).files.map((file) => [file.path, file]))
      return ({ path, bytes, modifiedAt }) => {
        const file = files.get(path)
        return file && file.bytes === bytes && file.modifiedAt === modifiedAt ? { name, file } : null
      }
    } catch (error) {
      warn(`the backup ${name} is damaged: ${messageOf(error)}`)
    }
  }
  return () => null
}

/** Deletes the oldest backups of the same server. A failure is only reported, because the new backup is complete. */
async function prune(place: BackupPlace, newest: string, keep: number, warn: BackupOrder['warn']): Promise<void> {
  try {
    const { serverId } = await place.manifest(newest)
    const own: string[] = []
    for (const name of await place.names()) {
      const isOwn = await place.manifest(name).then(
        (manifest: BackupManifest) => manifest.serverId === serverId,
        // A damaged backup is not counted and not deleted.
        () => false,
      )
      if (isOwn) own.push(name)
    }
    for (const name of own.slice(0, -keep)) await place.remove(name)
  } catch (error) {
    warn(`old backups could not be deleted: ${messageOf(error)}`)
  }
}
