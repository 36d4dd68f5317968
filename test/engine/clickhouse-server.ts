import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { messageOf } from '../../src/core/error.ts'
import { ClickhouseClient } from '../../src/warehouse/clickhouse/clickhouse-client.ts'
import { schemaOf } from '../../src/warehouse/clickhouse/clickhouse-schema.ts'
import { clickhouseLibrary } from './clickhouse-library.ts'

/*
 * ClickHouse servers as child processes, from the package `chdb`: `clickhouse local` listens on HTTP and on the native
 * protocol. Like the servers of a real cluster, shards have the same ports, and therefore different addresses, which only
 * Linux has without further configuration. Queries of the whole cluster must be sent to the first server: ClickHouse
 * regards 127.0.0.1 as the server itself. A server that connects to itself by another address sometimes aborts after a
 * failed query. Replicated tables and `ON CLUSTER` don't work.
 */

const USER = 'tagwarden'
const PASSWORD = 'p:ss/wörd'
const CLUSTER = 'shards'

export interface ServerOptions {
  /** Rights of the user. Default: all. */
  grants?: readonly string[]
  /** Files for the folders `config.d` and `users.d`, by path. */
  files?: Readonly<Record<string, string>>
  /** False if the tables are created by the test. */
  hasTables?: boolean
}
const LISTEN =
  'SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; SELECT sleepEachRow(1) FROM numbers(864000) ' +
  'SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0 FORMAT Null'

/** Returns why ClickHouse can't be run on this machine; null if it can. */
export function clickhouseProblem(): string | null {
  try {
    clickhouseLibrary()
    return null
  } catch (error) {
    return messageOf(error)
  }
}

export class ClickhouseServer {
  private child: Bun.Subprocess | null = null

  private constructor(
    private readonly folder: string,
    private readonly ports: Ports,
    readonly client: ClickhouseClient,
  ) {}

  /** Starts servers that form a cluster if there is more than one, and creates the tables. */
  static async open(count = 1, options: ServerOptions = {}): Promise<ClickhouseServer[]> {
    const ports = { http: await freePort(), tcp: await freePort() }
    const hosts = Array.from({ length: count }, (_, at) => `127.0.0.${at + 1}`)
    const servers = hosts.map((host) => {
      const folder = mkdtempSync(join(tmpdir(), 'clickhouse-'))
      configure(folder, { hosts, port: ports.tcp }, options)
      const address = {
        url: `http://${host}:${ports.http}`,
        user: USER,
        password: PASSWORD,
        database: 'default',
        cluster: count > 1 ? CLUSTER : null,
        replicated: false,
      }
      return new ClickhouseServer(folder, ports, new ClickhouseClient(address))
    })
    for (const server of servers) await server.start()
    if (options.hasTables ?? true)
      for (const { client } of servers) for (const sql of schemaOf(client.address)) await client.run(sql)
    return servers
  }

  /** Value of the setting `--warehouse`. */
  get url(): string {
    const { cluster } = this.client.address
    const login = `${USER}:${encodeURIComponent(PASSWORD)}`
    return `clickhouse://${login}@${this.client.host}/default${cluster === null ? '' : `?cluster=${cluster}`}`
  }

  get pid(): number {
    if (!this.child) throw new Error('the server is not running')
    return this.child.pid
  }

  async start(): Promise<void> {
    const { folder, ports } = this
    const flags = [
      '--config-file',
      join(folder, 'config.xml'),
      '--path',
      join(folder, 'data'),
      '--listen_host',
      new URL(this.client.address.url).hostname,
    ]
    const listen = ['--tcp_port', `${ports.tcp}`, '--http_port', `${ports.http}`, '--query', LISTEN]
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'clickhouse-local.ts'), ...flags, ...listen], {
      stdin: 'ignore',
      stdout: Bun.file(join(folder, 'out')),
      stderr: Bun.file(join(folder, 'stderr')),
    })
    this.child = child
    while (
      !(await fetch(`${this.client.address.url}/ping`).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (child.exitCode !== null) throw new Error(`ClickHouse ended: ${await Bun.file(join(folder, 'stderr')).text()}`)
      await Bun.sleep(20)
    }
  }

  /** Ends the process as if it had crashed. `start` continues with the same data. */
  async kill(): Promise<void> {
    this.child?.kill('SIGKILL')
    await this.child?.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true })
  }
}

interface Ports {
  http: number
  tcp: number
}

function configure(
  folder: string,
  shards: { hosts: readonly string[]; port: number },
  { grants = [], files = {} }: ServerOptions,
): void {
  const data = join(folder, 'data')
  mkdirSync(data)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const rest = '<networks><ip>127.0.0.0/8</ip></networks><profile>default</profile><quota>default</quota>'
  const granted = grants.map((sql) => `<query>${sql}</query>`).join('')
  const users = `<clickhouse><users><default><password></password>${rest}</default>
    <${USER}><password>${PASSWORD}</password>${rest}${granted && `<grants>${granted}</grants>`}</${USER}></users>
    <profiles><default></default></profiles><quotas><default></default></quotas></clickhouse>`
  const cluster = shards.hosts.map(
    (host) => `<shard><internal_replication>true</internal_replication><replica><host>${host}</host>
      <port>${shards.port}</port><user>${USER}</user><password>${PASSWORD}</password></replica></shard>`,
  )
  writeFileSync(join(folder, 'users.xml'), users)
  writeFileSync(
    join(folder, 'config.xml'),
    `<clickhouse><logger><level>warning</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
      <path>${data}/</path><remote_servers><${CLUSTER}>${cluster.join('')}</${CLUSTER}></remote_servers>
      <users_config>${folder}/users.xml</users_config></clickhouse>`,
  )
}

/**
 * Returns a free port below those that the system gives to connections. Otherwise, one of them could take the port of a
 * server before it starts, or while it is killed.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000)
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
