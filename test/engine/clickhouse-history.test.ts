import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StoredEvent } from '../../src/core/event.ts'
import { ClickhouseClient, type ClickhouseError } from '../../src/warehouse/clickhouse/clickhouse-client.ts'
import { clickhouseDialect } from '../../src/warehouse/clickhouse/clickhouse-dialect.ts'
import { ClickhouseHistory } from '../../src/warehouse/clickhouse/clickhouse-history.ts'
import { MAX_READ_COLUMNS, relationOf } from '../../src/warehouse/clickhouse/clickhouse-relations.ts'
import { isStorable, wholeEvent } from '../../src/warehouse/dialect.ts'
import type { Masking, ParameterForm } from '../../src/warehouse/query.ts'
import { anEvent, paramOf, plainQuery, WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'
import { insertAll } from './engine-fixture.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

const NASTY = {
  '': 'empty',
  '.': 'dot',
  'a.b': 'dots',
  '%': '1',
  '%2E': '2',
  '%252E': '3',
  'ü`"\'\\': '"`\n\t\\N',
  a: '2026-01-01',
}

describe.skipIf(problem !== null)(`history in ClickHouse${reason}`, () => {
  let fixture: WarehouseFixture
  let server: ClickhouseServer
  let history: ClickhouseHistory
  const reported: unknown[] = []
  const report = (error: unknown) => void reported.push(error)

  beforeAll(async () => {
    fixture = await WarehouseFixture.open()
    const [first] = await ClickhouseServer.open()
    if (!first) throw new Error('no server')
    server = first
    const said = fc.sample(anEvent, { numRuns: 200, seed: 1 })
    await fixture.add([...said, { orgId: 'org_1', params: NASTY }])
    await insertAll(server.client, fixture.events, [])
    history = new ClickhouseHistory({ client: server.client, clock: fixture.clock, report })
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await fixture?.[Symbol.asyncDispose]()
  })

  test('returns whole events, although each was inserted twice', async () => {
    const sql = `SELECT ${wholeEvent(clickhouseDialect)} FROM events ORDER BY seq`
    const rows = await history.query<StoredEvent>(plainQuery({ sql, wholeParams: true }))
    expect(rows).toEqual(await fixture.wholeEvents().then((all) => all.map(({ violated: _, ...event }) => event)))
  })

  test('returns the value of each key, whatever its name', async () => {
    const keys = [...new Set([...Object.keys(NASTY), ...fixture.events.flatMap(({ params }) => Object.keys(params))])]
    // Stored names never contain these.
    keys.push('\0', 'a\0', '\ud800')
    const columns = keys.map((key, at) => `${clickhouseDialect.key(key)} AS k${at}`)
    const sql = `SELECT ${columns.join(', ')} FROM events ORDER BY seq`
    const rows = await history.query<Record<string, string | null>>(plainQuery({ sql, keys }))
    const expected = fixture.events.map((event) => keys.map((key) => paramOf(event, key)))
    expect(rows.map((row) => keys.map((_, at) => row[`k${at}`] ?? null))).toEqual(expected)
    const names = await history.query<{ name: string }>(plainQuery({ sql: 'SELECT name FROM names', over: 'names' }))
    expect(new Set(names.map(({ name }) => name))).toEqual(
      new Set(keys.filter((key) => fixture.events.some((event) => paramOf(event, key) !== null))),
    )
  })

  test('counts parameters alike in columns and in JSON', async () => {
    const scope = { ...plainQuery({ sql: '' }), over: 'parameters' as const }
    const names = [...new Set(fixture.events.flatMap(({ params }) => Object.keys(params)))].filter(isStorable).sort()
    const rowsOf = async (form: Partial<ParameterForm>, known?: string[]) => {
      const statement = { sql: '', params: {}, form: { by: ['vendor'], as: 'values', ...form } as ParameterForm }
      const relation = relationOf(scope, statement, { minutesFrom: 0, names: known })
      const rows = await server.client.select<{ key: string }>(`SELECT * FROM (${relation})`)
      return rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    }
    const among = [{ list: ['v', 'a'], values: ['2026-01-01'] }]
    for (const form of [{}, { as: 'marks' as const }, { except: names.slice(0, 4) }, { except: names }, { among }]) {
      const rows = await rowsOf(form)
      expect(await rowsOf(form, names)).toEqual(rows)
      const only = names.slice(2, 9)
      if (!('except' in form)) {
        expect(await rowsOf({ ...form, only })).toEqual(rows.filter(({ key }) => only.includes(key)))
        expect(rows.length).toBeGreaterThan(names.length / 2)
      }
      // Too many to be read as columns.
      const many = [...only, ...Array.from({ length: MAX_READ_COLUMNS }, (_, n) => `never ${n}`)]
      expect(await rowsOf({ ...form, only: many })).toEqual(await rowsOf({ ...form, only }))
    }
  })

  test('binds values of every kind, length and number', async () => {
    const values = ["it's", '\\', '\n\r\t', '{p1:String}', 'x'.repeat(500_000), 0.1, 2 ** 40, true, null]
    const params = Object.fromEntries(values.map((value, at) => [`p${at}`, value]))
    const columns = values.map((value, at) => `${clickhouseDialect.placeholder(`p${at}`, value)} AS c${at}`)
    const [row] = await server.client.select<Record<string, unknown>>(`SELECT ${columns.join(', ')}`, { params })
    expect(values.map((_, at) => row?.[`c${at}`])).toEqual(values)
  })

  test('masks events and names before the query reads them', async () => {
    const masking: Masking = {
      candidates: () => ({ anyTests: [], where: `event = 'purchase'` }),
      mask: (event) => (event.event === 'purchase' ? { ...event, host: '***', params: { a: '***' } } : event),
      maskName: (name) => (name === 'purchase' ? '***' : name),
    }
    const sql = `SELECT host, ${clickhouseDialect.key('a')} AS a, count(*) AS events FROM events GROUP BY ALL`
    const ours = { ...plainQuery({ sql, keys: ['a'] }), masking }
    const byBoth = await Promise.all([history.query<object>(ours), fixture.warehouse.query<object>(ours)])
    const [found, expected] = byBoth.map((rows) => rows.map((row) => JSON.stringify(row)).sort())
    expect(found).toEqual(expected as string[])
    expect(found?.join()).toContain('***')
    const counts = { sql: 'SELECT DISTINCT event FROM counts', over: 'counts' as const }
    const counted = await history.query<{ event: string }>({ ...plainQuery(counts), masking })
    expect(counted.some(({ event }) => event === '***')).toBe(true)
    expect(counted.some(({ event }) => event === 'purchase')).toBe(false)
  })

  test('cancels a query whose caller has gone', async () => {
    const running = () =>
      server.client.select(
        'SELECT query_id FROM system.processes WHERE position(query, {p0:String}) > 0 AND query_id <> queryID()',
        { params: { p0: 'sleepEachRow' } },
      )
    const caller = new AbortController()
    const sql = 'SELECT sleepEachRow(0.1) FROM numbers(100) SETTINGS max_block_size = 1'
    const answer = history.query(plainQuery({ sql }), caller.signal)
    while ((await running()).length < 2) await Bun.sleep(5)
    caller.abort()
    await expect(answer).rejects.toMatchObject({ code: 'unavailable' })
    while ((await running()).length > 1) await Bun.sleep(5)
  })

  test('reports a failed query to the operator only', async () => {
    const answer = history.query(plainQuery({ sql: "SELECT throwIf(1, 'secret') FROM events" }))
    await expect(answer).rejects.toMatchObject({ code: 'unavailable', message: 'the query failed; try again in 5 s' })
    expect(String(reported.at(-1))).toContain('secret')
  })

  test('distinguishes temporary errors', async () => {
    const { address } = server.client
    const failure = (sql: string, more = {}) =>
      new ClickhouseClient({ ...address, ...more }).select(sql).catch((error: unknown) => error as ClickhouseError)
    expect(await failure('SELECT 1', { password: 'x' })).toMatchObject({ code: 516, isTemporary: false })
    expect(await failure('SELECT nothing')).toMatchObject({ code: 47, isTemporary: false })
    const large = 'SELECT groupArray(number) FROM numbers(100000000) SETTINGS max_memory_usage = 1000000'
    expect(await failure(large)).toMatchObject({ code: 241, isTemporary: true })
    expect(await failure('SELECT 1', { url: 'http://127.0.0.1:1' })).toMatchObject({ code: null, isTemporary: true })
    await server.kill()
    expect(await failure('SELECT 1')).toMatchObject({ code: null, isTemporary: true })
    await server.start()
    const [row] = await history.query<{ events: number }>(plainQuery({ sql: 'SELECT count(*) AS events FROM events' }))
    expect(row?.events).toBe(fixture.events.length)
  })
})
