import Database from 'better-sqlite3'
import { makePrivateFile } from './private-file.ts'

/** Another process is using the data folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/**
 * Locks a data folder until this process ends. The operating system releases the lock even if the process is killed.
 * Returns a function that releases the lock earlier. Throws `FolderInUse` if another process holds the lock.
 */
export function lockFolder(path: string): () => void {
  const file = `${path}/lock`
  // Any process that can read the file can lock it.
  makePrivateFile(file)
  const db = new Database(file, { timeout: 0 })
  try {
    db.pragma('locking_mode = EXCLUSIVE')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw new FolderInUse(`another tagwarden process is using the data folder ${path}`)
  }
  return () => db.close()
}
