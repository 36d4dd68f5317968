import { join } from 'node:path'
import { ask, runProgram, type Server, startServer, temporaryFolder } from '../run-program.ts'
import { ClickhouseServer } from './clickhouse-server.ts'

/**
 * Opens a ClickHouse server or cluster without tables, and a data folder of the organization Acme for servers that store
 * their events in it.
 */
export async function openServedByClickhouse({ shards = 1, grants = [] as readonly string[] } = {}) {
  await using opened = new AsyncDisposableStack()
  const servers = await ClickhouseServer.open(shards, { grants, hasTables: false })
  const [clickhouse] = servers
  if (!clickhouse) throw new Error('no server')
  for (const server of servers) opened.use(server)
  const folder = opened.use(temporaryFolder())
  const data = join(folder.path, 'data')
  const made = await runProgram(['init', '--data', data, '--org', 'Acme', '--email', 'alice@example.com', '--json'])
  const key: string = JSON.parse(made.stdout).apiKey
  const env = {
    TAGWARDEN_WAREHOUSE: clickhouse.url,
    TAGWARDEN_PUBLIC_URL: 'https://watch.example',
    TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
    TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
  }
  const stack = opened.move()
  const start = async () => stack.use(await startServer(data, { env }))
  const v1Of = (server: Server) => (method: string, path: string, body?: unknown) =>
    ask(method, `${server.url}/v1${path}`, key, body)
  return { clickhouse, servers, data, env, key, start, v1Of, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
