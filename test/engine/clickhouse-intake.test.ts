import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { ClickhouseClient, ClickhouseError } from '../../src/warehouse/clickhouse/clickhouse-client.ts'
import { ClickhouseHistory } from '../../src/warehouse/clickhouse/clickhouse-history.ts'
import { ClickhouseIntake } from '../../src/warehouse/clickhouse/clickhouse-intake.ts'
import { describeServers, isTooOld, prepareServers } from '../../src/warehouse/clickhouse/prepare-server.ts'
import { insertProgress, markClickhouse } from '../../src/warehouse/stored-engine.ts'
import { plainQuery, WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

test('requires version 26.3', () => {
  expect(['26.3.1.5', '26.7.2.1', '27.1.1.1'].filter(isTooOld)).toEqual([])
  expect(['26.2.9.9', '25.12.1.1', '', 'x'].filter(isTooOld)).toHaveLength(4)
})

describe.skipIf(problem !== null)(`intake for ClickHouse${reason}`, () => {
  /** Opens a server, and a fixture whose segments are loaded for ClickHouse. */
  async function open() {
    const stack = new AsyncDisposableStack()
    const [server] = await ClickhouseServer.open()
    if (!server) throw new Error('no server')
    stack.use(server)
    const fixture = stack.use(await WarehouseFixture.open())
    markClickhouse(fixture.db)
    const history = new ClickhouseHistory({ client: server.client, clock: fixture.clock })
    const counted = async (over: 'events' | 'counts') => {
      const sql = over === 'events' ? 'SELECT count(*) AS n FROM events' : 'SELECT sum(events) AS n FROM counts'
      return (await history.query<{ n: number | null }>(plainQuery({ sql, over })))[0]?.n ?? 0
    }
    const newIntake = (client = server.client) =>
      new ClickhouseIntake({ client, staging: fixture.warehouse, progress: insertProgress(fixture.db) })
    const load = async (intake: ClickhouseIntake) => {
      await fixture.spool.seal()
      for (const segment of [...fixture.spool.segments()]) {
        await intake.load(
          segment,
          ({ counts }) => fixture.counts.push(...counts),
          () => fixture.spool.release(segment),
        )
        await fixture.warehouse.discard(segment)
      }
    }
    const scan = async () => {
      const query = plainQuery({ sql: 'SELECT count(*) AS n FROM events' })
      for (let result = await fixture.warehouse.scanNewEvents(query); result; ) {
        result.commit(() => {})
        result = await fixture.warehouse.scanNewEvents(query)
      }
    }
    const files = () =>
      readdirSync(fixture.folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'))
    return { server, fixture, counted, newIntake, load, scan, files, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }
  const some = (count: number) =>
    Array.from({ length: count }, () => ({ orgId: 'org_1', domainId: 'dom_1', event: 'x' }))

  test('keeps files while the server is away, and deletes them once they are inserted and scanned', async () => {
    await using world = await open()
    const { fixture, server, counted } = world
    const intake = world.newIntake()
    await server.kill()
    const firstAt = fixture.clock.now()
    for (let n = 0; n < 3; n++) {
      await fixture.add(some(5))
      await world.load(intake)
      fixture.clock.advance(MINUTE_MS)
    }
    await expect(intake.send()).rejects.toMatchObject({ isTemporary: true })
    expect(fixture.spool.files()).toEqual([])
    expect(intake.pending.since).toBe(firstAt)
    await server.start()
    await intake.send()
    expect([await counted('events'), await counted('counts')]).toEqual([15, 15])
    expect(intake.pending.since).toBeNull()
    expect(world.files()).toHaveLength(6)
    await world.scan()
    await intake.send()
    // The newest segment stays.
    expect(world.files()).toHaveLength(2)
    expect(fixture.warehouse.loaded.lastSeq).toBe(Math.max(...fixture.events.map(({ seq }) => seq)))
    expect([await counted('events'), await counted('counts')]).toEqual([15, 15])
  })

  test('sets a segment aside that ClickHouse rejects, and continues with later ones', async () => {
    await using world = await open()
    const { fixture, server, counted } = world
    const sent: string[] = []
    class Rejecting extends ClickhouseClient {
      override insertFile(sql: string, path: string, token: string): Promise<void> {
        sent.push(token)
        if (token.startsWith('000000000001')) return Promise.reject(new ClickhouseError('cannot parse', 33))
        return super.insertFile(sql, path, token)
      }
    }
    const names: string[] = []
    const intake = new ClickhouseIntake({
      client: new Rejecting(server.client.address),
      staging: fixture.warehouse,
      progress: insertProgress(fixture.db),
      rejected: (segments) => names.push(...segments.map(({ name }) => name)),
    })
    const firstAt = fixture.clock.now()
    await fixture.add(some(5))
    await world.load(intake)
    // The server may be at fault as long as it accepts nothing.
    await expect(intake.send()).rejects.toMatchObject({ code: 33 })
    expect([intake.pending.since, names]).toEqual([firstAt, []])
    fixture.clock.advance(MINUTE_MS)
    await fixture.add(some(7))
    await world.load(intake)
    await intake.send()
    expect([intake.pending.since, names]).toEqual([null, ['000000000001']])
    expect(intake.pending.visibleSeq).toBe(fixture.warehouse.loaded.lastSeq)
    expect(await counted('events')).toBe(7)
    const attempts = sent.length
    await world.scan()
    await intake.send()
    expect(sent).toHaveLength(attempts)
    // After the next start, the segment is sent again.
    await world.newIntake().send()
    expect(await counted('events')).toBe(12)
  })

  test('sends a segment again that failed once, before it is set aside', async () => {
    await using world = await open()
    const { fixture, server, counted } = world
    const errors = [new ClickhouseError('aborted', 236), new ClickhouseError('no answer', null)]
    class Failing extends ClickhouseClient {
      override insertFile(sql: string, path: string, token: string): Promise<void> {
        const error = token.startsWith('000000000001') ? errors.shift() : undefined
        return error ? Promise.reject(error) : super.insertFile(sql, path, token)
      }
    }
    const names: string[] = []
    const intake = new ClickhouseIntake({
      client: new Failing(server.client.address),
      staging: fixture.warehouse,
      progress: insertProgress(fixture.db),
      rejected: (segments) => names.push(...segments.map(({ name }) => name)),
    })
    for (let n = 0; n < 2; n++) {
      await fixture.add(some(5))
      await world.load(intake)
      fixture.clock.advance(MINUTE_MS)
    }
    await expect(intake.send()).rejects.toMatchObject({ isTemporary: true })
    expect(intake.pending.since).not.toBeNull()
    await intake.send()
    expect([intake.pending.since, names]).toEqual([null, []])
    expect(await counted('events')).toBe(10)
  })

  test('stores every event once when the process or the server is killed', async () => {
    await using world = await open()
    const { fixture, server, counted } = world
    for (let n = 0; n < 4; n++) {
      await fixture.add(some(7))
      await world.load(world.newIntake())
      // A new process inserts again the segments whose files it still has.
      await world.newIntake().send()
      if (n % 2 === 0) {
        await server.kill()
        await server.start()
      }
      // It also knows that queries find all events, although it keeps the files of the newest segment.
      expect(world.newIntake().pending.since).toBeNull()
      fixture.clock.advance(HOUR_MS)
      await fixture.reopen()
    }
    await world.newIntake().send()
    expect([await counted('events'), await counted('counts')]).toEqual([28, 28])
  })

  test('stores events twice without tokens, so the test above can fail', async () => {
    await using world = await open()
    let sent = 0
    class WithoutTokens extends ClickhouseClient {
      override insertFile(sql: string, path: string): Promise<void> {
        return super.insertFile(sql, path, `${sent++}`)
      }
    }
    const client = new WithoutTokens(world.server.client.address)
    await world.fixture.add(some(7))
    await world.load(world.newIntake())
    for (let n = 0; n < 2; n++) await world.newIntake(client).send()
    expect([await world.counted('events'), await world.counted('counts')]).toEqual([14, 14])
  })

  test('creates the tables of a new server, and leaves existing ones as they are', async () => {
    await using world = await open()
    await world.fixture.add(some(3))
    await world.load(world.newIntake())
    await world.newIntake().send()
    await prepareServers(world.server.client)
    expect(await describeServers(world.server.client)).toMatch(/^ClickHouse \d+\.\d+\.\S+ answers$/)
    expect(await world.counted('events')).toBe(3)
  })
})
