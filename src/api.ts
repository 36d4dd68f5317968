import { Elysia } from 'elysia'
import { version } from '../package.json'
import type { ActiveRules } from './alerts/active-rules.ts'
import type { Channel } from './alerts/alert.ts'
import { alertRoutes } from './alerts/alert-routes.ts'
import { previewRoutes } from './alerts/preview-routes.ts'
import type { Audits } from './audits/audits.ts'
import { auditRoutes } from './audits/routes.ts'
import { addressCheck } from './browser/address-check.ts'
import type { Browsers } from './browser/browsers.ts'
import { scriptBundle } from './capture/script-bundle.ts'
import { snippetRoutes } from './capture/snippet-routes.ts'
import { changeRoutes } from './changes/routes.ts'
import { noteSetting } from './changes/store.ts'
import { checkCustomPatterns } from './compliance/custom-patterns.ts'
import { complianceRoutes } from './compliance/routes.ts'
import { compileMask, maskPersonal } from './conditions/mask.ts'
import { type Privacy, privacyFrom } from './conditions/privacy.ts'
import { type Config, oidcSettings, retentionMs } from './config.ts'
import type { Clock, Instant } from './core/clock.ts'
import type { SecretBox } from './core/secret-box.ts'
import type { DigestComposer } from './digest/composer.ts'
import { digestRoutes } from './digest/routes.ts'
import type { DomainDirectory } from './domains/directory.ts'
import { projectRoutes } from './domains/project-routes.ts'
import { domainRoutes } from './domains/routes.ts'
import { issueEvidence } from './evidence/evidence.ts'
import { draftRoutes } from './flows/draft-routes.ts'
import type { FlowRuns } from './flows/flow-runs.ts'
import { flowTestRoutes } from './flows/routes.ts'
import type { RunFiles } from './flows/run-files.ts'
import { runRoutes } from './flows/run-routes.ts'
import { formRoutes } from './forms/routes.ts'
import { answerErrors } from './http/errors.ts'
import { healthRoutes } from './http/health.ts'
import { openApiDocument } from './http/openapi.ts'
import { webPages } from './http/pages.ts'
import { performer } from './http/perform.ts'
import type { Questions } from './http/questions.ts'
import { RateLimit, rateLimited } from './http/rate.ts'
import type { Route } from './http/route.ts'
import { router } from './http/router.ts'
import { webBundle } from './http/web-bundle.ts'
import type { LiveBuffer } from './ingest/live-buffer.ts'
import { liveRoutes } from './ingest/live-routes.ts'
import type { Spool } from './ingest/spool.ts'
import { usageRoutes } from './ingest/usage-routes.ts'
import { insights } from './insights/index.ts'
import { insightRoutes } from './insights/routes.ts'
import type { Dispatcher } from './integrations/delivery/dispatcher.ts'
import { deliveryRoutes } from './integrations/delivery/routes.ts'
import { PROVIDERS } from './integrations/providers/index.ts'
import { integrationRoutes } from './integrations/routes.ts'
import { providerOf } from './integrations/store.ts'
import { checkChannels } from './integrations/targets.ts'
import type { AddressGuard } from './transport/address-guard.ts'
import { operatorFetch } from './transport/operator-fetch.ts'
import { plainMail } from './transport/plain-mail.ts'
import type { Transport } from './transport/transport.ts'
import type { Enqueue } from './issues/issue.ts'
import { openIssuesOf } from './issues/list.ts'
import { issueRoutes } from './issues/routes.ts'
import { resolveAll } from './issues/store.ts'
import { labelRoutes } from './labels/routes.ts'
import { keptMetrics, metricsOf } from './metrics.ts'
import { orderRoutes } from './orders/routes.ts'
import { lastOrdersOf } from './orders/store.ts'
import { auditor, type NewAuditEntry, writeAuditEntry } from './org/audit-log.ts'
import { authRoutes, resetRoutes } from './org/auth-routes.ts'
import { authenticator } from './org/authenticate.ts'
import { memberRoutes } from './org/member-routes.ts'
import { companySignIn, type OidcParts, oidcRoutes } from './org/oidc-routes.ts'
import { organizationRoutes } from './org/org-routes.ts'
import { orgRoutes } from './org/routes.ts'
import type { SetupToken } from './org/setup.ts'
import { type SignInLimits, signInLimits } from './org/sign-in.ts'
import { privacySettings } from './org/store.ts'
import { searchRoutes } from './search/routes.ts'
import { shareRoutes } from './shares/routes.ts'
import { shareableRuns } from './shares/shareable-runs.ts'
import { sharesOf } from './shares/store.ts'
import type { GapDetector } from './signals/gap-detector.ts'
import type { SeriesMonitor } from './signals/series-monitor.ts'
import type { ServerOutageDetector } from './signals/server-outage.ts'
import { signalRoutes } from './signals/signal-routes.ts'
import { settingsOf } from './signals/signal-setting-store.ts'
import { activeClockStep } from './store/clock-step.ts'
import type { Db } from './store/database.ts'
import { diskFault } from './store/disk-space.ts'
import { streamRoutes } from './stream/routes.ts'
import type { Streams } from './stream/streams.ts'
import { useOf } from './warehouse/disk-share.ts'
import type { Warehouse } from './warehouse/warehouse.ts'

