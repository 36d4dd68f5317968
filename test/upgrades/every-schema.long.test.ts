import { expect, test } from 'bun:test'
import { migrations } from '../../migrations/index.ts'
import { folderPaths } from '../../src/data-folder/folder-paths.ts'
import { openSession } from '../../src/org/session.ts'
import { type Db, openDatabase } from '../../src/store/database.ts'
import { openToRead } from '../../src/store/inspect-database.ts'
import { upgradeCopyPath } from '../../src/store/upgrade-copy.ts'
import { temporaryFolder } from '../run-program.ts'
import { testApp } from '../test-app.ts'
import { schemaOf, withMigrations } from './old-database.fixture.ts'
import { RECORDED_SCHEMAS, unpackRecorded } from './recorded-folders.ts'

type Row = Record<string, unknown>

const tablesOf = (db: Db) =>
  db
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1`)
    .pluck()
    .all()

const columnsOf = (db: Db, table: string) =>
  db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table)

/** Returns the rows of a table as sorted text, limited to these columns. */
function rowsOf(db: Db, table: string, columns: readonly string[]): string[] {
  const listed = columns.map((column) => `"${column}"`).join(', ')
  return db
    .prepare<[], Row>(`SELECT ${listed} FROM "${table}"`)
    .all()
    .map((row) => JSON.stringify(row))
    .sort()
}

test('folders of the schemas since the first are recorded', () => {
  expect(RECORDED_SCHEMAS[0]).toBe(1)
  expect(RECORDED_SCHEMAS.length).toBeGreaterThan(40)
})

test.each(RECORDED_SCHEMAS)('a database of schema %d keeps all rows when it is upgraded', async (schema) => {
  using root = temporaryFolder()
  const folder = `${root.path}/data`
  await unpackRecorded(schema, folder)
  const { database } = folderPaths(folder)
  const lines: string[] = []
  const upgraded = openDatabase(database, (line) => lines.push(line))
  const copy = openToRead(upgradeCopyPath(database, schema))
  try {
    const names = migrations.slice(schema).map(({ name }, index) => `${schema + index + 1} (${name})`)
    expect(lines.map((line) => line.replace(/ in \d+ ms$/, ''))).toEqual([
      expect.stringContaining(`copied the database of schema ${schema} (`),
      ...names.map((name) => `upgraded the database to schema ${name}`),
    ])
    expect(upgraded.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(upgraded.pragma('foreign_key_check')).toEqual([])
    expect(schemaOf(upgraded)).toEqual(schemaOf(openDatabase(':memory:')))
    for (const table of tablesOf(copy)) {
      const kept = columnsOf(upgraded, table)
      const columns = columnsOf(copy, table).filter((column) => kept.includes(column))
      const now = rowsOf(upgraded, table, columns)
      // A migration may add rows.
      expect({ table, now }).toEqual({ table, now: expect.arrayContaining(rowsOf(copy, table, columns)) })
    }
    // The copy is a database of the old version.
    expect(copy.pragma('user_version', { simple: true })).toBe(schema)
    expect(schemaOf(copy)).toEqual(schemaOf(withMigrations(schema)))
  } finally {
    copy.close()
    upgraded.close()
  }
})

test.each(RECORDED_SCHEMAS)(
  'the program starts on a folder of schema %d, and its API lists everything',
  async (schema) => {
    await using app = await testApp()
    await app.restart(async (folder) => {
      await unpackRecorded(schema, folder)
      const db = openToRead(folderPaths(folder).database)
      app.clock.set(db.prepare<[], number>('SELECT max(createdAt) FROM domain').pluck().get() ?? 0)
      app.clock.advance(60_000)
      db.close()
    })
    const { db } = app.app
    const owner = db.prepare<[], string>(`SELECT userId FROM member WHERE role = 'owner'`).pluck().get() ?? ''
    const as = openSession(db, app.clock, owner, 'password').token
    const listed = async (path: string, noun: string) => {
      const { status, body } = await app.call('GET', path, { as })
      return { path, status, items: body[noun]?.length }
    }
    const counted = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()
    const [issue] = (await app.call('GET', '/v1/issues', { as })).body.issues
    for (const [path, noun, items] of [
      ['/v1/domains', 'domains', 1],
      ['/v1/integrations', 'integrations', 1],
      ['/v1/issues', 'issues', 1],
      ['/v1/notifications/deliveries', 'deliveries', counted('delivery')],
      ['/v1/keys', 'keys', counted('apiKey')],
      ['/v1/projects', 'projects', counted('project')],
      ['/v1/changes', 'changes', counted('change')],
      ['/v1/insights/labels', 'labels', counted('label')],
      ['/v1/flows/tests', 'tests', counted('flowTest')],
      ['/v1/events?from=0', 'events', 20],
    ] as const) {
      expect(await listed(path, noun)).toEqual({ path, status: 200, items })
    }
    expect(issue).toMatchObject({ status: 'acknowledged' })
    expect((await app.call('GET', `/v1/issues/${issue.id}/evidence`, { as })).status).toBe(200)
    expect((await app.call('GET', '/v1/alerts', { as })).body.alerts.map(({ name }: Row) => name)).toContain(
      'Personal data',
    )
    await app.run('heartbeat', 'flush', 'compact', 'evaluate', 'deliver', 'retain')
  },
)
