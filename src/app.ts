import { autoWatched } from './alerts/auto-alert.ts'
import { LateJudge } from './alerts/late-judge.ts'
import { RulesInForce } from './alerts/rules-in-force.ts'
import { type Ages, openApi } from './api.ts'
import { scriptBundle } from './capture/script-bundle.ts'
import { ScriptFiles } from './capture/script-files.ts'
import { phoneRegions } from './conditions/phone.ts'
import { type Config, retentionMs } from './config.ts'
import type { Clock, Instant } from './core/clock.ts'
import { messageOf } from './core/error.ts'
import type { SecretBox } from './core/secret-box.ts'
import { openAllStores, type Stores } from './data-folder/open.ts'
import { type DomainDirectory, domainDirectory } from './domains/directory.ts'
import { routingOf } from './domains/domain.ts'
import { noteLegacyScript } from './domains/routing-store.ts'
import { findDomain } from './domains/store.ts'
import { type EvaluateParts, evaluate, Woken } from './evaluation/evaluate.ts'
import { Questions } from './http/questions.ts'
import { RateLimit } from './http/rate.ts'
import type { Route } from './http/route.ts'
import { BatchMemory } from './ingest/batch-memory.ts'
import { Collector } from './ingest/collector.ts'
import { LateBatches } from './ingest/late-batches.ts'
import { Live } from './ingest/live.ts'
import { type AddressGuard, addressGuard } from './integrations/address-guard.ts'
import type { Delivering } from './integrations/attempt.ts'
import { Dispatcher } from './integrations/dispatcher.ts'
import { httpTransport } from './integrations/http-transport.ts'
import { mailTransport } from './integrations/mail-transport.ts'
import { notifier } from './integrations/notifier.ts'
import { plainMail } from './integrations/plain-mail.ts'
import { recover } from './integrations/queues.ts'
import { type Transport, transport as transportOf } from './integrations/transport.ts'
import { checkFilesJob } from './jobs/check-files.ts'
import { checkHostsJob } from './jobs/check-hosts.ts'
import { ClockWatch, clockNotice } from './jobs/clock-watch.ts'
import { compactJob } from './jobs/compact.ts'
import { deliverJob } from './jobs/deliver.ts'
import { DiskBudget, diskBudgetJob } from './jobs/disk-budget.ts'
import { type FlushParts, flush, lastFlush, SEGMENT_AGE_MS } from './jobs/flush.ts'
import { type FollowSeriesParts, followSeriesJob } from './jobs/follow-series.ts'
import { heartbeatJob } from './jobs/heartbeat.ts'
import type { Job } from './jobs/job.ts'
import { retainJob } from './jobs/retain.ts'
import { type SignalsParts, signalsJob } from './jobs/signals.ts'
import { newSetupToken } from './org/setup.ts'
import { hasOwner, phoneRegionsOf } from './org/store.ts'
import { Follower } from './signals/follower.ts'
import { gapNotice } from './signals/gap.ts'
import { GapWatch } from './signals/gap-watch.ts'
import { settingsOf } from './signals/setting-store.ts'
import { Suspicion, suspicionNotice } from './signals/suspicion.ts'
import type { Db } from './store/database.ts'

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
  /** Under which people reach the server, as configured or else on this machine. */
  publicUrl: string
  /** Everything but the collector. */
  fetch(request: Request): Promise<Response>
  /** Where the first owner is made; a secret, good until it was used. Null when there is an owner. */
  setupUrl: string | null
  /** What `fetch` answers, but for pages. */
  routes: readonly Route[]
  collector: Collector
  /** Batches that wait to be judged. */
  late: LateBatches
  db: Db
  box: SecretBox
  /** What is to be run again and again; tests run them by name. */
  jobs: readonly Job[]
  /**
   * Gives up waiting, for other machines and for the warehouse: what is being sent is sent again after the next start, and
   * queries fail. To be called until the jobs have ended, which may go on with another query.
   */
  abort(): void
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>
  /**
   * Writes what is in memory, moves what is in the spool as far as a second goes, and lets go of the data folder. After
   * `abort` and the jobs. The next start moves the rest.
   */
  close(): Promise<void>
}

