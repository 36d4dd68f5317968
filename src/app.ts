import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { RulesInForce } from './alerts/rules-in-force.ts'
import { type Ages, openApi } from './api.ts'
import { phoneRegions } from './conditions/phone.ts'
import { type Config, retentionMs } from './config.ts'
import type { Clock } from './core/clock.ts'
import { messageOf } from './core/error.ts'
import { masterKey, type SecretBox, secretBox } from './core/secret-box.ts'
import { type DomainDirectory, domainDirectory } from './domains/directory.ts'
import { RateLimit } from './http/rate.ts'
import type { Route } from './http/route.ts'
import { BatchMemory } from './ingest/batch-memory.ts'
import { Collector } from './ingest/collector.ts'
import { Spool } from './ingest/spool.ts'
import { type AddressGuard, addressGuard } from './integrations/address-guard.ts'
import type { Delivering } from './integrations/deliver.ts'
import { httpTransport } from './integrations/http-transport.ts'
import { mailTransport } from './integrations/mail-transport.ts'
import { notifier } from './integrations/notifier.ts'
import { recover } from './integrations/outbox.ts'
import { type Transport, transport } from './integrations/transport.ts'
import { compactJob } from './jobs/compact.ts'
import { deliverJob } from './jobs/deliver.ts'
import { type EvaluateParts, evaluate, Woken } from './jobs/evaluate.ts'
import { type FlushParts, flush, SEGMENT_AGE_MS } from './jobs/flush.ts'
import type { Job } from './jobs/job.ts'
import { retainJob } from './jobs/retain.ts'
import { newSetupToken } from './org/setup.ts'
import { hasOwner, phoneRegionsOf } from './org/store.ts'
import { type Db, openDatabase } from './store/database.ts'
import { lockFolder } from './store/folder-lock.ts'
import { DuckdbWarehouse } from './warehouse/duckdb.ts'
import { Manifest } from './warehouse/manifest.ts'

/** Told of what is a bug or needs an operator. */
export interface Log {
  info(message: string): void
  warn(message: string): void
  error(error: unknown, message: string): void
}

export interface AppOptions {
  config: Config
  clock: Clock
  log: Log
  /** The way out; by default HTTP and SMTP as configured. */
  transport?: Transport
  /** From 0 to below 1; spreads repeats. */
  jitter?: () => number
}

/** The whole program but for its listening sockets: everything is built here, and only here. */
export interface App {
  /** Everything but the collector. */
  fetch(request: Request): Promise<Response>
  /** Where the first owner is made; a secret, good until it was used. Null when there is an owner. */
  setupUrl: string | null
  /** What `fetch` answers, but for pages. */
  routes: readonly Route[]
  collector: Collector
  db: Db
  box: SecretBox
  /** What is to be run again and again; tests run them by name. */
  jobs: readonly Job[]
  /** Writes and moves what is in memory and in the spool, and lets go of the data folder. */
  close(): Promise<void>
}

/** The files of one data folder. */
export function openStores(folder: string): { db: Db; box: SecretBox } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return { db: openDatabase(join(folder, 'tagwarden.db')), box: secretBox(masterKey(join(folder, 'master.key'))) }
}