/** Time of the last successful run of each job; null if it has not succeeded since startup. */
export interface LastRuns {
  flushAt: Instant | null
  evaluationAt: Instant | null
}

export interface ApiParts {
  db: Db
  box: SecretBox
  clock: Clock
  config: Config
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  guard: AddressGuard
  dispatcher: Dispatcher
  composer: DigestComposer
  transport: Transport
  /** True when the server can send mail. */
  mailConfigured: boolean
  enqueue: Enqueue
  rules: ActiveRules
  domains: DomainDirectory
  lastRuns: LastRuns
  gaps: GapDetector
  live: LiveBuffer
  serverOutage: ServerOutageDetector
  seriesMonitor: SeriesMonitor
  spool: Spool
  warehouse: Warehouse
  questions: Questions
  browsers: Browsers
  flowRuns: FlowRuns
  runFiles: RunFiles
  audits: Audits
  streams: Streams
  /** Token for creating the first owner; null when the data folder has an owner. */
  setupToken: SetupToken | null
  warn(message: string): void
  report(error: unknown, where: string): void
}

/** All routes except the collector's, and the function that handles their requests. */
export interface Api {
  routes: readonly Route[]
  handle(request: Request): Promise<Response>
}

export function openApi(parts: ApiParts): Api {
  const limits = signInLimits(parts.clock, parts.config.rateSigninPerMinute)
  const oidc = companyParts(parts, limits)
  const routes = [...watchingRoutes(parts), ...peopleRoutes(parts, oidc, limits)]
  const { db, clock, config, publicUrl, report } = parts
  const rate = new RateLimit(clock, config.rateKeyPerMinute / 60, 60)
  const authenticate = rateLimited(authenticator({ db, clock }), rate)
  const perform = performer({ db, audit: auditor(db, clock), questions: parts.questions })
  const mcp = openedAtFirst(async () => {
    const { mcpEndpoint } = await import('./mcp/endpoint.ts')
    return mcpEndpoint({ routes, authenticate, perform, version, publicUrl, report })
  })
  const pages = webPages({ bundle: webBundle, describe: () => openApiDocument(routes) })
  const app = answerErrors(new Elysia({ normalize: false }), report, pages.missing)
    .all('/mcp', ({ request }) => mcp(request), { parse: 'none' })
    .use(router(routes, { authenticate, perform }))
  return { routes, handle: (request) => pages.answer(request) ?? Promise.resolve(app.handle(request)) }
}

type Answer = (request: Request) => Promise<Response>

/** Opens a request handler on its first request, so an unused handler does not slow down startup or occupy memory. */
function openedAtFirst(open: () => Promise<Answer>): Answer {
  let opened: Promise<Answer> | undefined
  return async (request) => {
    opened ??= open()
    return (await opened)(request)
  }
}

/** Returns the routes for properties, their events, and their issues. */
function watchingRoutes(parts: ApiParts): Route[] {
  const { db, box, clock, config, publicUrl, guard, enqueue, rules, domains, lastRuns, warehouse } = parts
  const allInsights = [...insights, issueEvidence(box)]
  const privacyOf = (orgId: string) => privacyFrom(privacySettings(db, orgId))
  const maskTextOf = (orgId: string) => {
    const privacy = privacyOf(orgId)
    return (text: string) => maskPersonal(text, '', privacy)
  }
  return [
    ...healthRoutes({
      lastFlushAt: () => lastRuns.flushAt,
      lastEvaluationAt: () => lastRuns.evaluationAt,
      clockPutBack() {
        const step = activeClockStep(db, clock.now())
        return step && { at: step.at, latestAt: step.latestAt }
      },
      damagedFiles: () => warehouse.storage().flatMap(({ name, isDamaged }) => (isDamaged ? [name] : [])),
      failingMerges: () => warehouse.failingMerges,
      storageFault: () => diskFault(config.data, parts.gaps.refusing),
      now: () => clock.now(),
      metrics: keptMetrics(clock, () => metricsOf(parts)),
    }),
    ...domainRoutes({
      db,
      clock,
      collectUrl: config.collectUrl || publicUrl,
      publicUrl,
      isEndpointLocked: config.endpointLock === 'on',
      isHostAllowed: (hostname) => guard.names(hostname),
      maskTextOf,
      noteSetting: (domain, what) => noteSetting(db, clock.now(), domain, what),
      changed: () => domains.invalidate(),
      openIssues: (orgId, ids) => openIssuesOf(db, orgId, 'domainId', ids),
      lastOrders: (ids) => lastOrdersOf(db, ids),
    }),
    ...projectRoutes(parts),
    ...usageRoutes({ db, clock, maskTextOf, storageOf: async (orgId) => useOf(await warehouse.pieces(), orgId) }),
    ...snippetRoutes({ db, clock, collectUrl: config.collectUrl || publicUrl, publicUrl, bundle: scriptBundle }),
    ...liveRoutes({ db, clock, live: parts.live, maskOf: (orgId) => compileMask([], privacyOf(orgId)) }),
    ...insightRoutes(
      { ...parts, watermark: () => parts.spool.watermark(), retentionMs: retentionMs(config) },
      allInsights,
    ),
    ...alertRoutes({
      db,
      box,
      clock,
      checkChannels: channelCheck(db, guard),
      changed: rules.changed,
      deleted: ({ id, orgId }, by) => resolveAll(db, id, { orgId, by, now: clock.now() }, enqueue),
      openIssues: (orgId, ids) => openIssuesOf(db, orgId, 'alertId', ids),
      lateShareOf: rules.lateShareOf,
    }),
    ...previewRoutes({
      ...{ db, clock, warehouse, privacyOf },
      gapsOf: (from, to) => parts.gaps.gapsOf(from, to),
      settingsOf: (orgId) => settingsOf(db, orgId),
    }),
    ...labelRoutes({ db, clock, changed: rules.labelsChanged }),
    ...signalRoutes(parts),
    ...changeRoutes({ db, clock, retentionMs: retentionMs(config), privacyOf }),
    ...issueRoutes(parts),
    ...streamRoutes(parts),
    ...searchRoutes({ db, privacyOf }),
    ...formRoutes({ providers: parts.dispatcher.deps.providers ?? PROVIDERS, insights: allInsights }),
    ...integrationRoutes({ ...parts, collectUrl: config.collectUrl || publicUrl }),
    ...complianceRoutes({ ...{ db, clock, enqueue, privacyOf }, alertsChanged: rules.changed }),
    ...deliveryRoutes(parts),
    ...digestRoutes(parts),
    ...orderRoutes(parts),
    ...shareRoutes({
      ...{ db, clock, publicUrl, privacyOf },
      limit: new RateLimit(clock, config.rateSigninPerMinute / 60, 60),
      findRun: shareableRuns(db, parts.runFiles),
    }),
    ...flowRoutes(parts, privacyOf),
  ]
}

