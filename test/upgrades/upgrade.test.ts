import { describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { migrations } from '../../migrations/index.ts'
import { DAY_MS } from '../../src/core/clock.ts'
import { folderPaths } from '../../src/data-folder/folder-paths.ts'
import { rebuild } from '../../src/data-folder/rebuild-file-list.ts'
import { openSession } from '../../src/org/session.ts'
import { openDatabase } from '../../src/store/database.ts'
import { inspectDatabase, openToRead, schemaOf } from '../../src/store/inspect-database.ts'
import { upgradeCopyFolder, upgradeCopyPath } from '../../src/store/upgrade-copy.ts'
import { smallFileSystem } from '../disk-full/small-disk.ts'
import { call, initialize, runProgram, startServer, temporaryFolder, until } from '../run-program.ts'
import { testApp } from '../test-app.ts'
import { schemaOf as statementsOf, withMigrations } from './old-database.fixture.ts'
import { unpackRecorded } from './recorded-folders.ts'

const OWN = migrations.length
const OLD = 54

/** Returns the content of all files, except those that SQLite creates while it reads. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !/-(?:shm|wal)$/.test(name))
  return Object.fromEntries(
    names
      .sort()
      .map((name) => [name, statSync(join(folder, name)).isFile() ? readFileSync(join(folder, name), 'base64') : '']),
  )
}

async function oldFolder(root: string, schema = OLD): Promise<string> {
  const folder = join(root, 'data')
  await unpackRecorded(schema, folder)
  return folder
}

describe('the copy before an upgrade', () => {
  test('is private, and contains changes that are only in the write-ahead log', async () => {
    using root = temporaryFolder()
    const { database } = folderPaths(await oldFolder(root.path))
    const live = new Database(database)
    live.pragma('journal_mode = WAL')
    live.pragma('wal_autocheckpoint = 0')
    live.prepare(`UPDATE org SET name = 'Renamed'`).run()
    openDatabase(database).close()
    live.close()
    const path = upgradeCopyPath(database, OLD)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(upgradeCopyFolder(database)).mode & 0o777).toBe(0o700)
    const copy = openToRead(path)
    expect(copy.prepare('SELECT name FROM org').pluck().all()).toContain('Renamed')
    copy.close()
  })

  test('is not made of a new database, nor at a start without an upgrade', () => {
    using root = temporaryFolder()
    const path = join(root.path, 'tagwarden.db')
    const lines: string[] = []
    for (const _ of [1, 2]) openDatabase(path, (line) => lines.push(line)).close()
    expect(lines).toEqual([])
    expect(existsSync(upgradeCopyFolder(path))).toBe(false)
  })

  test('replaces that of the same schema; the three most recent remain, and other files are left alone', () => {
    using root = temporaryFolder()
    const path = join(root.path, 'tagwarden.db')
    const folder = upgradeCopyFolder(path)
    mkdirSync(folder)
    for (const name of ['notes.txt', 'schema-1.db.bak']) writeFileSync(join(folder, name), 'mine')
    const upgradeFrom = (schema: number) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
      withMigrations(schema, path).close()
      openDatabase(path).close()
    }
    // Time passes between upgrades.
    const age = () => {
      for (const name of readdirSync(folder)) {
        const { mtimeMs } = statSync(join(folder, name))
        utimesSync(join(folder, name), (mtimeMs - DAY_MS) / 1000, (mtimeMs - DAY_MS) / 1000)
      }
    }
    for (const schema of [50, 51, 52, 53, 53, 51]) {
      upgradeFrom(schema)
      age()
    }
    expect(readdirSync(folder).sort()).toEqual([
      'notes.txt',
      'schema-1.db.bak',
      'schema-51.db',
      'schema-52.db',
      'schema-53.db',
    ])
  })

  test('survives failed attempts: a migration that fails changes nothing and leaves the copies of other schemas', () => {
    using root = temporaryFolder()
    const path = join(root.path, 'tagwarden.db')
    const old = withMigrations(OLD, path)
    // The first migration that runs fails, because its table exists.
    const [, table] = /CREATE TABLE (\w+)/.exec(migrations[OLD]?.sql ?? '') ?? []
    old.exec(`CREATE TABLE ${table} (n INTEGER) STRICT`)
    const statements = statementsOf(old)
    old.close()
    for (const _ of [1, 2, 3, 4]) expect(() => openDatabase(path)).toThrow('already exists')
    expect(readdirSync(upgradeCopyFolder(path))).toEqual([`schema-${OLD}.db`])
    const left = openToRead(path)
    expect(statementsOf(left)).toEqual(statements)
    left.close()
  })
})

const smallDisk = smallFileSystem()

test.skipIf(smallDisk === null)('too little disk space stops the start before anything is changed', async () => {
  using disk = smallDisk
  if (!disk) return
  await unpackRecorded(OLD, disk.data)
  disk.fill(process.pid)
  // A server's database is in this mode, unlike a recorded one.
  const db = new Database(folderPaths(disk.data).database)
  db.pragma('journal_mode = WAL')
  db.close()
  const before = contentOf(disk.data)
  const { code, stderr } = await runProgram(['serve', '--data', disk.data, '--listen', '127.0.0.1:0'])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /upgrading the database requires \d+ MB of free disk space.+has 1 MB\. Nothing was changed/,
    ),
  })
  expect((await runProgram(['upgrade', '--check', '--data', disk.data, '--json'])).stdout).toContain('"state":"full"')
  const { lock, ...after } = contentOf(disk.data)
  expect(after).toEqual(before)
  expect(lock).toBeDefined()
  disk.makeRoom(process.pid)
  await using server = await startServer(disk.data)
  expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
})

describe('the way back', () => {
  test('the old version runs on the copy, and finds later events again after a rebuild of its list', async () => {
    await using app = await testApp()
    const folder = app.folder
    const paths = folderPaths(folder)
    await app.restart(async () => {
      await unpackRecorded(OLD, folder)
      const db = openToRead(paths.database)
      app.clock.set(db.prepare<[], number>('SELECT max(createdAt) FROM domain').pluck().get() ?? 0)
      app.clock.advance(60_000)
      db.close()
    })
    const eventsOf = () => app.app.db.prepare<[], number>('SELECT sum(rows) FROM eventFile').pluck().get()
    const before = eventsOf()
    const copy = upgradeCopyPath(paths.database, OLD)
    // The copy has exactly what the old version created.
    expect(inspectDatabase(copy, { isThorough: true })).toEqual({ kind: 'sound', schema: OLD })
    const asOld = openToRead(copy)
    expect(statementsOf(asOld)).toEqual(statementsOf(withMigrations(OLD)))
    asOld.close()
    const { id } = app.app.db.prepare<[], { id: string }>('SELECT id FROM domain').get() ?? { id: '' }
    const owner = app.app.db.prepare<[], string>(`SELECT userId FROM member WHERE role = 'owner'`).pluck().get() ?? ''
    const as = openSession(app.app.db, app.clock, owner, 'password').token
    const { token } = (await app.call('GET', `/v1/domains/${id}`, { as })).body
    await app.collect(token, { events: [{ vendor: 'segment', event: 'purchase' }] })
    app.clock.advance(60_000)
    await app.run('flush')
    expect(eventsOf()).toBe((before ?? 0) + 1)
    await app.restart(async () => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(paths.database + suffix, { force: true })
      cpSync(copy, paths.database)
      expect(schemaOf(paths.database)).toBe(OLD)
      // The copy does not know the event that was received later.
      expect((await rebuild(paths, app.clock)).listed.length).toBeGreaterThan(0)
    })
    expect(eventsOf()).toBe((before ?? 0) + 1)
  })

  test('a folder that does not fit together is rejected and keeps its old database', async () => {
    using root = temporaryFolder()
    const folder = await oldFolder(root.path)
    const paths = folderPaths(folder)
    renameSync(paths.events, join(root.path, 'unmounted'))
    const { code, stderr } = await runProgram(['serve', '--data', folder, '--listen', '127.0.0.1:0'])
    expect(code).toBe(1)
    expect(stderr).toContain('Nothing was changed')
    expect(schemaOf(paths.database)).toBe(OLD)
    renameSync(join(root.path, 'unmounted'), paths.events)
    await using server = await startServer(folder)
    expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
  })

  test('a database of a newer version is rejected with the copy that this version can use', () => {
    using root = temporaryFolder()
    const path = join(root.path, 'tagwarden.db')
    const db = openDatabase(path)
    db.pragma(`user_version = ${OWN + 1}`)
    db.close()
    expect(() => openDatabase(path)).toThrow(/supports \d+\)$/)
    mkdirSync(upgradeCopyFolder(path))
    writeFileSync(upgradeCopyPath(path, OWN), '')
    expect(() => openDatabase(path)).toThrow(`start it on the copy ${upgradeCopyPath(path, OWN)}`)
  })
})

test('start, upgrade and stop have a line in the log', async () => {
  using root = temporaryFolder()
  const folder = await oldFolder(root.path)
  await using server = await startServer(folder)
  await server.stop()
  const messages = server
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const at = (start: string) => messages.findIndex(({ msg }) => msg.startsWith(start))
  const order = [
    `copied the database of schema ${OLD} (`,
    ...migrations
      .slice(OLD)
      .map(({ name }, index) => `upgraded the database to schema ${OLD + index + 1} (${name}) in `),
    'Tagwarden ',
    'stopping',
    'stopped',
  ].map(at)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(order).not.toContain(-1)
  expect(messages[order[0] ?? 0]).toMatchObject({ level: 'info', msg: expect.stringContaining(`schema-${OLD}.db in `) })
})

describe('upgrade --check', () => {
  const check = async (folder: string) => {
    const { code, stdout, stderr } = await runProgram(['upgrade', '--check', '--data', folder, '--json'])
    expect(stderr).toBe('')
    const said = await runProgram(['upgrade', '--check', '--data', folder])
    expect(said.code).toBe(code)
    const plan = JSON.parse(stdout)
    expect(said.stdout.trimEnd()).toBe(plan.says)
    return { code, plan }
  }

  test('describes the upgrade of an older folder and changes nothing', async () => {
    using root = temporaryFolder()
    const folder = await oldFolder(root.path)
    const { database } = folderPaths(folder)
    const before = contentOf(folder)
    const { code, plan } = await check(folder)
    expect({ code, plan }).toEqual({
      code: 0,
      plan: {
        state: 'upgrade',
        schema: OLD,
        supportedSchema: OWN,
        migrations: migrations.slice(OLD).map(({ name }) => name),
        databaseBytes: statSync(database).size,
        requiredBytes: 2 * statSync(database).size + 16 * 2 ** 20,
        freeBytes: expect.any(Number),
        estimatedMs: 1000,
        copy: upgradeCopyPath(database, OLD),
        says: expect.stringContaining(`from schema ${OLD} to ${OWN}`),
      },
    })
    expect(contentOf(folder)).toEqual(before)
  })

  test('needs no upgrade for a current folder, also while its server runs', async () => {
    using root = temporaryFolder()
    const folder = join(root.path, 'data')
    const key = await initialize(folder)
    expect(await check(folder)).toMatchObject({ code: 0, plan: { state: 'current', schema: OWN, migrations: [] } })
    await using server = await startServer(folder)
    expect(await check(folder)).toMatchObject({ code: 0, plan: { state: 'current' } })
    await until('a reply', async () => (await call('GET', `${server.url}/v1/domains`, { as: key })).status === 200)
  })

  test('exits with 1 for a folder of a newer version, and for a damaged one', async () => {
    using root = temporaryFolder()
    const path = folderPaths(root.path).database
    const db = openDatabase(path)
    db.pragma(`user_version = ${OWN + 3}`)
    db.close()
    expect(await check(root.path)).toMatchObject({
      code: 1,
      plan: { state: 'newer', schema: OWN + 3, says: expect.stringContaining('newer version') },
    })
    writeFileSync(path, 'x'.repeat(9000))
    expect(await check(root.path)).toMatchObject({ code: 1, plan: { state: 'damaged', schema: null } })
  })

  test('exits with 2 without a folder or without --check', async () => {
    expect(await runProgram(['upgrade', '--check', '--data', '/nowhere'])).toMatchObject({
      code: 2,
      stderr: 'tagwarden: upgrade: data folder not found: /nowhere\n',
    })
    expect(await runProgram(['upgrade'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--check is missing'),
    })
  })
})
