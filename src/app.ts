import { type LastRuns, openApi } from './api.ts'
import { type AppOptions, type Base, baseOf } from './app/base.ts'
import { type Browsing, openBrowsing } from './app/browsing.ts'
import { type Collecting, openCollecting } from './app/collecting.ts'
import { openWatching, type Watching } from './app/watching.ts'
import { maskedNames } from './changes/change.ts'
import { changesOfIssue, noteChange } from './changes/store.ts'
import { type Privacy, privacyFrom } from './conditions/privacy.ts'
import { operatorOf, retentionMs } from './config.ts'
import { SECOND_MS } from './core/clock.ts'
import { Emitter } from './core/emitter.ts'
import type { SecretBox } from './core/secret-box.ts'
import { folderPaths } from './data-folder/folder-paths.ts'
import { openAllStores, type Stores } from './data-folder/open-folder.ts'
import { DigestComposer } from './digest/composer.ts'
import { DigestSender } from './digest/sender.ts'
import { WokenAlerts } from './evaluation/evaluate.ts'
import { messageHistoryFetcher } from './evidence/message-context.ts'
import { planRuns } from './flows/plan-runs.ts'
import { RunFiles } from './flows/run-files.ts'
import { Questions } from './http/questions.ts'
import type { Route } from './http/route.ts'
import type { Collector } from './ingest/collector.ts'
import type { LateBatches } from './ingest/late-batches.ts'
import { Dispatcher } from './integrations/delivery/dispatcher.ts'
import { MessageEnricher } from './integrations/delivery/message-enricher.ts'
import { type NotifierDeps, notifier } from './integrations/delivery/notifier.ts'
import { recoverInterrupted } from './integrations/delivery/queues.ts'
import { Listeners } from './integrations/inbound/listeners.ts'
import { Poller } from './integrations/inbound/poller.ts'
import { StatusSync } from './integrations/status/status-sync.ts'
import type { Enqueue } from './issues/issue.ts'
import { DiskBudget } from './data-folder/disk-budget.ts'
import { type FlushDeps, finalFlush } from './data-folder/flush.ts'
import type { Job } from './jobs/job.ts'
import { type JobDeps, jobsOf } from './jobs/job-list.ts'
import { isInForce } from './org/authenticate.ts'
import { newSetupToken } from './org/setup.ts'
import { hasOwner, privacySettings } from './org/store.ts'
import { SignalChanges } from './signals/signal-changes.ts'
import type { Db } from './store/database.ts'
import { type RowChange, watchRows } from './store/row-changes.ts'
import { Streams } from './stream/streams.ts'
import { WATCHED } from './stream/watched-tables.ts'

export type { AppOptions, Log } from './app/base.ts'

/** The whole program without its listening sockets. `openApp` is the only place that builds it. */
export interface App {
  /** Public URL of the server: the configured one, or else its URL on this machine. */
  publicUrl: string
  /** Handles all requests except those to the collector. */
  fetch(request: Request): Promise<Response>
  /** URL for creating the first owner. It is secret and can be used once. Null when there is an owner. */
  setupUrl: string | null
  /** The routes that `fetch` serves, without pages. */
  routes: readonly Route[]
  collector: Collector
  /** Batches that have not been validated against the rules yet. */
  late: LateBatches
  db: Db
  box: SecretBox
  /** The jobs to schedule. Tests run them by name. */
  jobs: readonly Job[]
  /** Prepares the event history for queries and reports an error when it can't be queried. */
  warm(): Promise<void>
  /**
   * Aborts requests to other machines and queries to the warehouse. Interrupted deliveries are sent again after the
   * next start, and queries fail. Call it repeatedly until the jobs have ended, because a job may start another query.
   */
  abort(): void
  /** Ends the change streams, which would otherwise delay shutdown, and accepts no new ones. */
  endStreams(): void
  /** Resolves when no delivery and no run is active. */
  idle(): Promise<void>
  /**
   * Writes in-memory data to disk, loads the spool for up to one second, and releases the data folder. Call it after
   * `abort`, once the jobs have ended. The rest of the spool is loaded after the next start.
   */
  close(): Promise<void>
}

