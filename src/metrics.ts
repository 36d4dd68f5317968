import type { BackupsRoom } from './backups/room.ts'
import type { Room } from './base.ts'
import { type Clock, type Instant, SECOND_MS } from './core/clock.ts'
import type { DataFolderRoom } from './data-folder/room.ts'
import type { EvaluationRoom } from './evaluation/room.ts'
import type { HistoryBase } from './history-base.ts'
import { healthRoutes, type Metric } from './http/health-routes.ts'
import type { QueryLimiter } from './http/query-limiter.ts'
import type { Spool } from './ingest/spool.ts'
import { gapTotals } from './signals/gap-store.ts'
import type { SignalsRoom } from './signals/room.ts'
import { activeClockStep } from './store/clock-step.ts'
import type { Db } from './store/database.ts'
import { diskFault } from './store/disk-space.ts'
import type { Warehouse } from './warehouse/warehouse.ts'

/** Cache time: the metrics are public, and each measurement reads whole tables. */
const KEPT_MS = 5 * SECOND_MS

interface Deps {
  signals: SignalsRoom
  evaluation: Pick<EvaluationRoom, 'lastEvaluationAt'>
  dataFolder: Pick<DataFolderRoom, 'lastFlushAt'>
  backups: Pick<BackupsRoom, 'status'>
  queryLimiter: Pick<QueryLimiter, 'load'>
}

/** Creates the health, readiness and metrics endpoints. */
export function openMetrics(base: HistoryBase, { signals, evaluation, dataFolder, backups, queryLimiter }: Deps): Room {
  const { db, clock, config, warehouse } = base
  const { gaps, serverOutage } = signals
  return {
    routes: healthRoutes({
      lastFlushAt: dataFolder.lastFlushAt,
      lastEvaluationAt: evaluation.lastEvaluationAt,
      clockPutBack() {
        const step = activeClockStep(db, clock.now())
        return step && { at: step.at, latestAt: step.latestAt }
      },
      damagedFiles: () => warehouse.storage().flatMap(({ name, isDamaged }) => (isDamaged ? [name] : [])),
      failingMerges: () => warehouse.failingMerges,
      backup: backups.status,
      quiet: base.quiet,
      storageFault: () => diskFault(config.data, gaps.refusing),
      now: () => clock.now(),
      metrics: cachedMetrics(clock, () => metricsOf({ ...base, gaps, serverOutage, queryLimiter, backups })),
    }),
  }
}

/** Returns `measure`, with its result cached for 5 s. */
export function cachedMetrics(clock: Clock, measure: () => Metric[]): () => Metric[] {
  let kept: { at: Instant; metrics: Metric[] } | null = null
  return () => {
    const now = clock.now()
    if (!kept || Math.abs(now - kept.at) >= KEPT_MS) kept = { at: now, metrics: measure() }
    return kept.metrics
  }
}

interface MetricDeps {
  db: Db
  backups: Pick<BackupsRoom, 'status'>
  quiet(): object | null
  spool: Pick<Spool, 'segments'>
  gaps: { refusing: boolean }
  serverOutage: { suspected: boolean }
  queryLimiter: Pick<QueryLimiter, 'load'>
  warehouse: Pick<Warehouse, 'runningQueries' | 'storage' | 'failingMerges'>
}

/**
 * Returns the metrics for operators. Counters are stored with the data that they count, so they survive restarts and
 * never decrease.
 */
