import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { tellMainStory } from '../api/main-story.ts'
import { seededRandom, startLoad } from '../crash/event-load.ts'
import { ask, askAll, call, runProgram, type Server, startServer, temporaryFolder, until } from '../run-program.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

describe.skipIf(problem !== null)(`a server that stores its events in ClickHouse${reason}`, () => {
  /** Opens a ClickHouse server without tables, and a data folder with an owner. */
  async function open() {
    const stack = new AsyncDisposableStack()
    const [clickhouse] = await ClickhouseServer.open()
    if (!clickhouse) throw new Error('no server')
    stack.use(clickhouse)
    const folder = stack.use(temporaryFolder())
    const data = join(folder.path, 'data')
    const made = await runProgram(['init', '--data', data, '--org', 'Acme', '--email', 'alice@example.com', '--json'])
    const key: string = JSON.parse(made.stdout).apiKey
    const env = {
      TAGWARDEN_WAREHOUSE: clickhouse.url,
      TAGWARDEN_PUBLIC_URL: 'https://watch.example',
      TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
      TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
    }
    const start = async () => stack.use(await startServer(data, { env }))
    const v1Of = (server: Server) => (method: string, path: string, body?: unknown) =>
      ask(method, `${server.url}/v1${path}`, key, body)
    return { clickhouse, data, env, key, start, v1Of, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }

  test('opens an issue for a captured request, which sends a notification and can be acknowledged', async () => {
    await using world = await open()
    await using hook = receiver()
    const server = await world.start()
    const v1 = world.v1Of(server)
    await tellMainStory({
      v1,
      requests: hook.requests,
      hookUrl: `${hook.url}/hook`,
      async collect(token, batch) {
        const { status, body } = await call('POST', `${server.url}/api/v1/events`, { as: token, body: batch })
        expect(status).toBe(202)
        return body
      },
    })
    await server.stop()
    expect(server.code()).toBe(0)
    expect(server.log()).not.toContain('"level":50')
  })

  test('after kills of both servers under load, each acknowledged event is stored once', async () => {
    await using world = await open()
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
        return status === 503 && /engine: ClickHouse does not answer: .*wait in the data folder/.test(body.error)
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
  })

  test('refuses a folder whose events are in the other engine, and changes nothing', async () => {
    await using world = await open()
    const { data, env, start, v1Of } = world
    const serve = (own: Record<string, string>) =>
      runProgram(['serve', '--data', data, '--listen', '127.0.0.1:0'], { env: own })
    const wrong = await serve({ ...env, TAGWARDEN_WAREHOUSE: env.TAGWARDEN_WAREHOUSE.replace(/:[^:@]+@/, ':secret@') })
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toMatch(/^tagwarden: TAGWARDEN_WAREHOUSE: .* error 516 \(wrong user or password\)$/m)
    const { TAGWARDEN_WAREHOUSE: _, ...files } = env
    const server = await start()
    await v1Of(server)('GET', '/whoami')
    await server.stop()
    const refused = await serve(files)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('are in ClickHouse. Nothing was changed'),
    ])
  })

  test('prints the tables', async () => {
    await using world = await open()
    const { stdout, code } = await runProgram(['serve', '--print-schema'])
    expect(code).toBe(0)
    for (const sql of stdout.split(';\n')) if (sql.trim() !== '') await world.clickhouse.client.run(sql)
    expect(stdout).toContain('CREATE TABLE IF NOT EXISTS events (')
  })
})
