import { join } from 'node:path'
import { localTable, type Table } from '../../src/warehouse/clickhouse/clickhouse-schema.ts'
import { ask, runProgram, type Server, startServer, temporaryFolder } from '../run-program.ts'
import { ClickhouseServer, type ServerOptions } from './clickhouse-server.ts'

/**
 * Opens a ClickHouse server or cluster without tables, and a data folder of the organization Acme for servers that store
 * their events in it.
 */
export async function openServedByClickhouse({ shards = 1, ...options }: ServerOptions & { shards?: number } = {}) {
  await using opened = new AsyncDisposableStack()
  const servers = await ClickhouseServer.open(shards, { ...options, hasTables: false })
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
  return {
    clickhouse,
    servers,
    data,
    env,
    key,
    start,
    v1Of,
    /** Name of the table of each server that stores the rows. */
    localTable: (table: Table) => localTable(table, clickhouse.client.address),
    /** Creates domains until the events of one are stored on each shard. Returns these. */
    async domainOnEachShard(v1: ReturnType<typeof v1Of>): Promise<{ id: string; token: string }[]> {
      const byShard = new Map<number, { id: string; token: string }>()
      for (let n = 1; byShard.size < shards; n++) {
        const domain = await v1('POST', '/domains', { name: `Shop ${n}` })
        const sql = `SELECT toInt64(cityHash64('${domain.id}') % ${shards}) AS shard`
        const [row] = await clickhouse.client.select<{ shard: number }>(sql)
        byShard.set(row?.shard ?? 0, domain)
      }
      return [...byShard.values()]
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
