import { expect, test } from 'bun:test'
import { seededRandom, startLoad } from '../crash/event-load.ts'
import { askAll, call, until } from '../run-program.ts'
import { clickhouseProblem } from './clickhouse-server.ts'
import { openServedByClickhouse } from './served-by-clickhouse.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

test.skipIf(problem !== null)(
  `after kills of the server and of ClickHouse, each acknowledged event is stored once${reason}`,
  async () => {
    await using world = await openServedByClickhouse()
    const { clickhouse, key, start, v1Of } = world
    let server = await start()
    const { id: domainId, token } = await v1Of(server)('POST', '/domains', { name: 'Shop' })
    using load = startLoad(token, seededRandom(1))
    const more = async (count: number) => {
      const known = load.acknowledged.size
      await until('more acknowledged events', () => load.acknowledged.size >= known + count)
    }
    const visible = async () => {
      const { status, body } = await call('GET', `${server.url}/v1/events?domainId=${domainId}&limit=1`, { as: key })
      return status === 200 && body.events.length > 0
    }
    load.to = server.url
    await until('the first events', visible)
    for (let kill = 0; kill < 2; kill++) {
      // ClickHouse is killed while events arrive, and the server while ClickHouse is away.
      await clickhouse.kill()
      await more(200)
      load.to = null
      await server.stop('SIGKILL')
      server = await start()
      load.to = server.url
      await more(200)
      const failed = await call('GET', `${server.url}/v1/events?domainId=${domainId}`, { as: key })
      expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '5'])
      await until('the readiness check to fail', async () => {
        const { status, body } = await call('GET', `${server.url}/readyz`)
        return status === 503 && /engine: ClickHouse: no answer from .*wait in the data folder/.test(body.error)
      })
      await clickhouse.start()
      await until('events again', visible)
      load.to = null
      await server.stop('SIGKILL')
      server = await start()
      load.to = server.url
      await more(50)
    }
    await load.finish()
    const count = async () => {
      const [row] = await clickhouse.client.select<{ n: number }>(
        `SELECT count(*) AS n FROM events WHERE domainId = '${domainId}'`,
      )
      return row?.n ?? 0
    }
    await until('all events in ClickHouse', async () => (await count()) >= load.acknowledged.size)
    const events = await askAll<{ id: string }>(server.url, `/v1/events?domainId=${domainId}`, key, 'events')
    expect(events.map(({ id }) => id).sort()).toEqual([...load.acknowledged.keys()].sort())
    const [counted] = await clickhouse.client.select<{ n: number }>(
      `SELECT sum(events) AS n FROM counts WHERE domainId = '${domainId}'`,
    )
    expect(counted?.n).toBe(load.acknowledged.size)
    await until(
      'the readiness check to succeed',
      async () => (await call('GET', `${server.url}/readyz`)).status === 200,
    )
  },
)
