import { countDueAlerts } from '../alerts/alert-store.ts'
import { alertTypes } from '../alerts/types/index.ts'
import type { BackupStatus } from '../backups/backup-schedule.ts'
import type { Room } from '../base.ts'
import type { BrowserRoom } from '../browser/room.ts'
import type { Metric } from '../core/metric.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import type { DataFolderRoom } from '../data-folder/room.ts'
import type { EvaluationRoom } from '../evaluation/room.ts'
import type { RunFiles } from '../flows/run-files.ts'
import type { HistoryBase } from '../history-base.ts'
import { healthRoutes, type ReadinessCheck, runChecks } from '../http/health-routes.ts'
import type { QueryLimiter } from '../http/query-limiter.ts'
import type { IntegrationsRoom } from '../integrations/room.ts'
import type { SignalsRoom } from '../signals/room.ts'
import { activeClockStep } from '../store/clock-step.ts'
import { diskFault, diskSpace } from '../store/disk-space.ts'
import { Alarms } from './alarms.ts'
import { Canary, type CanaryDeps } from './canary.ts'
import { HeartbeatUrl } from './heartbeat-url.ts'
import { cachedMetrics, EventLoopDelay, measureServer } from './metrics.ts'
import type { OperatorMessages } from './operator-messages.ts'
import { diskCheck, EngineProbe, MAX_WAIT_MS, ReadinessWatch, waitingCheck, watchDiskSpace } from './readiness.ts'
import { Timings } from './timings.ts'

const EVERY_SECOND = '* * * * * *'

export interface HealthRoom extends Room {
  canary: Canary
  timings: Timings
}

interface Deps extends Pick<CanaryDeps, 'collect' | 'created'> {
  signals: SignalsRoom
  evaluation: Pick<EvaluationRoom, 'lastEvaluationAt'>
  dataFolder: Pick<DataFolderRoom, 'lastFlushAt'>
  integrations: Pick<IntegrationsRoom, 'dispatcher'>
  browser: BrowserRoom
  runFiles: RunFiles
  queryLimiter: QueryLimiter
  operatorMessages: OperatorMessages
  /** State of the backups. */
  backup(): BackupStatus
  /** All rooms, including this one. Called once they are open. */
  rooms(): readonly Room[]
}