function metricsOf(parts: MetricDeps): Metric[] {
  const { db, spool, warehouse, gaps, serverOutage } = parts
  const one = (sql: string) => db.prepare<[], number>(sql).pluck().get() ?? 0
  const total = (name: 'eventsStored' | 'itemsRejected' | 'deliveriesFailed' | 'backupsFailed') =>
    db.prepare<[string], number>('SELECT value FROM total WHERE name = ?').pluck().get(name) ?? 0
  const stored = warehouse.storage()
  const files = stored.filter(({ kind, isDamaged }) => kind === 'events' && !isDamaged)
  const memory = process.memoryUsage.rss()
  return [
    {
      name: 'tagwarden_events_stored_total',
      type: 'counter',
      help: 'Events moved into the warehouse.',
      value: total('eventsStored'),
    },
    {
      name: 'tagwarden_items_rejected_total',
      type: 'counter',
      help: 'Items that the collector rejected or changed.',
      value: total('itemsRejected'),
    },
    {
      name: 'tagwarden_spool_segments',
      type: 'gauge',
      help: 'Sealed spool segments waiting to be loaded into the warehouse.',
      value: spool.segments().length,
    },
    { name: 'tagwarden_event_files', type: 'gauge', help: 'Parquet files of events.', value: files.length },
    {
      name: 'tagwarden_event_bytes',
      type: 'gauge',
      help: 'Size of the Parquet files of events in bytes.',
      value: files.reduce((sum, file) => sum + file.bytes, 0),
    },
    {
      name: 'tagwarden_damaged_files',
      type: 'gauge',
      help: 'Files of the event history that are excluded from results because they are damaged.',
      value: stored.filter(({ isDamaged }) => isDamaged).length,
    },
    {
      name: 'tagwarden_failing_merges',
      type: 'gauge',
      help: 'Failed merges of event files that will be retried.',
      value: warehouse.failingMerges,
    },
    {
      name: 'tagwarden_open_issues',
      type: 'gauge',
      help: 'Open issues of all organizations.',
      value: one(`SELECT count(*) FROM issue WHERE status = 'open'`),
    },
    {
      name: 'tagwarden_deliveries_waiting',
      type: 'gauge',
      help: 'Notifications waiting for delivery.',
      value: one(`SELECT count(*) FROM delivery WHERE status IN ('pending', 'sending')`),
    },
    {
      name: 'tagwarden_deliveries_failed_total',
      type: 'counter',
      help: 'Notifications that could not be delivered.',
      value: total('deliveriesFailed'),
    },
    {
      name: 'tagwarden_resident_memory_bytes',
      type: 'gauge',
      help: 'Resident memory of the process in bytes.',
      value: memory,
    },
    ...backupMetrics(parts, total('backupsFailed')),
    ...gapMetrics(db, gaps),
    ...questionMetrics(parts),
    {
      name: 'tagwarden_pipeline_suspected',
      type: 'gauge',
      help: '1 while the traffic of all domains has dropped at once, which suggests a problem with this server.',
      value: serverOutage.suspected ? 1 : 0,
    },
  ]
}

function questionMetrics({ queryLimiter, warehouse }: Pick<MetricDeps, 'queryLimiter' | 'warehouse'>): Metric[] {
  const { running, waiting } = queryLimiter.load
  return [
    {
      name: 'tagwarden_questions_running',
      type: 'gauge',
      help: 'Queries of the event history by callers that are running.',
      value: running,
    },
    {
      name: 'tagwarden_questions_waiting',
      type: 'gauge',
      help: 'Queries of the event history by callers that are waiting in the queue.',
      value: waiting,
    },
    {
      name: 'tagwarden_queries_running',
      type: 'gauge',
      help: 'Queries running in the warehouse, by callers and jobs.',
      value: warehouse.runningQueries,
    },
  ]
}

/** Metrics of the last backup are absent until there is one. */
function backupMetrics({ backups, quiet }: Pick<MetricDeps, 'backups' | 'quiet'>, failed: number): Metric[] {
  const { lastSuccess } = backups.status()
  const ofLast: Metric[] = lastSuccess
    ? [
        {
          name: 'tagwarden_backup_last_success_timestamp_seconds',
          type: 'gauge',
          help: 'Time at which the last successful backup started.',
          value: lastSuccess.startedAt / SECOND_MS,
        },
        {
          name: 'tagwarden_backup_duration_seconds',
          type: 'gauge',
          help: 'Duration of the last successful backup.',
          value: ((lastSuccess.finishedAt ?? 0) - lastSuccess.startedAt) / SECOND_MS,
        },
        {
          name: 'tagwarden_backup_bytes',
          type: 'gauge',
          help: 'Size of the last successful backup in bytes.',
          value: lastSuccess.bytes ?? 0,
        },
      ]
    : []
  return [
    ...ofLast,
    { name: 'tagwarden_backups_failed_total', type: 'counter', help: 'Backups that failed.', value: failed },
    {
      name: 'tagwarden_quiet',
      type: 'gauge',
      help: '1 while the server sends nothing, because its data folder was copied or restored.',
      value: quiet() ? 1 : 0,
    },
  ]
}

function gapMetrics(db: Db, { refusing }: MetricDeps['gaps']): Metric[] {
  const { count, totalMs } = gapTotals(db)
  return [
    {
      name: 'tagwarden_collector_refusing',
      type: 'gauge',
      help: '1 while the collector cannot store incoming events.',
      value: refusing ? 1 : 0,
    },
    {
      name: 'tagwarden_collect_gaps',
      type: 'gauge',
      help: 'Periods in the last 400 days in which nothing could be collected.',
      value: count,
    },
    {
      name: 'tagwarden_collect_gap_seconds',
      type: 'gauge',
      help: 'Total length of these periods in seconds.',
      value: totalMs / SECOND_MS,
    },
  ]
}
