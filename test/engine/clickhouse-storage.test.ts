import { describe, expect, test } from 'bun:test'
import { DAY_MS } from '../../src/core/clock.ts'
import { plainPage } from '../../src/core/stored-page-view.fixture.ts'
import { localTable, type Table } from '../../src/warehouse/clickhouse/clickhouse-schema.ts'
import { ClickhouseStorage } from '../../src/warehouse/clickhouse/clickhouse-storage.ts'
import { HOUR, WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'
import { insertAll } from './engine-fixture.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`
/** ClickHouse stores them on different shards if there are two. */
const DOMAINS = ['dom_1', 'dom_2', 'dom_3', 'dom_4']
const DAY = Math.floor(HOUR / DAY_MS) * DAY_MS
const dayText = (n: number) => new Date(DAY + n * DAY_MS).toISOString().slice(0, 10)

describe.skipIf(problem !== null).each([1, 2])(`stored data on %d ClickHouse servers${reason}`, (shards) => {
  /** Opens servers with the same events of two organizations on each of three days. With shards, each has some of both. */
  async function open() {
    const stack = new AsyncDisposableStack()
    const servers = await ClickhouseServer.open(shards)
    for (const one of servers) stack.use(one)
    const [server] = servers
    if (!server) throw new Error('no server')
    const fixture = stack.use(await WarehouseFixture.open())
    for (let day = 0; day < 3; day++) {
      fixture.clock.set(HOUR + day * DAY_MS)
      const domains = DOMAINS.map((domainId) => ({ domainId, event: 'x', params: { a: '1' } }))
      await fixture.add(['org_1', "org_'2"].flatMap((orgId) => domains.map((one) => ({ orgId, ...one }))))
    }
    await insertAll(server.client, fixture.events, [plainPage({ receivedAt: HOUR, orgId: 'org_1' })])
    const storage = new ClickhouseStorage(server.client)
    const rowsOf = async (table: string) =>
      (await server.client.select<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n
    /** Number of servers that have rows of a table. */
    const serversWith = async (table: Table, where = 'true') => {
      const sql = `SELECT 1 FROM ${localTable(table, server.client.address)} WHERE ${where} LIMIT 1`
      return (await Promise.all(servers.map(({ client }) => client.select(sql)))).flat().length
    }
    return { storage, rowsOf, serversWith, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }

  test('lists days of events, counts and pages with their sizes', async () => {
    await using world = await open()
    const parts = await world.storage.parts()
    const events = parts.filter(({ name }) => name.startsWith('events/'))
    expect(events.map(({ name, rows, firstAt, lastAt }) => ({ name, rows, firstAt, lastAt }))).toEqual(
      [0, 1, 2].map((n) => ({
        name: `events/${dayText(n)}`,
        rows: 2 * DOMAINS.length,
        firstAt: DAY + n * DAY_MS,
        lastAt: DAY + (n + 1) * DAY_MS - 1,
      })),
    )
    expect(parts.every(({ bytes }) => bytes > 0)).toBe(true)
    expect(new Set(parts.map(({ kind }) => kind))).toEqual(new Set(['events', 'counts', 'pages']))
    expect(parts.filter(({ name }) => name.startsWith('counts_quarter/')).map(({ rows }) => rows)).toEqual([24])
  })

  test('divides days among organizations by their numbers of events', async () => {
    await using world = await open()
    const parts = await world.storage.parts()
    const pieces = await world.storage.pieces(parts, HOUR + 2 * DAY_MS)
    const sumOf = (all: readonly { bytes: number }[]) => all.reduce((sum, { bytes }) => sum + bytes, 0)
    const own = Map.groupBy(pieces, ({ orgId }) => orgId)
    expect([...own.keys()].sort()).toEqual(["org_'2", 'org_1'])
    for (const one of own.values()) expect(sumOf(one)).toBeCloseTo(sumOf(parts) / 2)
    const events = own.get('org_1')?.filter(({ kind }) => kind === 'events')
    // Names of parameters have the same kind. The last day can't be deleted yet.
    expect(events?.map(({ part }) => part)).toEqual(
      expect.arrayContaining([`events/${dayText(0)}`, `names/${dayText(1)}`, null]),
    )
    expect(events?.map(({ from }) => from).sort()).toEqual([0, 0, 1, 1, 2, 2].map((n) => HOUR + n * DAY_MS))
    expect(await world.storage.pieces(parts, HOUR + 3 * DAY_MS)).not.toContainEqual(
      expect.objectContaining({ kind: 'events', part: null }),
    )
  })

  test('deletes days that are too old', async () => {
    await using world = await open()
    const { storage, rowsOf, serversWith } = world
    await storage.drop(({ kind, lastAt }) => kind !== 'counts' && lastAt < DAY + DAY_MS, HOUR)
    expect(await Promise.all(['events', 'names', 'pages', 'counts'].map(rowsOf))).toEqual([16, 4 * shards, 0, 24])
    const stale = `receivedAt < ${DAY + DAY_MS}`
    expect([await serversWith('events', stale), await serversWith('events')]).toEqual([0, shards])
    // After 70 days, counts are stored by quarter-hour only.
    await storage.drop(() => false, DAY + 72 * DAY_MS)
    expect(await Promise.all(['events', 'counts', 'counts_quarter'].map(rowsOf))).toEqual([16, 8, 24])
  })

  test('deletes all data of an organization, and nothing else', async () => {
    await using world = await open()
    const { storage, rowsOf, serversWith } = world
    await storage.deleteOrganizations(["org_'2", 'org_none'])
    await storage.deleteOrganizations([])
    const tables = ['events', 'names', 'counts', 'counts_quarter', 'pages']
    expect(await Promise.all(tables.map(rowsOf))).toEqual([12, 3 * shards, 12, 12, 1])
    expect([await serversWith('events', "orgId <> 'org_1'"), await serversWith('events')]).toEqual([0, shards])
    const others = tables.map((table) => rowsOf(`${table} WHERE orgId <> 'org_1'`))
    expect(await Promise.all(others)).toEqual([0, 0, 0, 0, 0])
  })
})