export async function openApp(options: AppOptions): Promise<App> {
  const { config, clock, log } = options
  const report = (error: unknown, where: string) => log.error(error, where)
  const guard = addressGuard(config.outboundAllow)
  const transport = options.transport ?? outboundTransport(config, guard)
  const tellOperator = operatorOf(config, log, transport)
  const stores = await openAllStores(config.data, clock, { report, log, tellOperator })
  const { db, box, spool, manifest, warehouse } = stores
  const publicUrl = config.publicUrl || ownUrlOf(config.listen)

  const regionsOf = (orgId: string) => phoneRegions(phoneRegionsOf(db, orgId))
  const watch = new ClockWatch({
    ...{ db, clock, spool, manifest },
    stepped: (step) => tellOperator(clockNotice(step)),
  })
  const gaps = new GapWatch({ db, clock, report, began: (gap) => tellOperator(gapNotice(gap)) })
  const gapsOf = (from: Instant, to: Instant) => gaps.gapsOf(from, to)
  const follower = new Follower({
    warehouse,
    gapsOf,
    settingsOf: (orgId) => settingsOf(db, orgId),
  })
  const suspicion = new Suspicion({
    warehouse,
    follower,
    domains: () => autoWatched(db),
    arose: (at) => tellOperator(suspicionNotice(at)),
  })
  const live = new Live(clock)
  const rules = new RulesInForce(db, regionsOf)
  const woken = new Woken()
  const batches = new BatchMemory(db, clock)
  const domains = domainDirectory({ db, clock })
  const diskBudget = new DiskBudget({
    ...{ db, warehouse, manifest: stores.manifest, folder: stores.events, clock },
    ...{ budgetBytes: config.diskBudget, warn: log.warn, tellOperator, report },
  })
  const lateJudge = new LateJudge(rules)
  rules.listen((orgId, id, rule) => lateJudge.changed(orgId, id, rule))
  rules.refresh()
  const late = new LateBatches({
    folder: stores.late,
    judgeHere: rules.judgeAll,
    judge: (orgId, events) => lateJudge.judge(orgId, events),
    admit: (batch) => collector.admit(batch),
    isKnown: (hash) => spool.answerOf(hash) !== null || batches.answerOf(hash) !== null,
    report,
  })
  const collector: Collector = new Collector({
    clock,
    spool,
    domains,
    batches,
    isOverBudget: (orgId) => diskBudget.isOver(orgId),
    rate: new RateLimit(clock, config.rateCollectPerSecond),
    judge: rules.judgeBatch,
    late,
    violated: (alertIds, domainId, receivedAt) => woken.add(alertIds, domainId, receivedAt),
    storing: gaps,
    live,
    files: filesOf({ db, clock, domains, collectUrl: config.collectUrl || publicUrl, publicUrl }),
    report,
  })

  late.start()

  const enqueue = notifier({ db, clock, publicUrl })
  const delivering: Delivering = {
    db,
    box,
    clock,
    transport,
    jitter: options.jitter ?? Math.random,
    mailConfigured: config.smtpUrl !== '',
    report,
  }
  recover(db)

  const stopping = new AbortController()
  const dispatcher = new Dispatcher(delivering, stopping.signal)
  const ages: Ages = { flushAt: null, evaluationAt: null }
  const flushParts: FlushParts = { db, batches, spool, warehouse, collector }
  const evaluateParts: EvaluateParts = { db, warehouse, clock, spool, woken, enqueue, regionsOf, gapsOf }
  const seriesParts = { db, clock, spool, enqueue, follower, gapsOf, suspicion }
  const signalParts = { db, clock, warehouse, enqueue }
  const putBack = () => {
    follower.forget()
    suspicion.forget()
    dispatcher.forget()
  }
  const jobs = jobsOf({
    ...{ ...stores, config, clock, ages, domains, gaps, diskBudget, watch, putBack },
    ...{ flushParts, evaluateParts, seriesParts, signalParts },
  })
  const questions = new Questions({
    atOnce: config.questionsAtOnce,
    perOrganization: config.questionsPerOrganization,
    perCaller: config.questionsPerCaller,
  })
  const setup = hasOwner(db) ? null : newSetupToken()
  const { routes, handle } = openApi({
    ...{ ...stores, config, clock, report, publicUrl, questions, guard, dispatcher, enqueue, rules },
    ...{ domains, ages, gaps, suspicion, follower, live, transport },
    mailConfigured: delivering.mailConfigured,
    setupToken: setup?.token ?? null,
    warn: log.warn,
  })
  return {
    publicUrl,
    fetch: handle,
    setupUrl: setup && `${publicUrl}/#setup=${setup.secret}`,
    routes,
    collector,
    late,
    db,
    box,
    jobs: [
      ...jobs,
      deliverJob({ db, clock, publicUrl }, dispatcher),
      checkHostsJob({ db, clock, transport, changed: () => domains.invalidate() }, stopping.signal),
    ],
    abort() {
      stopping.abort()
      warehouse.interrupt()
    },
    idle: () => dispatcher.idle(),
    async close() {
      stopping.abort()
      await dispatcher.idle()
      const lateClosed = late.close()
      lateJudge.close()
      await lateClosed
      await closeSpool(flushParts, log)
      gaps.close()
      stores.close()
    },
  }
}

