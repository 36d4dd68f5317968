import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { ClickhouseStorage } from '../../src/warehouse/clickhouse/clickhouse-storage.ts'
import { tellMainStory } from '../api/main-story.ts'
import { ask, call, runProgram, startServer, until } from '../run-program.ts'
import { clickhouseProblem } from './clickhouse-server.ts'
import { openServedByClickhouse } from './served-by-clickhouse.ts'

const problem = clickhouseProblem()
const ROOT = join(import.meta.dir, '../..')

/** Returns the rights that the guide lists, for the database of the test. */
function documentedGrants(shards: number): string[] {
  const guide = readFileSync(join(ROOT, 'docs/operate/scale-out.md'), 'utf8')
  const [single = '', cluster = ''] = guide.split('In a cluster, the user also needs these rights')
  const grants = [...(shards === 1 ? single : single + cluster).matchAll(/^GRANT .+ TO tagwarden;$/gm)]
  expect(grants.length).toBe(shards === 1 ? 3 : 6)
  return grants.map(([grant]) => grant.replace(' TO tagwarden;', '').replace('tagwarden.*', 'default.*'))
}

const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

describe.skipIf(problem !== null)(`a server that stores its events in ClickHouse${reason}`, () => {
  const story = 'opens an issue for a captured request, which sends a notification and can be acknowledged'
  test.each([1, 2])(`${story}, with %d ClickHouse servers`, async (shards) => {
    await using world = await openServedByClickhouse({ shards })
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

  const rights = 'creates the tables, stores events and deletes them with the documented rights only'
  test.each([1, 2])(`${rights}, on %d servers`, async (shards) => {
    await using world = await openServedByClickhouse({ shards, grants: documentedGrants(shards) })
    const { clickhouse, start, v1Of } = world
    await expect(clickhouse.client.run('CREATE DATABASE other')).rejects.toMatchObject({ code: 497 })
    await expect(clickhouse.client.select('SELECT * FROM system.users')).rejects.toMatchObject({ code: 497 })
    const server = await start()
    const v1 = v1Of(server)
    const domains = await world.domainOnEachShard(v1)
    for (const { token } of domains) {
      const batch = { events: [{ vendor: 'Shop', event: 'view' }] }
      expect(await call('POST', `${server.url}/api/v1/events`, { as: token, body: batch })).toMatchObject({
        status: 202,
      })
    }
    await until('the events', async () => (await v1('GET', '/events')).events.length === domains.length)
    await server.stop()
    const storage = new ClickhouseStorage(clickhouse.client)
    // Canary events belong to another organization.
    const [{ orgId, events }] = (await clickhouse.client.select(
      "SELECT orgId, toInt64(count(*)) AS events FROM events WHERE vendor = 'Shop' GROUP BY orgId",
    )) as [{ orgId: string; events: number }]
    expect(events).toBe(domains.length)
    await storage.deleteOrganizations([orgId])
    await storage.drop(() => true, 0)
    expect(await storage.parts()).toEqual([])
  })

  test('stores events in a server with the configuration for little memory', async () => {
    const files = { 'config.d/low-memory.xml': readFileSync(join(ROOT, 'ops/clickhouse-low-memory.xml'), 'utf8') }
    await using world = await openServedByClickhouse({ files })
    const settings = await world.clickhouse.client.select<{ name: string; value: string }>(
      "SELECT name, value FROM system.server_settings WHERE name IN ('mark_cache_size', 'background_pool_size', 'max_server_memory_usage_to_ram_ratio')",
    )
    expect(Object.fromEntries(settings.map(({ name, value }) => [name, value]))).toEqual({
      mark_cache_size: '134217728',
      background_pool_size: '2',
      max_server_memory_usage_to_ram_ratio: '0.6',
    })
    const server = await world.start()
    const v1 = world.v1Of(server)
    const { token } = await v1('POST', '/domains', { name: 'Shop' })
    const batch = { events: [{ vendor: 'Shop', event: 'view' }] }
    expect(await call('POST', `${server.url}/api/v1/events`, { as: token, body: batch })).toMatchObject({ status: 202 })
    await until('the event', async () => (await v1('GET', '/events')).events.length === 1)
    await world.clickhouse.client.run('OPTIMIZE TABLE events FINAL')
    await world.clickhouse.client.run("DELETE FROM events WHERE orgId = 'org_none'")
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

  test.each([1, 2])('prints the tables of each of %d servers', async (shards) => {
    await using world = await openServedByClickhouse({ shards })
    const { stdout, code } = await runProgram(['serve', '--print-schema'], { env: world.env })
    expect(code).toBe(0)
    for (const { client } of world.servers)
      for (const sql of stdout.split(';\n')) if (sql.trim() !== '') await client.run(sql)
    expect(stdout).toContain(`CREATE TABLE IF NOT EXISTS ${world.localTable('events')} (`)
    const server = await world.start()
    expect(await world.v1Of(server)('GET', '/events')).toMatchObject({ events: [] })
  })

  test('prints replicated tables that ClickHouse can parse', async () => {
    await using world = await openServedByClickhouse()
    const { stdout } = await runProgram(['serve', '--print-schema'], {
      env: { TAGWARDEN_WAREHOUSE: 'clickhouse://db.example/tagwarden?cluster=main&replicated=true' },
    })
    const statements = stdout.split(';\n').filter((sql) => sql.trim() !== '')
    for (const sql of statements) await world.clickhouse.client.run(`EXPLAIN AST ${sql}`)
    const path = "MergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')"
    expect(statements.filter((sql) => sql.includes(path))).toHaveLength(5)
  })
})
