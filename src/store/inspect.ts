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

export interface Look {
  /** A server writes to it: its log is taken as it is. */
  isLive?: boolean
  /** However long it takes. */
  isThorough?: boolean
}

/**
 * Reads all of a database file, with what is in its write-ahead log; of a large one without the batches that are
 * remembered, unless it `isThorough`. What SQLite keeps no checksums of (letters within a text, digits of a number) it
 * can't find fault with. See https://www.sqlite.org/pragma.html#pragma_integrity_check
 */
export function inspectDatabase(path: string, { isLive = false, isThorough = false }: Look = {}): DatabaseState {
  // SQLite drops the log of a file that it finds empty.
  if (!existsSync(path) || statSync(path).size === 0) return { kind: 'empty' }
  // Before it is opened, because that makes an empty log.
  const cut = isLive ? null : faultOfLog(path)
  try {
    // Opened for reading, it neither moves the log into the file nor drops what of the log it can't read.
    const db = openToRead(path)
    try {
      const fault = faultOf(db, isThorough)
      if (fault !== null) return { kind: 'damaged', reason: oneLine(fault) }
      if (cut !== null) return { kind: 'cut', reason: cut }
      const schema = db.pragma('user_version', { simple: true }) as number
      const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get()
      return schema === 0 && tables === 0 ? { kind: 'empty' } : { kind: 'sound', schema }
    } finally {
      db.close()
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    return { kind: 'damaged', reason: oneLine(messageOf(error)) }
  }
}

/** Read in about five seconds. */
const LARGE_BYTES = 200 * 2 ** 20
/** The one table that grows with the traffic, to a hundred million rows: a start can't wait for those. */
const BATCHES = 'batch'

/** The first thing that SQLite finds wrong; null when it finds nothing. */
function faultOf(db: Db, isThorough: boolean): string | null {
  const bytes = Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))
  for (const part of isThorough || bytes < LARGE_BYTES ? ['1'] : tablesBut(db, BATCHES)) {
    const fault = db.pragma(`integrity_check(${part})`, { simple: true })
    if (fault !== 'ok') return String(fault)
  }
  return null
}

function tablesBut(db: Db, table: string): string[] {
  const sql = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> ? AND name NOT LIKE 'sqlite_%'`
  return db.prepare<[string], string>(sql).pluck().all(table)
}

/** Opens a database that is there for reading alone: closing it leaves its files as they are. */
export function openToRead(path: string): Db {
  return new Database(path, { readonly: true, fileMustExist: true })
}

/** True for what SQLite says of a file that is not as it should be; not of one that it may not open, or a full disk. */
export function isDamage(error: unknown): error is Error {
  return /^SQLITE_(?:CORRUPT|NOTADB|ERROR)/.test(String((error as { code?: unknown } | null)?.code))
}

function oneLine(text = 'no reason given'): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