export async function openApp(options: AppOptions): Promise<App> {
  const base = baseOf(options)
  const { config, clock, log, publicUrl } = base
  const stores = await openAllStores(config.data, clock, {
    ...base,
    queryTimeoutMs: config.queryTimeoutS * SECOND_MS,
  })
  const { db, box, spool, warehouse } = stores
  const privacyOf = (orgId: string) => privacyFrom(privacySettings(db, orgId))
  const stopping = new AbortController()

  const watching = openWatching(base, stores)
  const runFiles = new RunFiles(folderPaths(config.data).runs, config.runRetentionDays)
  const diskBudget = diskBudgetOf(base, stores, runFiles)
  const woken = new WokenAlerts()
  const isOverBudget = (orgId: string) => diskBudget.isOver(orgId)
  const collecting = openCollecting(base, { stores, gaps: watching.gaps, woken, isOverBudget, privacyOf })
  const enqueue = notifier({ db, clock, publicUrl, changesOf: changesOfIn(db) })
  const browsing = openBrowsing(base, { stores, collecting, enqueue, privacyOf, runFiles })
  const historyAsker = historyAskerOf(base, stores, watching)
  const dispatcher = openDispatcher(options, base, stores, { historyAsker, stopping: stopping.signal })
  const listeners = new Listeners(dispatcher, { ...dispatcher.deps, enqueue })

  const streams = streamsOf(base, stores, watching, collecting)
  const outboxEmitter = new Emitter()
  watchRows(db, WATCHED, (changes) => {
    if (changes.some(isToSend)) outboxEmitter.emit()
    streams.publish(changes)
  })
  const composer = new DigestComposer({
    ...{ db, warehouse, clock, publicUrl, seriesMonitor: watching.seriesMonitor, report: base.report },
    watermark: () => spool.watermark(),
    retentionMs: retentionMs(config),
  })
  const lastRuns: LastRuns = { flushAt: null, evaluationAt: null }
  const flushing: FlushDeps = { db, spool, warehouse, batches: collecting.batches, collector: collecting.collector }
  const jobs = jobsOf({
    ...{ clock, lastRuns, flushing, diskBudget, dispatcher, outboxEmitter, domains: collecting.domains },
    scanning: { db, warehouse },
    statusSync: new StatusSync(dispatcher),
    polls: new Poller(dispatcher, {
      ...{ ...dispatcher.deps, enqueue },
      noteChange: (change) => void noteChange(db, clock.now(), change),
    }),
    listeners,
    audits: browsing.audits,
    digests: new DigestSender({ db, box, composer, dispatcher, publicUrl, warn: log.warn }),
    ...maintenanceParts(base, { stores, watching, collecting, browsing, dispatcher, stopping: stopping.signal }),
    ...evaluationParts(base, { stores, watching, woken, enqueue, privacyOf, streams }),
  })
  const setup = hasOwner(db) ? null : newSetupToken()
  const api = openApi({
    ...{
      ...base,
      ...stores,
      ...watching,
      ...collecting,
      ...browsing,
      dispatcher,
      composer,
      enqueue,
      lastRuns,
      streams,
    },
    questions: questionsOf(config),
    mailConfigured: config.smtpUrl !== '',
    setupToken: setup?.token ?? null,
    warn: log.warn,
  })
  return {
    ...{ publicUrl, db, box, jobs, routes: api.routes, fetch: api.handle },
    ...{ collector: collecting.collector, late: collecting.late },
    setupUrl: setup && `${publicUrl}/setup#setup=${setup.secret}`,
    warm: () => warehouse.warm().catch((error: unknown) => base.report(error, 'the engine of the history')),
    abort() {
      stopping.abort()
      warehouse.interrupt()
    },
    endStreams: () => streams.close(),
    async idle() {
      await Promise.all([dispatcher.idle(), browsing.flowRuns.idle(), browsing.audits.idle()])
    },
    async close() {
      streams.close()
      stopping.abort()
      const { flowRuns, audits } = browsing
      await Promise.all([dispatcher.idle(), listeners.idle(), flowRuns.close(), audits.close()])
      await collecting.close()
      await finalFlush(flushing, log)
      watching.gaps.close()
      stores.close()
    },
  }
}

/** Returns a function that lists the changes that may have caused an issue, as shown in messages. */
function changesOfIn(db: Db): NonNullable<NotifierDeps['changesOf']> {
  return (issue) => maskedNames(changesOfIssue(db, issue), privacyFrom(privacySettings(db, issue.orgId)))
}

function diskBudgetOf({ config, clock, log, notifyOperator }: Base, stores: Stores, runFiles: RunFiles): DiskBudget {
  const { db, warehouse } = stores
  return new DiskBudget({
    ...{ db, warehouse, runFiles, clock, notifyOperator },
    ...{ budgetBytes: config.diskBudget, warn: log.warn },
  })
}

