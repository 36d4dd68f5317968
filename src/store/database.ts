import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { migrations } from '../../migrations/index.ts'
import { sizeText } from '../core/text.ts'
import { makePrivateFile } from './private-file.ts'
import { copyBeforeUpgrade, databaseBytes, upgradeCopyPath } from './upgrade-copy.ts'

/** The configuration store: a single SQLite file. All calls are synchronous. */
export type Db = Database.Database

/** Called with a line for the copy of the database that is made before an upgrade, and for each migration. */
export type UpgradeLog = (line: string) => void

/**
 * Opens the database and migrates it to this version's schema. A file with an older schema is copied first, into the
 * folder `before-upgrade` next to it. `:memory:` opens a separate database for tests; a buffer opens a copy in memory.
 * Throws if a newer version wrote the file, because a downgrade would lose data, and if there is too little disk space
 * for the copy.
 */
export function openDatabase(path: string | Buffer, log: UpgradeLog = () => {}): Db {
  // Otherwise, SQLite would create a file that all users of the machine can read. SQLite's other files inherit the
  // mode.
  if (typeof path === 'string' && path !== ':memory:') makePrivateFile(path)
  const db = new Database(path)
  try {
    setUp(db, typeof path === 'string' ? path : ':memory:', log)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

function setUp(db: Db, path: string, log: UpgradeLog): void {
  db.pragma('journal_mode = WAL')
  // FULL: acknowledged changes survive a power failure as well as a killed process.
  db.pragma('synchronous = FULL')
  // A checkpoint blocks the event loop, so checkpoints are rare and write many pages at once.
  db.pragma('wal_autocheckpoint = 8000')
  db.pragma('foreign_keys = ON')
  db.pragma('busy_timeout = 5000')
  migrate(db, path, log)
}

function migrate(db: Db, path: string, log: UpgradeLog): void {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > migrations.length) {
    const copy = upgradeCopyPath(path, migrations.length)
    const hint = existsSync(copy) ? `; to go back to this version, start it on the copy ${copy}` : ''
    throw new Error(
      `the database was written by a newer version (schema ${version}, this version supports ${migrations.length})${hint}`,
    )
  }
  if (version === migrations.length) return
  // A new database is not copied, and its migrations are not logged.
  const isUpgrade = version > 0 && path !== ':memory:'
  if (isUpgrade) {
    const { result, took } = timed(() => copyBeforeUpgrade(db, path, version))
    log(`copied the database of schema ${version} (${sizeText(databaseBytes(db))}) to ${result} ${took}`)
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue
    const { took } = timed(() =>
      tx(db, () => {
        db.exec(migration.sql)
        db.pragma(`user_version = ${index + 1}`)
      }),
    )
    if (isUpgrade) log(`upgraded the database to schema ${index + 1} (${migration.name}) ${took}`)
  }
}

function timed<T>(work: () => T): { result: T; took: string } {
  const begun = performance.now()
  const result = work()
  return { result, took: `in ${Math.round(performance.now() - begun)} ms` }
}

/**
 * Opens the database of a server that may be running, for short writes by another process. Returns null if the database
 * has another schema than this version.
 */
export function openBeside(path: string): Db | null {
  const db = new Database(path, { fileMustExist: true, timeout: 5000 })
  if (db.pragma('user_version', { simple: true }) !== migrations.length) {
    db.close()
    return null
  }
  db.pragma('foreign_keys = ON')
  db.pragma('synchronous = FULL')
  // The server decides when to checkpoint.
  db.pragma('wal_autocheckpoint = 0')
  return db
}

type Synchronous<T> = T extends PromiseLike<unknown> ? never : T

/**
 * Runs `work` in a transaction that acquires the write lock immediately, and returns the result. An exception rolls the
 * transaction back. Nested calls join the outer transaction. The type excludes promises, because a transaction must not
 * span an await.
 */
export function tx<T>(db: Db, work: () => Synchronous<T>): Synchronous<T> {
  return db.inTransaction ? work() : db.transaction(work).immediate()
}

const statements = new WeakMap<Db, Map<string, Database.Statement>>()

/**
 * Returns a prepared statement for this SQL. Statements are cached per database, because compiling takes longer than
 * running most statements. Use it only for a limited number of SQL strings. All callers get the same statement and must
 * not modify it, for example with `pluck`.
 */
export function prepared<Bound extends unknown[], Row = unknown>(db: Db, sql: string): Database.Statement<Bound, Row> {
  let cache = statements.get(db)
  if (!cache) {
    cache = new Map()
    statements.set(db, cache)
  }
  let statement = cache.get(sql)
  if (!statement) {
    statement = db.prepare(sql)
    cache.set(sql, statement)
  }
  return statement as Database.Statement<Bound, Row>
}

/** Returns the `LIKE … ESCAPE '\'` pattern for values that contain the string. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