/** Opens health checks, metrics, messages to the operator, and the server's own canary events. */
export function openHealth(base: HistoryBase, deps: Deps): HealthRoom {
  const { db, box, clock, config, spool, warehouse, transport, publicUrl, report, log, stopping } = base
  const { signals, evaluation, dataFolder, integrations, browser, runFiles, queryLimiter, operatorMessages } = deps
  const { gaps, serverOutage } = signals
  const paths = folderPaths(config.data)
  const openedAt = clock.now()
  const kinds = alertTypes.map(({ kind }) => kind)
  const timings = new Timings()
  const eventLoopDelay = new EventLoopDelay()
  const alarms = new Alarms(db, clock, (notice) => operatorMessages.notify(notice))
  const engine = new EngineProbe(warehouse, clock, report)
  const isQuiet = () => base.quiet() !== null
  const isDiskFull = () => diskFault(config.data, gaps.refusing) !== null
  const canary = new Canary({
    db,
    box,
    clock,
    collect: deps.collect,
    created: deps.created,
    isPaused: () => isQuiet() || isDiskFull(),
  })
  /** Evaluations also wait when no round succeeds, even if no alert is due. */
  const evaluationsWaitSince = () => {
    const { since } = countDueAlerts(db, kinds, clock.now())
    const succeededAt = evaluation.lastEvaluationAt() ?? openedAt
    const isStuck = clock.now() - succeededAt > MAX_WAIT_MS
    return isStuck ? Math.min(succeededAt, since ?? succeededAt) : since
  }
  const own: readonly ReadinessCheck[] = [
    diskCheck(config.data, () => gaps.refusing),
    engine.check,
    waitingCheck(
      {
        name: 'spool',
        what: 'received events',
        until: 'to be moved into the event files',
        since: () => spool.oldestAt(),
      },
      clock,
    ),
    ...(warehouse.readsSpool
      ? []
      : [
          waitingCheck(
            {
              name: 'inserts',
              what: 'received events',
              until: 'to be inserted into ClickHouse',
              since: () => warehouse.pending.since,
            },
            clock,
          ),
        ]),
    waitingCheck(
      { name: 'evaluation', what: 'due evaluations of alerts', until: 'to be done', since: evaluationsWaitSince },
      clock,
    ),
    canary.check,
  ]
  const checks = () => deps.rooms().flatMap((room) => room.checks ?? [])
  const watch = new ReadinessWatch(checks, alarms)
  const heartbeatUrl = new HeartbeatUrl({
    url: config.heartbeatUrl,
    transport,
    isReady: () => !isQuiet() && runChecks(checks()).every(({ ok }) => ok),
    stopping,
    warn: log.warn,
  })
  operatorMessages.connect({ db, box, transport, publicUrl })
  const checkMetric = (): Metric => ({
    name: 'tagwarden_check_failing',
    type: 'gauge',
    help: '1 while a check of /readyz fails, by check.',
    samples: runChecks(checks()).map(({ name, ok }) => ({ labels: { check: name }, value: ok ? 0 : 1 })),
  })
  const measure = async () => {
    const server = await measureServer({
      db,
      clock,
      paths,
      runFiles,
      spool,
      gaps,
      serverOutage,
      queryLimiter,
      warehouse,
      browsers: browser.browsers,
      timings,
      eventLoopDelay,
      lastFlushAt: dataFolder.lastFlushAt,
      lastEvaluationAt: evaluation.lastEvaluationAt,
      lastDeliveryAt: () => integrations.dispatcher.lastDeliveredAt,
    })
    const others = await Promise.all(deps.rooms().map((room) => room.metrics?.() ?? []))
    return [checkMetric(), ...server, ...others.flat()]
  }
  return {
    canary,
    timings,
    checks: own,
    metrics: () => canaryMetrics(canary),
    stop: () => eventLoopDelay.stop(),
    routes: healthRoutes({
      lastFlushAt: dataFolder.lastFlushAt,
      lastEvaluationAt: evaluation.lastEvaluationAt,
      clockPutBack() {
        const step = activeClockStep(db, clock.now())
        return step && { at: step.at, latestAt: step.latestAt }
      },
      damagedFiles: () => warehouse.storage().flatMap(({ name, isDamaged }) => (isDamaged ? [name] : [])),
      failingMerges: () => warehouse.failingMerges,
      backup: deps.backup,
      quiet: base.quiet,
      checks,
      now: () => clock.now(),
      metrics: cachedMetrics(clock, measure),
    }),
    jobs: [
      {
        name: 'send operator messages',
        pattern: EVERY_SECOND,
        run: async () => (isQuiet() ? undefined : operatorMessages.flush()),
      },
      { name: 'probe engine', pattern: '*/15 * * * * *', run: () => engine.run() },
      {
        name: 'watch readiness',
        pattern: '*/10 * * * * *',
        async run() {
          watch.run()
          watchDiskSpace(diskSpace(config.data), alarms)
        },
      },
      // In the middle of the minute, when few alerts are due.
      { name: 'send canary event', pattern: '30 * * * * *', run: () => canary.run() },
      { name: 'call heartbeat URL', pattern: '45 * * * * *', run: () => heartbeatUrl.call() },
    ],
  }
}

function canaryMetrics(canary: Canary): Metric[] {
  return [
    {
      name: 'tagwarden_canary_latency_seconds',
      type: 'histogram',
      help: 'Time in seconds that a canary event takes through collector, spool, rule, issue and outbox.',
      series: canary.latency.series(),
    },
    {
      name: 'tagwarden_canary_missed_total',
      type: 'counter',
      help: 'Canary events since startup that did not arrive within a minute.',
      value: canary.missed,
    },
  ]
}
