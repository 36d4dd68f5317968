import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClickhouseServer } from '../../test/engine/clickhouse-server.ts'
import { testClock } from '../../test/fixtures.ts'
import { type App, openApp } from '../app.ts'
import { ClusterWatermark } from '../collectors/cluster-watermark.ts'
import { addCollector } from '../collectors/store.ts'
import { readConfig, type SettingName } from '../config.ts'
import { SECOND_MS } from '../core/clock.ts'
import { createDomain, findDomain } from '../domains/store.ts'
import { initialize } from '../org/store.ts'
import { addressGuard } from '../transport/address-guard.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { transport } from '../transport/transport.ts'
import { openSegmentOutlet } from '../warehouse/open-segment-outlet.ts'
import { type CollectProcess, openCollect } from './open-collect.ts'

/** Fate of requests from collectors to the control node. `commits lost`: commits arrive, but not their answers. */
export type Link = 'up' | 'cut' | 'answers lost' | 'commits lost'

/** Parts of the protocol that a test switches off, to show that they are necessary. */
export interface Without {
  claims?: true
  tokens?: true
}

/** A collector whose jobs run only when a test says so. */
export class TestCollector {
  link: Link = 'up'
  /** Called with the name of a segment that is claimed and about to be inserted. */
  beforeInsert: (segment: string) => Promise<void> = async () => {}
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

  static async open(
    cluster: Cluster,
    { name, token, folder }: { name: string; token: string; folder: string },
    without: Without,
  ): Promise<TestCollector> {
    const collector = new TestCollector(cluster, name, token, folder, without)
    collector.opened = await collector.start()
    return collector
  }

  get program(): CollectProcess {
    if (!this.opened) throw new Error(`${this.name} is not running`)
    return this.opened
  }

  /** Sends a batch, and returns the response. */
  async send(token: string, batch: object): Promise<{ status: number; body: unknown }> {
    const response = await this.post(token, batch)
    return { status: response.status, body: await response.json() }
  }

  post(token: string, batch: object): Promise<Response> {
    return this.program.collector.fetch(batchRequest(token, batch))
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
    rmSync(this.folder, { recursive: true, force: true })
  }

  private start(): Promise<CollectProcess> {
    const { clock, url, warehouse, settings } = this.cluster
    const http = httpTransport({ guard: addressGuard(['127.0.0.1']), proxy: '', ca: '' })
    const note = (message: string) => void this.log.push(message)
    return openCollect({
      config: readConfig({ ...settings, data: this.folder, collectUrl: 'http://collect.example' }, {}),
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
        return {
          ...outlet,
          insert: async (segment, token, scan) => {
            await this.beforeInsert(segment.name)
            return outlet.insert(segment, tokenOf(token), scan)
          },
        }
      },
    })
  }
}

type Settings = Partial<Record<SettingName, string>>

/** A control node, its collectors and a ClickHouse server. The jobs of the control node run only when a test says so. */
export class Cluster {
  readonly clock = testClock()
  /** Warnings of the control node, including messages to the operator. */
  readonly warnings: string[] = []
  orgId = ''
  private key = ''
  private readonly collectors: TestCollector[] = []
  private opened: App | null = null
  /** Data folder of the control node. */
  folder = newFolder()
  private readonly server: Bun.Server<undefined>
  private ofAll: ClusterWatermark | null = null

  private constructor(
    readonly warehouse: ClickhouseServer,
    /** Settings of all processes. */
    readonly settings: Settings,
  ) {
    const fetch = (request: Request) => this.app.fetch(request)
    this.server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
  }

  static async open(settings: Settings = {}): Promise<Cluster> {
    const [warehouse] = await ClickhouseServer.open()
    if (!warehouse) throw new Error('no ClickHouse')
    const cluster = new Cluster(warehouse, settings)
    await cluster.start()
    const { db, box } = cluster.app
    const owner = { orgName: 'Acme', email: 'a@example.com', password: null }
    const { orgId, apiKey } = await initialize(db, box, cluster.clock, owner)
    cluster.orgId = orgId
    cluster.key = apiKey
    return cluster
  }

  get app(): App {
    if (!this.opened) throw new Error('the control node is not running')
    return this.opened
  }

  /** Stops the control node, calls `meanwhile` with its data folder, and starts it on the folder that this returns. */
  async restart(meanwhile: (folder: string) => Promise<string> = async (folder) => folder): Promise<void> {
    await this.app.close()
    this.folder = await meanwhile(this.folder)
    await this.start()
  }

  private async start(): Promise<void> {
    const { clock, folder, settings, warehouse, warnings } = this
    const log = { info() {}, warn: (message: string) => void warnings.push(message), error() {} }
    const config = readConfig({ ...settings, listen: '127.0.0.1:0', data: folder, warehouse: warehouse.url }, {})
    const app = await openApp({ config, clock, log })
    this.opened = app
    this.ofAll = new ClusterWatermark(app.db, () => clock.now())
  }

  /** Calls the API of the control node as the owner of the organization, and returns the body. */
  async get<T>(path: string): Promise<T> {
    const response = await this.app.fetch(
      new Request(`${this.url}${path}`, { headers: { authorization: `Bearer ${this.key}` } }),
    )
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  /** Sends a batch to the control node itself, and returns the status of the response. */
  async sendToControl(token: string, batch: object): Promise<number> {
    return (await this.app.collector.fetch(batchRequest(token, batch))).status
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  /** Returns the time up to which alerts are evaluated. */
  watermark(): number {
    return this.ofAll?.now() ?? 0
  }

  /** Creates a domain, and returns it with its token. */
  newDomain(name = 'Shop', orgId = this.orgId): { id: string; token: string } {
    const { db } = this.app
    const id = createDomain(db, this.clock, orgId, { name })
    return { id, token: findDomain(db, { orgId, id }, this.clock.now()).token }
  }

  /** Adds a collector that has copied the rows. */
  async newCollector(name: string, without: Without = {}, folder = newFolder()): Promise<TestCollector> {
    const { token } = addCollector(this.app.db, this.clock, name)
    const collector = await TestCollector.open(this, { name, token, folder }, without)
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

  /** Runs jobs of the control node one after another. */
  async runJob(...names: string[]): Promise<void> {
    for (const name of names) {
      const job = this.app.jobs.find((one) => one.name === name)
      if (!job) throw new Error(`there is no job "${name}"`)
      await job.run()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const collector of this.collectors) await collector.close()
    await this.server.stop(true)
    await this.app.close()
    await this.warehouse[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true })
  }
}

function batchRequest(token: string, batch: object): Request {
  return new Request('http://localhost/api/v1/events', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(batch),
  })
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'cluster-'))
