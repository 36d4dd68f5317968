import { existsSync, statSync } from 'node:fs'
import Database from 'better-sqlite3/linux-x64'
import { messageOf } from '../core/error.ts'
import type { Db } from './database.ts'
import { faultOfLog } from './log-check.ts'

/** What a database file is, found without changing it. */
export type DatabaseState =
  /** There is none, or one in which nothing was ever stored. */
  | { kind: 'empty' }
  | { kind: 'sound'; schema: number }
  /** SQLite can't read all of it, or it contradicts itself. */
  | { kind: 'damaged'; reason: string }
  /** It is sound, but without its latest changes: the write-ahead log is gone or damaged. */
  | { kind: 'cut'; reason: string }

/**
 * Reads all of a database file, with what is in its write-ahead log. What SQLite keeps no checksums of (letters within a
 * text, digits of a number) it can't find fault with. See https://www.sqlite.org/pragma.html#pragma_integrity_check
 */
export function inspectDatabase(path: string, isLive = false): DatabaseState {
  // SQLite drops the log of a file that it finds empty.
  if (!existsSync(path) || statSync(path).size === 0) return { kind: 'empty' }
  // Before it is opened, because that makes an empty log.
  const cut = isLive ? null : faultOfLog(path)
  try {
    // Opened for reading, it neither moves the log into the file nor drops what of the log it can't read.
    const db = openToRead(path)
    try {
      const [fault] = db.pragma('integrity_check(1)') as { integrity_check: string }[]
      if (fault?.integrity_check !== 'ok') return { kind: 'damaged', reason: oneLine(fault?.integrity_check) }
      if (cut !== null) return { kind: 'cut', reason: cut }
      const schema = db.pragma('user_version', { simple: true }) as number
      const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get()
      return schema === 0 && tables === 0 ? { kind: 'empty' } : { kind: 'sound', schema }
    } finally {
      db.close()
    }
  } catch (error) {
    if (!isSqliteError(error)) throw error
    return { kind: 'damaged', reason: oneLine(messageOf(error)) }
  }
}

/** Opens a database that is there for reading alone: closing it leaves its files as they are. */
export function openToRead(path: string): Db {
  return new Database(path, { readonly: true, fileMustExist: true })
}

/** True for what SQLite says of a file that is not as it should be. */
export function isSqliteError(error: unknown): error is Error {
  return String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_')
}

function oneLine(text = 'no reason given'): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
