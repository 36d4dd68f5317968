import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClickhouseServer } from '../../test/engine/clickhouse-server.ts'
import { type TestClock, testClock } from '../../test/fixtures.ts'
import { type App, openApp } from '../app.ts'
import { ClusterWatermark } from '../collectors/cluster-watermark.ts'
import { addCollector } from '../collectors/store.ts'
import { readConfig } from '../config.ts'
import { SECOND_MS } from '../core/clock.ts'
import { createDomain, findDomain } from '../domains/store.ts'
import { initialize } from '../org/store.ts'
import { addressGuard } from '../transport/address-guard.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { transport } from '../transport/transport.ts'
import { openSegmentOutlet } from '../warehouse/open-segment-outlet.ts'
import { type CollectProcess, openCollect } from './open-collect.ts'

/** What happens to requests from collectors to the control node. `commits lost`: commits arrive, but not their answers. */
export type Link = 'up' | 'cut' | 'answers lost' | 'commits lost'

/** Parts of the protocol that a test switches off, to show that they are necessary. */
export interface Without {
  claims?: true
  tokens?: true
}

/** A collector whose jobs run only when a test says so. */
export class TestCollector {
  link: Link = 'up'
  readonly log: string[] = []
  private inserts = 0
  private constructor(
    private readonly cluster: Cluster,
    readonly name: string,
    private readonly token: string,
    private folder: string,
    private readonly without: Without,
  ) {}

  private opened: CollectProcess | null = null

  static async open(cluster: Cluster, name: string, token: string, without: Without): Promise<TestCollector> {
    const collector = new TestCollector(cluster, name, token, newFolder(), without)
    collector.opened = await collector.start()
    return collector
  }

  get program(): CollectProcess {
    if (!this.opened) throw new Error(`${this.name} is not running`)
    return this.opened
  }

  /** Sends a batch, and returns the response. */
  async send(token: string, batch: object): Promise<{ status: number; body: unknown }> {
    const response = await this.program.collector.fetch(
      new Request('http://localhost/api/v1/events', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(batch),
      }),
    )
    return { status: response.status, body: await response.json() }
  }

  async run(job: string): Promise<void> {
    await this.program.jobs.find(({ name }) => name === job)?.run()
  }

  /** Continues with the files as they are now, as after `kill -9`. */
  async kill(): Promise<void> {
    const folder = newFolder()
    cpSync(this.folder, folder, { recursive: true })
    await this.close()
    this.folder = folder
    this.opened = await this.start()
  }

  async close(): Promise<void> {
    this.program.abort()
    await this.program.close()
    rmSync(this.folder, { recursive: true })
  }

  private start(): Promise<CollectProcess> {
    const { clock, url, warehouse } = this.cluster
    const http = httpTransport({ guard: addressGuard(['127.0.0.1']), proxy: '', ca: '' })
    const note = (message: string) => void this.log.push(message)
    return openCollect({
      config: readConfig({ data: this.folder, collectUrl: 'http://collect.example' }, {}),
      controlUrl: url,
      token: this.token,
      clock,
      log: { info: note, warn: note, error: (_, message) => note(message) },
      transport: transport({
        http: async (outbound, signal) => {
          if (this.link === 'cut') return { kind: 'error', message: 'cut off', permanent: false }
          if (this.without.claims && outbound.url.endsWith('/claim')) {
            return { kind: 'status', status: 200, headers: {}, body: '{"taken":[]}' }
          }
          const reply = await http(outbound, signal)
          const isLost =
            this.link === 'answers lost' || (this.link === 'commits lost' && outbound.url.endsWith('/commit'))
          return !isLost ? reply : { kind: 'error', message: 'no answer', permanent: false }
        },
        mail: async () => ({ kind: 'error', message: 'no mail', permanent: true }),
      }),
      openOutlet: async (db, folder) => {
        const outlet = await openSegmentOutlet({ db, folder, clock, address: warehouse.client.address })
        const tokenOf = (token: string) => (this.without.tokens ? `${token}:${this.inserts++}` : token)
        return { ...outlet, insert: (segment, token) => outlet.insert(segment, tokenOf(token)) }
      },
    })
  }
}

/** A control node, its collectors and a ClickHouse server. */
export class Cluster {
  private readonly collectors: TestCollector[] = []

  private constructor(
    readonly clock: TestClock,
    readonly app: App,
    readonly warehouse: ClickhouseServer,
    private readonly server: Bun.Server<undefined>,
    private readonly folder: string,
    readonly orgId: string,
    /** Warnings of the control node, including messages to the operator. */
    readonly warnings: readonly string[],
  ) {
    this.ofAll = new ClusterWatermark(app.db, () => clock.now())
  }

  private readonly ofAll: ClusterWatermark

  static async open(): Promise<Cluster> {
    const [warehouse] = await ClickhouseServer.open()
    if (!warehouse) throw new Error('no ClickHouse')
    const clock = testClock()
    const folder = newFolder()
    const warnings: string[] = []
    const log = { info() {}, warn: (message: string) => void warnings.push(message), error() {} }
    const config = readConfig({ listen: '127.0.0.1:0', data: folder, warehouse: warehouse.url }, {})
    const app = await openApp({ config, clock, log })
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.fetch(request) })
    const { orgId } = await initialize(app.db, app.box, clock, {
      orgName: 'Acme',
      email: 'a@example.com',
      password: null,
    })
    return new Cluster(clock, app, warehouse, server, folder, orgId, warnings)
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  /** Returns the time up to which alerts are evaluated. */
  watermark(): number {
    return this.ofAll.now()
  }

  /** Creates a domain, and returns it with its token. */
  newDomain(name = 'Shop'): { id: string; token: string } {
    const { db } = this.app
    const id = createDomain(db, this.clock, this.orgId, { name })
    return { id, token: findDomain(db, { orgId: this.orgId, id }, this.clock.now()).token }
  }

  /** Adds a collector that has copied the rows. */
  async newCollector(name: string, without: Without = {}): Promise<TestCollector> {
    const { token } = addCollector(this.app.db, this.clock, name)
    const collector = await TestCollector.open(this, name, token, without)
    this.collectors.push(collector)
    await collector.program.copyRows()
    return collector
  }

  /** Seals and forwards everything that was received. */
  async settle(...collectors: TestCollector[]): Promise<void> {
    this.clock.advance(5 * SECOND_MS)
    for (const collector of collectors) await collector.run('forward')
    for (const collector of collectors) await collector.run('sync')
  }

  /** Returns the ids of the stored events that start with a prefix, sorted. */
  async storedIds(prefix: string): Promise<string[]> {
    const sql = `SELECT id FROM events WHERE startsWith(id, '${prefix}') ORDER BY id`
    return (await this.warehouse.client.select<{ id: string }>(sql)).map(({ id }) => id)
  }

  all(): readonly TestCollector[] {
    return this.collectors
  }

  async runJob(job: string): Promise<void> {
    await this.app.jobs.find(({ name }) => name === job)?.run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const collector of this.collectors) await collector.close()
    await this.server.stop(true)
    await this.app.close()
    await this.warehouse[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true })
  }
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'cluster-'))