/** What is left in the spool then costs nothing but the time to read it at the next start. */
const LAST_FLUSH_MS = 1000

/** Nothing is lost by it: what can't be moved in time stays in the spool. */
async function closeSpool(parts: FlushParts, { info, error: report }: Log): Promise<void> {
  let isLate = false
  const giveUp = () => {
    isLate = true
    parts.warehouse.interrupt()
  }
  const timer = setInterval(giveUp, LAST_FLUSH_MS)
  try {
    await lastFlush(parts)
  } catch (error) {
    if (isLate) info('what is left in the spool is loaded at the next start')
    else report(error, `last flush: ${messageOf(error)}`)
  } finally {
    clearInterval(timer)
  }
}

const EVERYWHERE = new Set(['0.0.0.0', '::'])

/** Where a server that listens here is reached from this machine; one that listens everywhere, by the machine's own name. */
export function ownUrlOf(listen: Config['listen']): string {
  const { hostname, port } = listen ?? { hostname: '127.0.0.1', port: 0 }
  if (EVERYWHERE.has(hostname)) return `http://localhost:${port}`
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}

function outboundTransport(config: Config, guard: AddressGuard): Transport {
  return transportOf({
    http: httpTransport({ guard, proxy: config.outboundProxy }),
    mail: mailTransport({ smtpUrl: config.smtpUrl, from: config.mailFrom }),
  })
}

/** Tells who runs the server: in the log, and by mail where that is set up. */
function operatorOf({ operatorMail, smtpUrl }: Config, { warn }: Log, transport: Transport) {
  const mail = operatorMail !== '' && smtpUrl !== '' ? plainMail({ transport, warn }) : null
  return ({ subject, text }: { subject: string; text: string }) => {
    warn(`${subject}. ${text}`)
    mail?.(operatorMail, `Tagwarden: ${subject}`, text)
  }
}

interface FileParts {
  db: Db
  clock: Clock
  domains: DomainDirectory
  collectUrl: string
  publicUrl: string
}

/** The files that browsers load; each domain's pages send to where its routing says. */
function filesOf({ db, clock, domains, ...addresses }: FileParts): ScriptFiles {
  const legacyHost = new URL(addresses.publicUrl).host
  return new ScriptFiles({
    clock,
    domains,
    bundle: scriptBundle,
    collectUrlOf: ({ orgId, id }) => routingOf(findDomain(db, { orgId, id }, clock.now()), addresses).collectEndpoint,
    legacyHost: legacyHost === new URL(addresses.collectUrl).host ? null : legacyHost,
    askedAtLegacy: (domainId) => noteLegacyScript(db, domainId, clock.now()),
  })
}

interface JobParts extends Stores {
  config: Config
  clock: Clock
  ages: Ages
  flushParts: FlushParts
  evaluateParts: EvaluateParts
  seriesParts: FollowSeriesParts
  signalParts: SignalsParts
  domains: DomainDirectory
  gaps: GapWatch
  diskBudget: DiskBudget
  watch: ClockWatch
  /** The clock was put back while the program runs. */
  putBack(): void
}

function jobsOf(parts: JobParts): Job[] {
  const { db, warehouse, manifest, events: folder, clock, config, ages } = parts
  const everySecond = '* * * * * *'
  return [
    // First: of jobs that are late together, none judges counts before it is known that nobody collected.
    heartbeatJob(parts.watch, parts.gaps, parts.putBack),
    {
      name: 'flush',
      pattern: everySecond,
      async run() {
        await flush(parts.flushParts, SEGMENT_AGE_MS)
        ages.flushAt = clock.now()
      },
    },
    compactJob({ warehouse, manifest, folder, clock }),
    checkFilesJob(warehouse.files),
    {
      name: 'evaluate',
      pattern: everySecond,
      async run(stopping) {
        await evaluate(parts.evaluateParts, stopping)
        ages.evaluationAt = clock.now()
      },
    },
    followSeriesJob(parts.seriesParts),
    signalsJob(parts.signalParts),
    retainJob({ db, warehouse, manifest, folder, agedAt: () => parts.gaps.agedAt(), retentionMs: retentionMs(config) }),
    diskBudgetJob(parts.diskBudget),
    { name: 'refresh domains', pattern: everySecond, run: async () => parts.domains.refresh() },
  ]
}
