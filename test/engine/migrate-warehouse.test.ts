import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS } from '../../src/core/clock.ts'
import { EVENT_COLUMNS, type StoredEvent } from '../../src/core/event.ts'
import type { StoredPage } from '../../src/core/stored-page-view.ts'
import { clickhouseDialect } from '../../src/warehouse/clickhouse/clickhouse-dialect.ts'
import { ClickhouseHistory } from '../../src/warehouse/clickhouse/clickhouse-history.ts'
import { wholeEvent } from '../../src/warehouse/dialect.ts'
import { COUNTS } from '../../src/warehouse/duckdb/counts-rollup.ts'
import { listedPaths } from '../../src/warehouse/duckdb/unlisted-files.ts'
import { migrateToClickhouse, targetOf } from '../../src/warehouse/migration/migrate-to-clickhouse.ts'
import { checkSource, migrateToFolder } from '../../src/warehouse/migration/migrate-to-folder.ts'
import { MigrationProgress } from '../../src/warehouse/migration/migration-progress.ts'
import { MOVED, moveAside, undoMoves } from '../../src/warehouse/migration/moved-files.ts'
import { insertProgress, markClickhouse, storedEngine } from '../../src/warehouse/stored-engine.ts'
import { HOUR, NASTY_KEYS, plainQuery, WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'
import { generateBatches } from './generated-events.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

const PLACES = [
  { orgId: 'org_1', domainId: 'dom_1' },
  { orgId: "org_'2", domainId: 'dom_2' },
]

describe.skipIf(problem !== null)(`a migration of the event history${reason}`, () => {
  /** Opens a server, and a folder with files of every kind over three days. */
  async function open(count = 700) {
    const stack = new AsyncDisposableStack()
    const [server] = await ClickhouseServer.open()
    if (!server) throw new Error('no server')
    stack.use(server)
    const fixture = stack.use(await WarehouseFixture.open())
    await fill(fixture, count)
    const { db, folder, clock } = fixture
    const { address } = server.client
    const parts = { db, folder, clock, address, report: () => {} }
    return {
      server,
      fixture,
      toClickhouse: (skipsDamaged = false) => migrateToClickhouse({ ...parts, skipsDamaged }),
      toFolder: () => migrateToFolder(parts),
      history: new ClickhouseHistory({ client: server.client, clock }),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  async function fill(fixture: WarehouseFixture, count: number): Promise<void> {
    const batches = generateBatches(HOUR, PLACES, count)
    for (const [n, { events }] of batches.entries()) {
      fixture.clock.set(HOUR + Math.floor((n * 3 * DAY_MS) / batches.length))
      const params = Object.fromEntries(NASTY_KEYS.slice(n % 40, (n % 40) + 30).map((key, at) => [key, `v${at}`]))
      await fixture.add([{ ...PLACES[n % 2], params }, ...events])
      const left = batches.length - n
      if (n % 3 === 2) await fixture.flush()
      if (n === Math.floor(batches.length / 2)) {
        await fixture.compact()
        await fixture.compactCounts()
      } else if (left === 6) await fixture.merge()
    }
    await addPages(fixture)
    await fixture.flush()
  }

  async function addPages(fixture: WarehouseFixture): Promise<void> {
    const page: StoredPage = {
      ...{ page: 7, ts: HOUR, receivedAt: HOUR, orgId: 'org_1', domainId: 'dom_1', env: 'prod', host: null, path: '/' },
      ...{ sessionId: null, version: 1.5, weight: 2, loaf: true, vendor: "it's", vendorHost: 'größe 😀', requests: 2 },
      ...{ durMs: [0.5, 1e300], blockMs: null, bytes: 0 },
    }
    const answer = { accepted: 0, rejected: 0, errors: [] }
    const pages = [page, { ...page, page: 8, durMs: [], blockMs: 0.25, bytes: null }]
    await fixture.spool.append([], {
      ...{ key: null, orgId: 'org_1', domainId: 'dom_1', receivedAt: HOUR, answer, ledger: [] },
      pages,
    })
  }

  const counted = {
    over: 'counts' as const,
    sql: `SELECT orgId, domainId, vendor, event, env, minute, sum(events) AS n, sum(weight) AS w FROM counts
      GROUP BY orgId, domainId, vendor, event, env, minute ORDER BY orgId, domainId, vendor, event, env, minute`,
  }
  const paged = { over: 'pages' as const, sql: 'SELECT * FROM pages ORDER BY page' }

  /** Hash of all values in DuckDB, whose library omits a byte order mark at the start of a text that it returns. */
  const hashed = {
    sql: `SELECT bit_xor(hash(${Object.keys(EVENT_COLUMNS).join(', ')}, violated, list_sort(map_entries(params))))::VARCHAR AS sum
      FROM events`,
    wholeParams: true,
  }

  test('moves every value of every event there and back', async () => {
    await using world = await open()
    const { fixture, history } = world
    const original = await fixture.wholeEvents()
    expect(original).toHaveLength(fixture.events.length)
    const hash = await fixture.warehouse.query(plainQuery(hashed))
    const counts = await fixture.warehouse.query(plainQuery(counted))
    const pages = await fixture.warehouse.query(plainQuery(paged))
    expect(pages).toHaveLength(2)

    expect(await world.toClickhouse()).toEqual({ isDone: true, differences: [], damaged: [] })
    expect(storedEngine(fixture.db)).toBe('clickhouse')
    const whole = {
      sql: `SELECT ${wholeEvent(clickhouseDialect)}, violated FROM events ORDER BY seq`,
      wholeParams: true,
    }
    const sorted = (events: readonly StoredEvent[]) =>
      events.map((event) => ({ ...event, params: Object.entries(event.params).sort() }))
    // The spool stores -0 as 0, like JSON.
    const sent: StoredEvent[] = JSON.parse(JSON.stringify(fixture.events))
    const received = sent.map((event) => ({ ...event, violated: event.violations !== null }))
    expect(sorted(await history.query<StoredEvent>(plainQuery(whole)))).toEqual(sorted(received))
    expect(await history.query(plainQuery(counted))).toEqual(counts)
    expect(await history.query(plainQuery(paged))).toEqual(pages)
    // Later events get higher numbers, although the folder has no files.
    const last = fixture.events.at(-1)
    expect(insertProgress(fixture.db).moved).toMatchObject({ lastSeq: last?.seq, lastReceivedAt: last?.receivedAt })
    await fixture.reopen()
    expect(fixture.manifest.present()).toEqual([])
    expect(readdirSync(join(fixture.folder, MOVED)).length).toBeGreaterThan(3)

    expect(await world.toFolder()).toEqual({ differences: [], rejected: [] })
    expect(storedEngine(fixture.db)).toBe('files')
    await fixture.reopen()
    expect(sorted(await fixture.wholeEvents())).toEqual(sorted(original))
    expect(await fixture.warehouse.query(plainQuery(hashed))).toEqual(hash)
    expect(await fixture.warehouse.query(plainQuery(counted))).toEqual(counts)
    expect(await fixture.warehouse.query(plainQuery(paged))).toEqual(pages)
    expect(fixture.warehouse.loaded.lastSeq).toBe(Math.max(...fixture.events.map(({ seq }) => seq)))
    expect(existsSync(join(fixture.folder, 'arriving'))).toBe(false)
    // The files are like those of a server.
    fixture.clock.advance(3 * DAY_MS)
    await fixture.compact()
    await fixture.compactCounts()
    expect(sorted(await fixture.wholeEvents())).toEqual(sorted(original))
    expect(await fixture.warehouse.query(plainQuery(counted))).toEqual(counts)
  })

  test('copies days again that are incomplete, or that have changed since they were copied', async () => {
    await using world = await open(300)
    const { fixture, server, history } = world
    const progress = new MigrationProgress(fixture.db)
    const days = [...new Set(fixture.events.map(({ receivedAt }) => Math.floor(receivedAt / DAY_MS) * DAY_MS))]
    expect(days.length).toBeGreaterThan(2)
    const [incomplete = 0, changed = 0] = days
    progress.start(targetOf(server.client.address), HOUR)
    progress.begin(incomplete)
    progress.begin(changed)
    progress.finish(changed, { files: [], rollups: [], pages: [] })
    for (const [day, seq] of [
      [incomplete, 1],
      [changed, 2],
      [HOUR - 30 * DAY_MS, 3],
    ] as const) {
      const columns = `seq, receivedAt, orgId, domainId, vendor`
      await server.client.run(
        `INSERT INTO events (${columns}) VALUES (${seq}, ${day + HOUR_MS}, 'org_1', 'dom_1', 'x')`,
      )
      await server.client.run(
        `INSERT INTO counts_quarter (orgId, minute, events) VALUES ('org_1', ${day + HOUR_MS}, 1)`,
      )
    }
    expect(await world.toClickhouse()).toMatchObject({ isDone: true, differences: [] })
    const seqs = await history.query<{ seq: number }>(plainQuery({ sql: 'SELECT seq FROM events ORDER BY seq' }))
    expect(seqs.map(({ seq }) => seq)).toEqual(fixture.events.map(({ seq }) => seq))
  })

  test('names damaged files, and leaves everything as it was unless they are to be left out', async () => {
    await using world = await open(300)
    const { fixture } = world
    const [file] = fixture.manifest.files()
    if (!file) throw new Error('no file')
    writeFileSync(join(fixture.folder, file.path), 'x'.repeat(file.sizeBytes))
    expect(await world.toClickhouse()).toEqual({ isDone: false, differences: [], damaged: [file.path] })
    expect(storedEngine(fixture.db)).toBe('files')
    await fixture.reopen()
    expect((await fixture.wholeEvents()).length).toBe(fixture.events.length - file.rows)
    expect(await world.toClickhouse(true)).toMatchObject({ isDone: true, damaged: [file.path] })
    expect(storedEngine(fixture.db)).toBe('clickhouse')
  })

  test('refuses a database with the data of another server, and another target while one is unfinished', async () => {
    await using world = await open(60)
    const { fixture, server } = world
    await server.client.run(`INSERT INTO pages (page) VALUES (1)`)
    await expect(world.toClickhouse()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('already has data'),
    })
    const progress = new MigrationProgress(fixture.db)
    expect(progress.target).toBeNull()
    progress.start('other:8123/default', HOUR)
    await expect(world.toClickhouse()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/other:8123.* is unfinished/),
    })
  })

  test('does not read back a database that lacks the newest events', async () => {
    await using world = await open(60)
    const { fixture, server } = world
    await world.toClickhouse()
    const parts = { db: fixture.db, address: server.client.address }
    await checkSource(parts)
    await server.client.run('TRUNCATE TABLE events')
    await expect(checkSource(parts)).rejects.toMatchObject({ code: 'conflict' })
  })

  test.skipIf(!existsSync('/dev/full'))('continues after the disk was full on the way back', async () => {
    await using world = await open(60)
    const { fixture } = world
    await world.toClickhouse()
    mkdirSync(join(fixture.folder, 'tmp'), { recursive: true })
    symlinkSync('/dev/full', join(fixture.folder, 'tmp/downloaded.parquet'))
    await expect(world.toFolder()).rejects.toThrow('ENOSPC')
    expect(storedEngine(fixture.db)).toBe('clickhouse')
    await fixture.reopen()
    // As in a restored backup, which has the progress but not the files.
    const day = Math.floor(HOUR / DAY_MS) * DAY_MS
    const lost = {
      path: `${COUNTS}/d0.parquet`,
      orgId: null,
      minMinute: day,
      maxMinute: day,
      rows: 1,
      sizeBytes: 1,
      sum: 1,
    }
    new MigrationProgress(fixture.db).finish(day, { files: [], rollups: [{ ...lost, level: 'day' }], pages: [] })
    expect(await world.toFolder()).toMatchObject({ differences: [] })
    await fixture.reopen()
    expect(await fixture.count()).toMatchObject({ rows: fixture.events.length })
  })
})

