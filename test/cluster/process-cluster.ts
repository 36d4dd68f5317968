import { join } from 'node:path'
import { ClickhouseServer } from '../engine/clickhouse-server.ts'
import {
  ask,
  initialize,
  runProgram,
  type Server,
  startCollector,
  startServer,
  temporaryFolder,
  until,
} from '../run-program.ts'
import { FaultyProxy } from './faulty-proxy.ts'

/** Parts of the protocol that a test switches off, to show that they are necessary. */
type Without = 'claims' | 'tokens' | null

interface ClusterOptions {
  random?: () => number
  without?: Without
}

interface CollectorOptions {
  /** Data folder. Default: a new one. */
  data?: string
  /** Starts the collector while it can't reach the control node. */
  isCut?: boolean
}

/** A process that a test can kill and start again with the same data folder. */
class Restartable {
  private running: Server | null = null

  constructor(private readonly begin: () => Promise<Server>) {}

  /** The running process. */
  get server(): Server {
    if (!this.running) throw new Error('the process is not running')
    return this.running
  }

  /** URL of the process; null while it is not running. */
  get url(): string | null {
    return this.running?.url ?? null
  }

  async start(): Promise<void> {
    this.running = await this.begin()
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const stopped = this.running
    this.running = null
    await stopped?.stop(signal)
  }
}

/** A collector as a process. Its requests to the control node and to ClickHouse pass through proxies. */
export class CollectorProcess extends Restartable {
  constructor(
    readonly name: string,
    data: string,
    readonly control: FaultyProxy,
    readonly warehouse: FaultyProxy,
    env: Record<string, string>,
  ) {
    super(() => startCollector(data, { env }))
  }

  /** Waits until everything is copied that the control node has at the moment. */
  async synced(): Promise<void> {
    const path = '/collectors/v1/sync'
    const before = this.control.requestsTo(path)
    // Once the second request begins, the answer to the first has been copied.
    await until('two contacts', () => this.control.requestsTo(path) >= before + 2)
  }

  /** Returns the value of a metric without labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.server.url}/metrics`)).text()
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  }
}

/** A control node and its collectors as processes, and a ClickHouse server. */
export class ProcessCluster {
  readonly collectors: CollectorProcess[] = []

  private constructor(
    private readonly opened: AsyncDisposableStack,
    readonly clickhouse: ClickhouseServer,
    readonly control: Restartable,
    private readonly folder: string,
    private readonly env: Record<string, string>,
    readonly key: string,
    private readonly options: Required<ClusterOptions>,
  ) {}

  /** Starts ClickHouse and a control node with the organization Acme. */
  static async open({ random = Math.random, without = null }: ClusterOptions = {}): Promise<ProcessCluster> {
    await using opened = new AsyncDisposableStack()
    const [clickhouse] = await ClickhouseServer.open()
    if (!clickhouse) throw new Error('no ClickHouse')
    opened.use(clickhouse)
    const { path } = opened.use(temporaryFolder())
    const key = await initialize(join(path, 'control'))
    const env = {
      TAGWARDEN_WAREHOUSE: clickhouse.url,
      TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
      TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
    }
    const control = new Restartable(() => startServer(join(path, 'control'), { env }))
    opened.defer(() => control.stop('SIGKILL'))
    await control.start()
    return new ProcessCluster(opened.move(), clickhouse, control, path, env, key, { random, without })
  }

  /** Adds a collector and starts it. */
  async addCollector(name: string, { data, isCut = false }: CollectorOptions = {}): Promise<CollectorProcess> {
    const { opened, clickhouse, control, folder, env } = this
    const { random, without } = this.options
    const toControl = opened.use(await FaultyProxy.open(() => urlOf(control), random, controlRewrite(without)))
    const { url } = clickhouse.client.address
    const toWarehouse = opened.use(await FaultyProxy.open(() => url, random, warehouseRewrite(without)))
    toControl.isCut = isCut
    const { token } = JSON.parse(await this.command('collectors', 'add', name, '--json'))
    const collector = new CollectorProcess(name, data ?? join(folder, name), toControl, toWarehouse, {
      ...env,
      TAGWARDEN_CONTROL: toControl.url,
      TAGWARDEN_COLLECTOR_TOKEN: token,
      TAGWARDEN_WAREHOUSE: withHost(clickhouse.url, toWarehouse.url),
      TAGWARDEN_COLLECT_URL: 'https://collect.example',
    })
    opened.defer(() => collector.stop('SIGKILL'))
    await collector.start()
    this.collectors.push(collector)
    return collector
  }

  /** Calls the API of the control node. */
  v1(method: string, path: string, body?: unknown) {
    return ask(method, `${urlOf(this.control)}/v1${path}`, this.key, body)
  }

  /** Runs a command for the data folder of the control node, and returns its output. */
  async command(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await runProgram([...words, '--data', join(this.folder, 'control')], {
      env: this.env,
    })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  /** Returns how often each event of a domain is stored, by its id. */
  async stored(domainId: string): Promise<Map<string, number>> {
    const sql = `SELECT id, count() AS n FROM events WHERE domainId = '${domainId}' GROUP BY id`
    const rows = await this.clickhouse.client.select<{ id: string; n: number }>(sql)
    return new Map(rows.map(({ id, n }) => [id, n]))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.opened.disposeAsync()
  }
}

function urlOf({ url }: Pick<Restartable, 'url'>): string {
  if (url === null) throw new Error('the control node is not running')
  return url
}

/** Returns a database URL with the host and port of a proxy. */
function withHost(database: string, proxy: string): string {
  return database.replace(/@[^/]+/, `@${new URL(proxy).host}`)
}

/** Without claims, the answer to each claim is that no other collector has the batches. */
function controlRewrite(without: Without) {
  return (url: URL) => (without === 'claims' && url.pathname.endsWith('/claim') ? Response.json({ taken: [] }) : url)
}

/** Without tokens, ClickHouse does not recognize a repeated insert. */
function warehouseRewrite(without: Without) {
  let inserts = 0
  return (url: URL) => {
    const token = url.searchParams.get('insert_deduplication_token')
    if (without === 'tokens' && token !== null)
      url.searchParams.set('insert_deduplication_token', `${token}:${inserts++}`)
    return url
  }
}
