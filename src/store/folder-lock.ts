import { existsSync } from 'node:fs'
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
  return acquire(path, new Database(file, { timeout: 0 }), (db) => {
    db.pragma('locking_mode = EXCLUSIVE')
    db.exec('BEGIN EXCLUSIVE')
  })
}

/**
 * Like `lockFolder`, but writes nothing, so that it also works for read-only folders and folders of other users. Several
 * processes can hold this lock at the same time; `lockFolder` then throws.
 */
export function lockFolderToRead(path: string): () => void {
  const file = `${path}/lock`
  // Without the file, no process has ever used the folder.
  if (!existsSync(file)) return () => undefined
  return acquire(path, new Database(file, { readonly: true, timeout: 0 }), (db) => {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
  })
}

function acquire(path: string, db: Database.Database, lock: (db: Database.Database) => void): () => void {
  try {
    lock(db)
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw new FolderInUse(`another tagwarden process is using the data folder ${path}`)
  }
  return () => db.close()
}
