import Database from 'better-sqlite3/linux-x64'
import { migrations } from '../../migrations/index.ts'
import { makePrivateFile } from './private-file.ts'

/** The configuration store: one SQLite file. Every call is synchronous. */
export type Db = Database.Database

/**
 * Opens the database and brings it to this version's schema. `:memory:` is a database of its own for tests, and bytes
 * are one in memory that begins as a copy of them. Fails when the file was written by a newer version: going back would
 * lose what that version stored.
 */
export function openDatabase(path: string | Buffer): Db {
  // SQLite would make it readable for every user of the machine; its other files get the mode of this one.
  if (typeof path === 'string' && path !== ':memory:') makePrivateFile(path)
  const db = new Database(path)
  try {
    setUp(db)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

function setUp(db: Db): void {
  db.pragma('journal_mode = WAL')
  // FULL: an acknowledged change survives a power cut, not only a killed process.
  db.pragma('synchronous = FULL')
  // A checkpoint blocks the event loop, so it is done rarely and for many pages at once.
  db.pragma('wal_autocheckpoint = 8000')
  db.pragma('foreign_keys = ON')
  db.pragma('busy_timeout = 5000')
  migrate(db)
}

function migrate(db: Db): void {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > migrations.length) {
    throw new Error(
      `the database was written by a newer version (schema ${version}, this version supports ${migrations.length})`,
    )
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue
    tx(db, () => {
      db.exec(migration.sql)
      db.pragma(`user_version = ${index + 1}`)
    })
  }
}

type Settled<T> = T extends PromiseLike<unknown> ? never : T

/**
 * Runs `work` in one transaction that takes the write lock at its start, and returns its result; a throw rolls
 * everything back. Inside another `tx` it becomes part of that one. The type refuses a promise: a transaction is never
 * held across an await.
 */
export function tx<T>(db: Db, work: () => Settled<T>): Settled<T> {
  return db.inTransaction ? work() : db.transaction(work).immediate()
}

const statements = new WeakMap<Db, Map<string, Database.Statement>>()

/**
 * Returns the compiled statement of an SQL text, cached for each database: compiling takes longer than most statements
 * run. For a limited number of texts only. Callers share the statement, so they must not change it by `pluck` and the
 * like.
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

/** Returns the pattern of `LIKE … ESCAPE '\'` for values that contain the text. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
