import Database from 'better-sqlite3/linux-x64'
import { migrations } from '../../migrations/index.ts'
import { makePrivateFile } from './private-file.ts'

/** The configuration store: one SQLite file. Every call is synchronous. */
export type Db = Database.Database

/**
 * Opens the database and brings it to this version's schema. `:memory:` is a database of its own for tests.
 * Fails when the file was written by a newer version: going back would lose what that version stored.
 */
export function openDatabase(path: string): Db {
  // SQLite would let everybody on the machine read it; the files beside it get the mode of this one.
  if (path !== ':memory:') makePrivateFile(path)
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
  // Moving pages from the log into the database holds everything up, so it is done rarely and for many at once.
  db.pragma('wal_autocheckpoint = 8000')
  db.pragma('foreign_keys = ON')
  db.pragma('busy_timeout = 5000')
  migrate(db)
}

function migrate(db: Db): void {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > migrations.length) {
    throw new Error(
      `the database was written by a newer version (schema ${version}, this one knows ${migrations.length})`,
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
 * Runs `work` in one transaction that takes the write lock at its start; a throw rolls everything back. Inside
 * another `tx` it becomes part of that one. The type refuses a promise: a transaction is never held across an await.
 */
export function tx<T>(db: Db, work: () => Settled<T>): Settled<T> {
  return db.inTransaction ? work() : db.transaction(work).immediate()
}

const statements = new WeakMap<Db, Map<string, Database.Statement>>()

/**
 * The statement of a text, compiled once for each database: compiling takes longer than most statements run. For texts
 * of which there are few, and to be used as it is: `pluck` and the like would change it for everybody.
 */
export function prepared<Bound extends unknown[], Row = unknown>(db: Db, sql: string): Database.Statement<Bound, Row> {
  let known = statements.get(db)
  if (!known) {
    known = new Map()
    statements.set(db, known)
  }
  let statement = known.get(sql)
  if (!statement) {
    statement = db.prepare(sql)
    known.set(sql, statement)
  }
  return statement as Database.Statement<Bound, Row>
}