/** Opens the dispatcher. Deliveries interrupted by a kill are sent again. */
function openDispatcher(
  { jitter }: AppOptions,
  base: Base,
  { db, box }: Stores,
  { historyAsker, stopping }: { historyAsker: MessageEnricher; stopping: AbortSignal },
): Dispatcher {
  const { clock, transport, config, report } = base
  recoverInterrupted(db)
  const mailConfigured = config.smtpUrl !== ''
  const operator = operatorOf(config)
  return new Dispatcher(
    {
      db,
      box,
      clock,
      transport,
      jitter: jitter ?? Math.random,
      mailConfigured,
      report,
      operator,
      enricher: historyAsker,
    },
    stopping,
  )
}

/** Returns an enricher that adds data from the event history to messages. */
function historyAskerOf({ clock, config, report }: Base, stores: Stores, { seriesMonitor }: Watching): MessageEnricher {
  const { db, warehouse, spool } = stores
  const watermark = () => spool.watermark()
  const ask = messageHistoryFetcher({
    db,
    warehouse,
    seriesMonitor,
    clock,
    watermark,
    retentionMs: retentionMs(config),
  })
  return new MessageEnricher({ db, clock, fetchHistory: ask, report })
}

/** Opens the streams that notify callers of changes once they are committed. */
function streamsOf({ clock }: Base, { db }: Stores, { gaps }: Watching, { counts }: Collecting): Streams {
  return new Streams({
    clock,
    isInForce: (principal) => isInForce({ db, clock }, principal),
    pulseOf: (orgId) => ({ ...counts.of(orgId, clock.now()), gapSince: gaps.refusingSince }),
  })
}

const isToSend = ({ kind, values }: RowChange) => kind === 'delivery' && values.status === 'pending'

function questionsOf({ questionsAtOnce, questionsPerOrganization, questionsPerCaller }: Base['config']): Questions {
  return new Questions({
    atOnce: questionsAtOnce,
    perOrganization: questionsPerOrganization,
    perCaller: questionsPerCaller,
  })
}

interface EvaluationNeeds {
  stores: Stores
  watching: Watching
  woken: WokenAlerts
  enqueue: Enqueue
  privacyOf(orgId: string): Privacy
  streams: Streams
}

function evaluationParts(
  { clock }: Base,
  { stores, watching, woken, enqueue, privacyOf, streams }: EvaluationNeeds,
): Pick<JobDeps, 'evaluating' | 'series' | 'autoAlerts' | 'consent'> {
  const { db, spool, warehouse } = stores
  const { gaps, seriesMonitor, serverOutage } = watching
  const common = { db, clock, spool, enqueue, gapsOf: gaps.gapsOf.bind(gaps) }
  return {
    evaluating: { ...common, warehouse, woken, privacyOf },
    series: { ...common, seriesMonitor, serverOutage, signalChanges: new SignalChanges(streams.signalsChanged) },
    autoAlerts: { db, clock, warehouse, enqueue },
    consent: { db, warehouse, spool, privacyOf },
  }
}

interface MaintenanceNeeds {
  stores: Stores
  watching: Watching
  collecting: Collecting
  browsing: Browsing
  dispatcher: Dispatcher
  stopping: AbortSignal
}

function maintenanceParts(
  { clock, config, transport, publicUrl }: Base,
  { stores, watching, collecting, browsing, dispatcher, stopping }: MaintenanceNeeds,
): Pick<JobDeps, 'heartbeat' | 'warehouse' | 'retaining' | 'notifying' | 'hosts' | 'changes' | 'flows'> {
  const { db, warehouse, spool } = stores
  const { clockWatch, gaps, seriesMonitor, serverOutage } = watching
  const { domains } = collecting
  return {
    heartbeat() {
      if (clockWatch.check()) {
        for (const detector of [seriesMonitor, serverOutage]) detector.reset()
        dispatcher.forget()
      }
      gaps.heartbeat()
    },
    warehouse,
    retaining: {
      db,
      warehouse,
      agedAt: () => gaps.retentionNow(),
      retentionMs: retentionMs(config),
      runFiles: browsing.runFiles,
    },
    notifying: { db, clock, publicUrl, changesOf: changesOfIn(db) },
    hosts: { db, clock, transport, changed: () => domains.invalidate(), signal: stopping },
    flows: {
      plan: () => planRuns({ db, clock, region: config.region, fault: () => browsing.browsers.fault() }),
      start: () => browsing.flowRuns.start(),
    },
    changes: { db, clock, warehouse, watermark: () => spool.watermark() },
  }
}