/** Returns the routes for flow tests, their runs, and audits. */
function flowRoutes(parts: ApiParts, privacyOf: (orgId: string) => Privacy): Route[] {
  const { db, clock, config, guard, enqueue, browsers, flowRuns, runFiles } = parts
  const checkAddress = addressCheck(config.outboundAllow)
  return [
    ...flowTestRoutes({
      ...parts,
      region: config.region,
      fault: () => browsers.fault(),
      checkAddress,
      checkChannels: channelCheck(db, guard),
      start: () => flowRuns.start(),
      deleted: ({ id, orgId }, by) => resolveAll(db, id, { orgId, by, now: clock.now() }, enqueue),
      cancel: (testId) => flowRuns.cancel(testId),
    }),
    ...runRoutes({
      ...{ db, clock, files: runFiles, privacyOf },
      sharesOf: (orgId, runIds) => sharesOf(db, orgId, runIds),
      stop: (runId) => flowRuns.stop(runId),
    }),
    ...auditRoutes({
      ...parts,
      region: config.region,
      checkAddress,
      checkChannels: channelCheck(db, guard),
      privacyOf,
    }),
    ...draftRoutes({
      ...parts,
      retentionMs: retentionMs(config),
      privacySettingsOf: (orgId) => privacySettings(db, orgId),
    }),
  ]
}

/** Returns a function that throws when a channel can't deliver. */
function channelCheck(db: Db, guard: AddressGuard) {
  return (channels: readonly Channel[], orgId: string) =>
    checkChannels(channels, { guard, providerOf: (id) => providerOf(db, { orgId, id }) })
}

/** Returns the routes for sign-in, organizations, members and keys. */
function peopleRoutes(parts: ApiParts, oidc: OidcParts, limits: SignInLimits): Route[] {
  const { rules, domains, mailConfigured } = parts
  const { audit, company } = oidc
  const mail = mailConfigured ? plainMail(parts) : null
  const changed = (orgId: string) => {
    rules.organizationChanged(orgId)
    domains.invalidate()
  }
  const deleted = () => {
    rules.changed()
    domains.invalidate()
  }
  return [
    ...authRoutes({ ...parts, limits, audit, oidc: () => (company ? { name: company.settings.name } : null) }),
    ...resetRoutes({ ...parts, limits, audit, mail }),
    ...oidcRoutes(oidc),
    ...orgRoutes(parts),
    ...organizationRoutes({ ...parts, changed, deleted, checkPiiPatterns: checkCustomPatterns }),
    ...memberRoutes({ ...parts, limits, mail }),
  ]
}

/** Returns the dependencies of single sign-on (OpenID Connect). */
function companyParts({ db, box, clock, config, publicUrl, warn }: ApiParts, limits: SignInLimits): OidcParts {
  const settings = oidcSettings(config)
  return {
    db,
    box,
    clock,
    publicUrl,
    limits,
    audit: (entry: NewAuditEntry) => writeAuditEntry(db, clock, entry),
    company:
      settings &&
      companySignIn(settings, {
        clock,
        warn,
        request: operatorFetch({ proxy: config.outboundProxy, ca: config.outboundCa }),
      }),
  }
}
