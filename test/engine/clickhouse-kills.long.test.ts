import { expect, test } from 'bun:test'
import { seededRandom, startLoad } from '../crash/event-load.ts'
import { askAll, call, until } from '../run-program.ts'
import { clickhouseProblem } from './clickhouse-server.ts'
import { openServedByClickhouse } from './served-by-clickhouse.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

test.skipIf(problem !== null).each([1, 2])(
  `after kills of the server and of one of %d ClickHouse servers, each acknowledged event is stored once${reason}`,
  async (shards) => {
    await using world = await openServedByClickhouse({ shards })
    const { servers, clickhouse, key, start, v1Of } = world
    const killed = servers.at(-1) ?? clickhouse
    let server = await start()
    const domains = await world.domainOnEachShard(v1Of(server))
    using stack = new DisposableStack()
    const loads = domains.map(({ token }, at) => stack.use(startLoad(token, seededRandom(at + 1))))
    const sendTo = (url: string | null) => {
      for (const load of loads) load.to = url
    }
    const more = async (count: number) => {
      const known = loads.map(({ acknowledged }) => acknowledged.size)
      await until('more acknowledged events', () =>
        loads.every(({ acknowledged }, at) => acknowledged.size >= (known[at] ?? 0) + count),
      )
    }
    const found = (domainId: string) => call('GET', `${server.url}/v1/events?domainId=${domainId}&limit=1`, { as: key })
    const visible = async () => {
      const answers = await Promise.all(domains.map(({ id }) => found(id)))
      return answers.every(({ status, body }) => status === 200 && body.events.length > 0)
    }
    sendTo(server.url)
    await until('the first events', visible)
    for (let kill = 0; kill < 2; kill++) {
      // ClickHouse is killed while events arrive, and the server while ClickHouse is away.
      await killed.kill()
      await more(200)
      sendTo(null)
      await server.stop('SIGKILL')
      server = await start()
      sendTo(server.url)
      await more(200)
      for (const { id } of domains) {
        const failed = await found(id)
        expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '5'])
        expect(failed.body.error).toBe('the event history is not available; try again in 5 s')
      }
      await until('the readiness check to fail', async () => {
        const { status, body } = await call('GET', `${server.url}/readyz`)
        const fault = `engine: ClickHouse: no answer from ${killed.client.host}: `
        return status === 503 && body.error.includes(fault) && body.error.includes('wait in the data folder')
      })
      await killed.start()
      await until('events again', visible)
      sendTo(null)
      await server.stop('SIGKILL')
      server = await start()
      sendTo(server.url)
      await more(50)
    }
    for (const [at, load] of loads.entries()) {
      await load.finish()
      const { id } = domains[at] ?? { id: '' }
      const count = async (select: string) => {
        const sql = `SELECT ${select} AS n FROM ${select === 'count(*)' ? 'events' : 'counts'} WHERE domainId = '${id}'`
        return (await clickhouse.client.select<{ n: number }>(sql))[0]?.n ?? 0
      }
      await until('all events in ClickHouse', async () => (await count('count(*)')) >= load.acknowledged.size)
      const events = await askAll<{ id: string }>(server.url, `/v1/events?domainId=${id}`, key, 'events')
      expect(events.map((event) => event.id).sort()).toEqual([...load.acknowledged.keys()].sort())
      expect(await count('sum(events)')).toBe(load.acknowledged.size)
    }
    const perServer = servers.map(({ client }) => client.select(`SELECT 1 FROM ${world.localTable('events')} LIMIT 1`))
    expect((await Promise.all(perServer)).map(({ length }) => length)).toEqual(servers.map(() => 1))
    await until(
      'the readiness check to succeed',
      async () => (await call('GET', `${server.url}/readyz`)).status === 200,
    )
  },
)