export async function openApp(options: AppOptions): Promise<App> {
  const { config, clock, log } = options
  const report = (error: unknown, where: string) => log.error(error, where)
  const stores = await openAllStores(config.data, clock, report)
  const { db, box, spool, warehouse } = stores
  const publicUrl = config.publicUrl || urlOf(config.listen)

  const regionsOf = (orgId: string) => phoneRegions(phoneRegionsOf(db, orgId))
  const rules = new RulesInForce(db, regionsOf)
  const woken = new Woken()
  const batches = new BatchMemory(db, clock)
  const domains = domainDirectory({ db, clock })
  const collector = new Collector({
    clock,
    spool,
    domains,
    batches,
    rate: new RateLimit(clock, config.rateCollectPerSecond),
    judge: rules.judge,
    violated: (alertIds, domainId) => woken.add(alertIds, domainId),
    report,
  })

  const enqueue = notifier({ db, clock, publicUrl })
  const guard = addressGuard(config.outboundAllow)
  const delivering: Delivering = {
    db,
    box,
    clock,
    transport: options.transport ?? wayOut(config, guard),
    jitter: options.jitter ?? Math.random,
    mailConfigured: config.smtpUrl !== '',
    report,
  }
  recover(db)

  const stopping = new AbortController()
  const ages: Ages = { flushAt: null, evaluationAt: null }
  const flushParts: FlushParts = { db, batches, spool, warehouse, collector }
  const evaluateParts: EvaluateParts = { db, warehouse, clock, spool, woken, enqueue, regionsOf }
  const jobs = jobsOf({ ...stores, config, clock, log, ages, flushParts, evaluateParts, domains })
  const setup = hasOwner(db) ? null : newSetupToken()
  const { routes, handle } = openApi({
    ...{ ...delivering, ...stores, config, publicUrl, guard, enqueue, rules, domains, ages },
    setupToken: setup?.token ?? null,
    warn: log.warn,
  })
  return {
    fetch: handle,
    setupUrl: setup && `${publicUrl}/#setup=${setup.secret}`,
    routes,
    collector,
    db,
    box,
    jobs: [...jobs, deliverJob(delivering, stopping.signal)],
    async close() {
      stopping.abort()
      await spool.close()
      await flush(flushParts).catch((error: unknown) => report(error, `last flush: ${messageOf(error)}`))
      stores.close()
    },
  }
}

/** Where a server that listens here is reached from this machine. */
function urlOf(listen: Config['listen']): string {
  const { hostname, port } = listen ?? { hostname: '127.0.0.1', port: 0 }
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}

type Stores = Awaited<ReturnType<typeof openAllStores>>

/** Everything on disk, for this process alone. */
async function openAllStores(folder: string, clock: Clock, report: (error: unknown, where: string) => void) {
  const events = join(folder, 'events')
  const spoolFolder = join(folder, 'spool')
  for (const path of [folder, events, spoolFolder]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const unlock = lockFolder(folder)
  const { db, box } = openStores(folder)
  const manifest = new Manifest(db)
  const spool = new Spool(spoolFolder, clock, {
    has: (name) => manifest.hasSegment(name),
    last: manifest.lastSegment(),
    lastReceivedAt: manifest.lastReceivedAt(),
    lastSeq: manifest.lastSeq(),
  })
  const spoolFiles = () => spool.files()
  const warehouse = await DuckdbWarehouse.open({ folder: events, manifest, clock, spoolFiles, report })
  const close = () => {
    warehouse.close()
    db.close()
    unlock()
  }
  return { db, box, manifest, spool, warehouse, events, close }
}

function wayOut(config: Config, guard: AddressGuard): Transport {
  return transport({
    http: httpTransport({ guard, proxy: config.outboundProxy }),
    mail: mailTransport({ smtpUrl: config.smtpUrl, from: config.mailFrom }),
  })
}

interface JobParts extends Stores {
  config: Config
  clock: Clock
  log: Log
  ages: Ages
  flushParts: FlushParts
  evaluateParts: EvaluateParts
  domains: DomainDirectory
}

function jobsOf(parts: JobParts): Job[] {
  const { db, warehouse, manifest, events: folder, clock, config, log, ages } = parts
  const everySecond = '* * * * * *'
  return [
    {
      name: 'flush',
      pattern: everySecond,
      async run() {
        await flush(parts.flushParts, SEGMENT_AGE_MS)
        ages.flushAt = clock.now()
      },
    },
    compactJob({ warehouse, manifest, folder, clock }),
    {
      name: 'evaluate',
      pattern: everySecond,
      async run() {
        await evaluate(parts.evaluateParts)
        ages.evaluationAt = clock.now()
      },
    },
    retainJob({
      db,
      warehouse,
      manifest,
      folder,
      clock,
      retentionMs: retentionMs(config),
      diskBudgetBytes: config.diskBudget,
      warn: log.warn,
    }),
    { name: 'refresh domains', pattern: everySecond, run: async () => parts.domains.refresh() },
  ]
}
