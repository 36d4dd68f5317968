import { existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { sizeText } from '../core/text.ts'
import { diskSpace } from './disk-space.ts'
import { closeSynced, makePrivateFile, syncFolder } from './private-file.ts'

/** Maximum number of copies that are kept. */
const MAX_COPIES = 3

/** Free space that remains for other files while the database is upgraded. */
const RESERVE_BYTES = 16 * 2 ** 20

const COPY_NAME = /^schema-\d+\.db$/

/** Returns the folder of the copies that are made before a database is upgraded. */
export const upgradeCopyFolder = (database: string): string => join(dirname(database), 'before-upgrade')

/** Returns the path of the copy that is made before a database of this schema is upgraded. */
export const upgradeCopyPath = (database: string, schema: number): string =>
  join(upgradeCopyFolder(database), `schema-${schema}.db`)

/** Returns the size in bytes of the database, including unused pages. */
export function databaseBytes(db: Database): number {
  return Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))
}

/**
 * Returns the free space in bytes that an upgrade of a database of this size requires: for the copy, and for the
 * write-ahead log of a migration that rewrites every table.
 */
export const upgradeBytes = (bytes: number): number => 2 * bytes + RESERVE_BYTES

/**
 * Copies a database of an older schema, and returns the path of the copy. A copy of the same schema is replaced, so that
 * repeated attempts leave the copies of other schemas in place. Of these, the most recent are kept. Throws without
 * changing anything if there is too little free space.
 */
export function copyBeforeUpgrade(db: Database, database: string, schema: number): string {
  const { freeBytes } = diskSpace(dirname(database))
  const required = upgradeBytes(databaseBytes(db))
  if (freeBytes < required) {
    throw new Error(
      `upgrading the database requires ${sizeText(required)} of free disk space, for a copy of it and the migrations, but ${dirname(database)} has ${sizeText(freeBytes)}. Nothing was changed. Free some space, or continue with the version that wrote it (schema ${schema})`,
    )
  }
  const folder = upgradeCopyFolder(database)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = upgradeCopyPath(database, schema)
  const draft = `${path}.draft`
  rmSync(draft, { force: true })
  try {
    makePrivateFile(draft)
    // Unlike a copy of the file, this includes what is only in the write-ahead log.
    db.prepare('VACUUM INTO ?').run(draft)
    closeSynced(openSync(draft, 'r+'), '')
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(folder)
  const others = upgradeCopies(database).filter((other) => other !== path)
  for (const other of others.slice(MAX_COPIES - 1)) rmSync(other)
  return path
}

/** Returns the paths of the copies, most recent first. */
function upgradeCopies(database: string): string[] {
  const folder = upgradeCopyFolder(database)
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => COPY_NAME.test(name)) : []
  return names.map((name) => join(folder, name)).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
}
