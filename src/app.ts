import { domainsWithAutoAlert } from './alerts/auto-alert.ts'
import { openAlerts } from './alerts/room.ts'
import { openApi } from './api.ts'
import { type AppOptions, type OpenedBase, openBase } from './app/open-base.ts'
import { openAudits } from './audits/room.ts'
import { openBackups } from './backups/room.ts'
import type { Room } from './base.ts'
import { openBrowser } from './browser/room.ts'
import { openCalendars } from './calendars/room.ts'
import { openCapture } from './capture/room.ts'
import { maskedNames } from './changes/change.ts'
import { openChanges } from './changes/room.ts'
import { changesOfIssue, noteChange, noteSetting } from './changes/store.ts'
import { type CollectorsRoom, LIVE_DELAY_MS, openCollectors } from './collectors/room.ts'
import { checkCustomPatterns } from './compliance/check-custom-patterns.ts'
import { openCompliance } from './compliance/room.ts'
import { recordSightings } from './compliance/store.ts'
import { compileMask } from './conditions/mask-personal-data.ts'
import { CONNECTORS } from './connectors.ts'
import type { SecretBox } from './core/secret-box.ts'
import { folderPaths } from './data-folder/folder-paths.ts'
import { type DataFolderRoom, openDataFolder } from './data-folder/room.ts'
import { openDigest } from './digest/room.ts'
import { openDomains } from './domains/room.ts'
import { addLateWindows } from './evaluation/clock-step-windows.ts'
import { openEvaluation } from './evaluation/room.ts'
import { openEvidence } from './evidence/room.ts'
import { openFlows } from './flows/room.ts'
import { RunFiles } from './flows/run-files.ts'
import { openForms } from './forms/room.ts'
import { openGate } from './gate/room.ts'
import { gateRunsOf } from './gate/store.ts'
import { type HealthRoom, openHealth } from './health/room.ts'
import { QueryLimiter } from './http/query-limiter.ts'
import { acceptReadOnlyFields } from './http/read-only-fields.ts'
import type { Route } from './http/route.ts'
import type { Collector } from './ingest/collector.ts'
import type { JudgingQueue } from './ingest/judging-queue.ts'
import { openIngest } from './ingest/room.ts'
import { openInsights } from './insights/room.ts'
import { channelCheck } from './integrations/channel-targets.ts'
import { enqueueSecurityMail } from './integrations/delivery/internal-outbox.ts'
import { notifier } from './integrations/delivery/notifier.ts'
import { recheckWithheld } from './integrations/delivery/withhold.ts'
import { internalChannels } from './integrations/providers/internal/internal-channels.ts'
import { openIntegrations } from './integrations/room.ts'
import type { IssueRecord } from './issues/issue.ts'
import { issueStatesOf, openIssuesOf } from './issues/list-issues.ts'
import { openIssues } from './issues/room.ts'
import { resolveAll, resolveIssuesOfDomain } from './issues/store.ts'
import type { Job } from './jobs/job.ts'
import { openLabels } from './labels/room.ts'
import { openMaintenance } from './maintenance/room.ts'
import { fillManagedBy } from './managed/fill-managed-by.ts'
import { openManaged } from './managed/room.ts'
import { openOrderCapture } from './order-capture/room.ts'
import { openOrders } from './orders/room.ts'
import { lastOrdersOf } from './orders/store.ts'
import { openOrg } from './org/room.ts'
import { openSavedViews } from './saved-views/room.ts'
import { openSearch } from './search/room.ts'
import { openShares } from './shares/room.ts'
import { sharesOf } from './shares/store.ts'
import { openSignals } from './signals/room.ts'
import type { Db } from './store/database.ts'
import { limitInForce } from './store/retention-limits.ts'
import { openStream } from './stream/room.ts'
import { openVisitor } from './visitor/room.ts'
import { browserName } from './visitor/user-agent.ts'
import { recordNameChanges } from './warehouse/open-segment-outlet.ts'
import { useOf } from './warehouse/plan-disk-deletions.ts'

export type { AppOptions } from './app/open-base.ts'
export type { Log } from './base.ts'

/** The whole program without its listening sockets. Constructed only by `openApp`. */
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
  /** Batches that have not yet been evaluated against the rules. */
  late: JudgingQueue
  db: Db
  box: SecretBox
  /** The jobs to schedule. If several are due at the same time, they start in this order. Tests run them by name. */
  jobs: readonly Job[]
  /** Prepares the event history for queries, and reports an error when the history can't be queried. */
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

