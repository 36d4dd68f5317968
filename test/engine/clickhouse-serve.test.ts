import { describe, expect, test } from 'bun:test'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { tellMainStory } from '../api/main-story.ts'
import { ask, call, runProgram, startServer, until } from '../run-program.ts'
import { clickhouseProblem } from './clickhouse-server.ts'
import { openServedByClickhouse } from './served-by-clickhouse.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

describe.skipIf(problem !== null)(`a server that stores its events in ClickHouse${reason}`, () => {
  test('opens an issue for a captured request, which sends a notification and can be acknowledged', async () => {
    await using world = await openServedByClickhouse()
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

  test('refuses a folder whose events are in the other engine, and changes nothing', async () => {
    await using world = await openServedByClickhouse()
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

  test('refuses a folder with stored events', async () => {
    await using world = await openServedByClickhouse()
    const { data, env, key } = world
    const { TAGWARDEN_WAREHOUSE: _, ...files } = env
    await using server = await startServer(data, { env: files })
    const { id, token } = await ask('POST', `${server.url}/v1/domains`, key, { name: 'Shop' })
    const events = [{ vendor: 'Shop', event: 'view' }]
    expect(await call('POST', `${server.url}/api/v1/events`, { as: token, body: { events } })).toMatchObject({
      status: 202,
    })
    const isStored = async () => (await ask('GET', `${server.url}/v1/domains/${id}`, key)).events24h === 1
    await until('the event to be stored', isStored)
    await server.stop()
    const refused = await runProgram(['serve', '--data', data, '--listen', '127.0.0.1:0'], { env })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('are in its own files, but')])
    await using again = await startServer(data, { env: files })
    expect((await ask('GET', `${again.url}/v1/events?domainId=${id}`, key)).events).toHaveLength(1)
  })

  test('prints the tables', async () => {
    await using world = await openServedByClickhouse()
    const { stdout, code } = await runProgram(['serve', '--print-schema'])
    expect(code).toBe(0)
    for (const sql of stdout.split(';\n')) if (sql.trim() !== '') await world.clickhouse.client.run(sql)
    expect(stdout).toContain('CREATE TABLE IF NOT EXISTS events (')
  })
})
