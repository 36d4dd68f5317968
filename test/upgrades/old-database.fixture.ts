import Database from 'better-sqlite3'
import { migrations } from '../../migrations/index.ts'
import type { Db } from '../../src/store/database.ts'

/** Returns the statements that created the database, without comments and white space. */
export function schemaOf(db: Db): unknown[] {
  const bare = (sql: string | null) =>
    sql
      ?.replaceAll(/--.*$/gm, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ ?([(),]) ?/g, '$1')
  return db
    .prepare<[], { type: string; name: string; sql: string | null }>(
      'SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2',
    )
    .all()
    .map(({ sql, ...one }) => ({ ...one, sql: bare(sql) }))
}

/** Returns a database as the version of a schema created it; in memory unless a path is given. */
export function withMigrations(schema: number, path = ':memory:'): Db {
  const db = new Database(path)
  for (const { sql } of migrations.slice(0, schema)) db.exec(sql)
  db.pragma(`user_version = ${schema}`)
  return db
}