/** Opens the rooms in the order of their dependencies. */
export async function openApp(options: AppOptions): Promise<App> {
  const base = await openBase(options)
  const { db, box, clock, config, publicUrl, warehouse, privacyOf, maskTextOf, report } = base
  const paths = folderPaths(config.data)
  const runFiles = new RunFiles(paths.runs, () => limitInForce(db, 'runRetentionDays', clock.now()))
  const changesOf = (issue: IssueRecord) => maskedNames(changesOfIssue(db, issue), privacyOf(issue.orgId))
  const mailConfigured = config.smtpUrl !== ''
  const enqueue = notifier({ db, clock, publicUrl, mailConfigured, changesOf })

  const org = openOrg(base, {
    checkPiiPatterns: checkCustomPatterns,
    browserOf: browserName,
    queueMail: (notice) => enqueueSecurityMail(base, notice),
  })
  const managed = openManaged(base)
  const domains = openDomains(base, {
    org,
    maskTextOf,
    noteSetting: (domain, what) => noteSetting(db, clock.now(), domain, what),
    openIssues: (orgId, ids) => openIssuesOf(db, orgId, 'domainId', ids),
    resolveIssues: ({ orgId, id }, by) => resolveIssuesOfDomain(db, id, { orgId, by, now: clock.now() }, enqueue),
    lastOrders: (ids) => lastOrdersOf(db, ids),
  })
  const labels = openLabels(base)
  const savedViews = openSavedViews(base)
  const visitor = openVisitor(base)
  const capture = openCapture(base, domains)
  const calendars = openCalendars(base)
  const { holidaysOf } = calendars
  const maintenance = openMaintenance(base, { changed: (orgId) => recheckWithheld(db, orgId) })
  const signals = openSignals(base, { domains: () => domainsWithAutoAlert(db), holidaysOf })
  const alerts = openAlerts(base, {
    org,
    labels,
    signals,
    holidaysOf,
    checkChannels: channelCheck(base),
    deleted: ({ id, orgId }, by) => resolveAll(db, id, { orgId, by, now: clock.now() }, enqueue),
    openIssues: (orgId, ids) => openIssuesOf(db, orgId, 'alertId', ids),
    issueStates: (orgId, ids) => issueStatesOf(db, orgId, ids),
    isLearning: (id) => evaluation.isLearning(id),
  })
  const ingest = openIngest(base, {
    directory: domains.directory,
    scripts: capture.scripts,
    rules: alerts.rules,
    judgeProcess: alerts.judgeProcess,
    storing: signals.gaps,
    countryOf: (address) => visitor.countries.countryOf(address),
    isOverBudget: (orgId) => dataFolder.diskBudget.isOver(orgId),
    answered: (status, ms) => health.timings.noteRequest('collector', status, ms),
    maskOf: (orgId) => compileMask([], privacyOf(orgId)),
    maskTextOf,
    receivers: () => collectors.live() + 1,
    liveDelayMs: () => (collectors.live() > 0 ? LIVE_DELAY_MS : 0),
    async storageOf(orgId) {
      const { serverBytes, ...use } = useOf(await warehouse.pieces(), orgId)
      return { ...use, clickhouseBytes: config.warehouse === null ? null : serverBytes }
    },
    waitingDeletions: () =>
      dataFolder.waitingDeletions().map(({ events, ...waiting }) => ({ ...waiting, events: events?.events ?? null })),
  })
  const collectors: CollectorsRoom = openCollectors(base, {
    claimsFile: paths.claims,
    isHistoryShared: !warehouse.readsSpool,
    overBudget: () => dataFolder.diskBudget.organizationsOver(),
    live: ingest.live,
    counts: ingest.counts,
    refused: (span, collector) => signals.gaps.refusedElsewhere(span, collector),
    recordNames: (names) => recordNameChanges(db, names),
    recordPersonalData: (sightings) => recordSightings(db, sightings, { privacyOf }),
    evaluateLate: (span, alertIds) => addLateWindows(db, span, alertIds),
    violated: ({ alertId, domainId, receivedAt }) =>
      ingest.violated.emit({ alertIds: new Set([alertId]), domainId, receivedAt }),
  })
  const evaluation = openEvaluation(base, { ingest, signals, enqueue })
  const issues = openIssues(base, { enqueue, checkChannels: channelCheck(base) })
  const evidence = openEvidence(base, signals)
  const integrations = openIntegrations(base, {
    connectors: CONNECTORS,
    enqueue,
    enricher: evidence.enricher,
    changesOf,
    noteChange: (change) => void noteChange(db, clock.now(), change),
    internalChannels: internalChannels({
      publicUrl,
      browserOf: browserName,
      operatorMail: config.operatorMail,
      operatorWebhookUrl: config.operatorWebhookUrl,
      onCanary: (message) => health.canary.arrived(message),
      onFailure: (recipient, reason) => base.log.warn(`a message to ${recipient} could not be sent: ${reason}`),
    }),
    jitter: options.jitter ?? Math.random,
  })
  const compliance = openCompliance(base, { enqueue, alertsChanged: alerts.rules.changed })
  const orders = openOrders(base)
  const changes = openChanges(base, { gateRunsOf: (orgId, changes) => gateRunsOf(db, orgId, changes) })
  const insights = openInsights(base, { signals, others: evidence.insights })
  const orderCapture = openOrderCapture(base, { enqueue })
  const browser = openBrowser(base, { folder: paths.browsers })
  const sharesOfRuns = (orgId: string, runIds: readonly string[]) => sharesOf(db, orgId, runIds)
  const flows = openFlows(base, { browser, alerts, runFiles, enqueue, sharesOf: sharesOfRuns })
  const gate = openGate(base)
  const audits = openAudits(base, { browser, enqueue })
  const shares = openShares(base, { runFiles })
  const digest = openDigest(base, { signals, integrations })
  const search = openSearch(base)
  const forms = openForms(base, insights)
  const stream = openStream(base, { ingest, signals, evaluation })
  const dataFolder: DataFolderRoom = openDataFolder(base, { signals, ingest, integrations, runFiles })
  const queryLimiter = new QueryLimiter({
    atOnce: config.questionsAtOnce,
    perOrganization: config.questionsPerOrganization,
    perCaller: config.questionsPerCaller,
  })
  const backups = openBackups(base)
  const health: HealthRoom = openHealth(base, {
    signals,
    evaluation,
    dataFolder,
    integrations,
    browser,
    runFiles,
    queryLimiter,
    operatorMessages: base.operatorMessages,
    collect: (request) => ingest.collector.fetch(request),
    created(alertId) {
      domains.directory.invalidate()
      alerts.rules.changed([alertId])
    },
    backup: backups.status,
    rooms: () => rooms,
  })

  /** Routes and jobs are in the order of the rooms. Rooms are closed in reverse order. */
  const rooms: readonly Room[] = [
    signals,
    dataFolder,
    backups,
    health,
    org,
    managed,
    domains,
    labels,
    savedViews,
    visitor,
    calendars,
    maintenance,
    capture,
    alerts,
    ingest,
    collectors,
    evaluation,
    issues,
    evidence,
    integrations,
    compliance,
    orders,
    changes,
    insights,
    orderCapture,
    browser,
    flows,
    gate,
    audits,
    shares,
    digest,
    search,
    forms,
    stream,
  ]
  const routes = acceptReadOnlyFields(rooms.flatMap((room) => room.routes ?? []).map((one) => fillManagedBy(db, one)))
  const api = openApi(base, {
    routes,
    queryLimiter,
    noteRequest: (group, status, ms) => health.timings.noteRequest(group, status, ms),
  })
  return {
    publicUrl,
    fetch: (request) =>
      collectors.endpoint.owns(new URL(request.url).pathname) ? collectors.endpoint.fetch(request) : api(request),
    setupUrl: org.setupUrl,
    routes,
    collector: ingest.collector,
    late: ingest.late,
    db,
    box,
    jobs: rooms
      .flatMap((room) => room.jobs ?? [])
      .map((job) => health.timings.timed(job.isOutbound ? unlessQuiet(job, base) : job)),
    warm: () => warehouse.warm().catch((error: unknown) => report(error, 'warming up the warehouse')),
    abort() {
      base.stop()
      warehouse.interrupt()
    },
    endStreams: () => stream.streams.close(),
    async idle() {
      await Promise.all(rooms.map((room) => room.idle?.()))
    },
    async close() {
      base.stop()
      await Promise.all(rooms.map((room) => room.stop?.()))
      for (const room of rooms.toReversed()) await room.close?.()
      base.close()
    },
  }
}

/** Skips the runs of a job while the server is quiet. */
function unlessQuiet(job: Job, { quiet }: Pick<OpenedBase, 'quiet'>): Job {
  return { ...job, run: async (stopping) => (quiet() ? undefined : job.run(stopping)) }
}
