import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { alertRoutes } from './alerts/routes.ts'
import { RulesInForce } from './alerts/rules-in-force.ts'
import { phoneRegions } from './conditions/phone.ts'
import { type Config, retentionMs } from './config.ts'
import type { Clock, Instant } from './core/clock.ts'
import { messageOf } from './core/error.ts'
import { masterKey, type SecretBox, secretBox } from './core/secret-box.ts'
import { type DomainDirectory, domainDirectory } from './domains/directory.ts'
import { domainRoutes } from './domains/routes.ts'
import { answerErrors } from './http/errors.ts'
import { healthRoutes } from './http/health.ts'
import { homePage } from './http/home.ts'
import { openApiDocument } from './http/openapi.ts'
import { RateLimit, rateLimited } from './http/rate.ts'
import { BatchMemory } from './ingest/batch-memory.ts'
import { Collector } from './ingest/collector.ts'
import { ingestRoutes } from './ingest/routes.ts'
import { Spool } from './ingest/spool.ts'
import { insightRoutes } from './insights/routes.ts'
import { type AddressGuard, addressGuard } from './integrations/address-guard.ts'
import { checkChannels } from './integrations/channels/index.ts'
import type { Delivering } from './integrations/deliver.ts'
import { httpTransport } from './integrations/http-transport.ts'
import { mailTransport } from './integrations/mail-transport.ts'
import { notifier } from './integrations/notifier.ts'
import { recover } from './integrations/outbox.ts'
import { deliveryRoutes, integrationRoutes } from './integrations/routes.ts'
import { providerOf } from './integrations/store.ts'
import { type Transport, transport } from './integrations/transport.ts'
import type { Enqueue } from './issues/issue.ts'
import { issueRoutes } from './issues/routes.ts'
import { resolveAll } from './issues/store.ts'
import { compactJob } from './jobs/compact.ts'
import { deliverJob } from './jobs/deliver.ts'
import { type EvaluateParts, evaluate, Woken } from './jobs/evaluate.ts'
import { type FlushParts, flush, SEGMENT_AGE_MS } from './jobs/flush.ts'
import type { Job } from './jobs/job.ts'
import { retainJob } from './jobs/retain.ts'
import { metricsOf } from './metrics.ts'
import { authenticator } from './org/authenticate.ts'
import { orgRoutes } from './org/routes.ts'
import { phoneRegionsOf } from './org/store.ts'
import { type Db, openDatabase } from './store/database.ts'
import { lockFolder } from './store/folder-lock.ts'
import { DuckdbWarehouse } from './warehouse/duckdb.ts'
import { Manifest } from './warehouse/manifest.ts'
import homeScript from './web/home.js' with { type: 'text' }

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
  const publicUrl = config.publicUrl || `http://${config.listen?.hostname}:${config.listen?.port}`

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
  const web = webOf({ ...delivering, ...stores, config, publicUrl, guard, enqueue, rules, domains, ages })
  return {
    fetch: (request) => Promise.resolve(web.handle(request)),
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

type Stores = Awaited<ReturnType<typeof openAllStores>>

/** When jobs last ended well; null: not yet since the start. */
interface Ages {
  flushAt: Instant | null
  evaluationAt: Instant | null
}

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

interface WebParts extends Stores, Delivering {
  db: Db
  box: SecretBox
  config: Config
  publicUrl: string
  guard: AddressGuard
  enqueue: Enqueue
  rules: RulesInForce
  domains: DomainDirectory
  ages: Ages
}

/** All routes but the collector's. */
function webOf(parts: WebParts) {
  const { db, box, clock, config, publicUrl, guard, enqueue, rules, domains, ages } = parts
  const authenticate = rateLimited(authenticator({ db, clock }), new RateLimit(clock, config.rateKeyPerMinute / 60, 60))
  const health = healthRoutes({
    lastFlushAt: () => ages.flushAt,
    lastEvaluationAt: () => ages.evaluationAt,
    now: () => clock.now(),
    metrics: () => metricsOf(db, parts.spool, parts.manifest),
  })
  const alerts = alertRoutes({
    db,
    clock,
    authenticate,
    checkChannels: (channels, _path, orgId) =>
      checkChannels(channels, { guard, providerOf: (id) => providerOf(db, { orgId, id }) }),
    changed: rules.changed,
    deleted: ({ id, orgId }, by) => resolveAll(db, id, { orgId, by, now: clock.now() }, enqueue),
  })
  const collectUrl = config.collectUrl || publicUrl
  return answerErrors(new Elysia({ normalize: false }), parts.report)
    .use(openApiDocument())
    .use(homePage(homeScript))
    .use(health)
    .use(orgRoutes({ db, box, clock, authenticate }))
    .use(domainRoutes({ db, clock, authenticate, collectUrl, changed: () => domains.invalidate() }))
    .use(ingestRoutes({ db, clock, authenticate }))
    .use(insightRoutes({ warehouse: parts.warehouse, clock, authenticate }))
    .use(alerts)
    .use(issueRoutes({ db, clock, authenticate, enqueue }))
    .use(integrationRoutes({ ...parts, authenticate }))
    .use(deliveryRoutes({ db, clock, authenticate }))
}
