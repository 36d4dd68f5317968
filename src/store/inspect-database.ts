import { existsSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { messageOf } from '../core/error.ts'
import type { Db } from './database.ts'
import { makePrivateFile } from './private-file.ts'
import { walFault } from './wal-check.ts'

/** State of a database file, determined without changing the file. */
export type DatabaseState =
  /** The file is missing or has never contained any data. */
  | { kind: 'empty' }
  | { kind: 'sound'; schema: number }
  /** Parts of the file are unreadable or inconsistent. */
  | { kind: 'damaged'; reason: string }
  /** The file is consistent but lacks its latest changes, because the write-ahead log is missing or damaged. */
  | { kind: 'cut'; reason: string }

export interface InspectOptions {
  /** True while a server is writing to the file, whose write-ahead log is then not checked. */
  isLive?: boolean
  /** True to check all tables, regardless of how long this takes. */
  isThorough?: boolean
}

/**
 * Checks a database file and its write-ahead log. In a large file, the table of recognized batches is skipped unless
 * `isThorough`. SQLite has no checksums, so altered characters or digits within values are not detected. See
 * https://www.sqlite.org/pragma.html#pragma_integrity_check
 */
export function inspectDatabase(
  path: string,
  { isLive = false, isThorough = false }: InspectOptions = {},
): DatabaseState {
  // SQLite deletes the log of an empty file.
  if (!existsSync(path) || statSync(path).size === 0) return { kind: 'empty' }
  // Runs before the database is opened, because opening it creates an empty log.
  const cut = isLive ? null : walFault(path)
  try {
    // SQLite neither checkpoints the log nor truncates its unreadable part if the database is opened read-only.
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

/** Checking a file of this size takes about five seconds. */
const LARGE_BYTES = 200 * 2 ** 20
/**
 * The only table that grows with traffic. It can have up to a hundred million rows, and checking it would delay startup
 * for too long.
 */
const BATCHES = 'batch'

/** Returns the first problem that SQLite reports; null if there is none. */
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

/** A table with its indexes. */
export interface TableSize {
  table: string
  rows: number
  bytes: number
  /** Time for counting the rows. */
  countMs: number
}

/** Returns the size of each table, largest first. Reads the whole database. */
export function tableSizes(db: Db): TableSize[] {
  const tables = db
    .prepare<[], { table: string; bytes: number }>(
      `SELECT tbl_name AS "table", sum(pgsize) AS bytes FROM dbstat JOIN sqlite_schema USING (name)
       GROUP BY tbl_name ORDER BY bytes DESC, tbl_name`,
    )
    .all()
  return tables.map(({ table, bytes }) => {
    const begun = performance.now()
    const rows = db.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0
    return { table, rows, bytes, countMs: Math.round(performance.now() - begun) }
  })
}

/** Returns the statements that create the tables, indexes and triggers of a database. */
export function schemaStatements(db: Db): string[] {
  return db
    .prepare<[], string>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name')
    .pluck()
    .all()
}

/** Returns all different texts in a column of a table, at most `limit`; none if there is no such column. */
export function textsIn(db: Db, table: string, column: string, limit: number): string[] {
  const exists = db.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column)
  if (!exists) return []
  const sql = `SELECT DISTINCT "${column}" FROM "${table}" WHERE typeof("${column}") = 'text' LIMIT ?`
  return db.prepare<[number], string>(sql).pluck().all(limit)
}

export function sqliteVersion(): string {
  const db = new Database(':memory:')
  try {
    return db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? ''
  } finally {
    db.close()
  }
}

/** Opens an existing database read-only. Closing it leaves its files unchanged. */
export function openToRead(path: string): Db {
  return new Database(path, { readonly: true, fileMustExist: true })
}

/** Returns the schema of an existing database. Leaves its files unchanged. */
export function schemaOf(path: string): number {
  const db = openToRead(path)
  try {
    return db.pragma('user_version', { simple: true }) as number
  } finally {
    db.close()
  }
}

/**
 * Copies the database to a new file that only its owner can read. `db` may have a read transaction, which the copy then
 * shows; a server that writes in the meantime neither waits nor restarts the copy. Throws if the copy is damaged.
 */
export async function copyDatabase(db: Db, path: string): Promise<void> {
  makePrivateFile(path)
  await db.backup(path, { progress: () => ALL_PAGES })
  const copy = new Database(path)
  try {
    // Otherwise, each process that reads the copy would create further files next to it.
    copy.pragma('journal_mode = DELETE')
    const fault = faultOf(copy, false)
    if (fault !== null) throw new Error(`the database is damaged (${oneLine(fault)})`)
  } finally {
    copy.close()
  }
}

const ALL_PAGES = 2 ** 31 - 1

/** True for SQLite errors caused by a damaged file; false for errors caused by permissions or a full disk. */
export function isDamage(error: unknown): error is Error {
  return /^SQLITE_(?:CORRUPT|NOTADB|ERROR)/.test(String((error as { code?: unknown } | null)?.code))
}

function oneLine(text = 'no reason given'): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