test('files that were moved before a kill are moved back', async () => {
  await using fixture = await WarehouseFixture.open()
  await fixture.add([{ orgId: 'org_1' }])
  await fixture.flush()
  const paths = listedPaths(fixture.manifest)
  const onDisk = () => paths.filter((path) => existsSync(join(fixture.folder, path)))
  expect(paths).toHaveLength(2)
  moveAside(fixture.folder, paths.slice(1))
  expect(onDisk()).toEqual(paths.slice(0, 1))
  undoMoves(fixture.db, fixture.folder)
  expect(onDisk()).toEqual(paths)
  // On the way back, files that arrived are not in the manifest yet.
  markClickhouse(fixture.db)
  const progress = new MigrationProgress(fixture.db)
  const [file] = fixture.manifest.files()
  progress.begin(HOUR)
  progress.finish(HOUR, { files: file ? [{ ...file, path: 'c.parquet' }] : [], rollups: [], pages: [] })
  mkdirSync(join(fixture.folder, 'arriving'))
  writeFileSync(join(fixture.folder, 'c.parquet'), '')
  undoMoves(fixture.db, fixture.folder)
  expect(readdirSync(join(fixture.folder, 'arriving'))).toEqual(['c.parquet'])
  expect(onDisk()).toEqual(paths)
})
