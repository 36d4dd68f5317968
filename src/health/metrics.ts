import { readdirSync, readFileSync, statSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { migrations } from '../../migrations/index.ts'
import { countDueAlerts } from '../alerts/alert-store.ts'
import { alertTypes } from '../alerts/types/index.ts'
import type { Browsers } from '../browser/browser-pool.ts'
import { buildInfo } from '../core/build-info.ts'
import { type Clock, type Instant, processStartedAt, SECOND_MS } from '../core/clock.ts'
import type { Metric } from '../core/metric.ts'
import type { FolderPaths } from '../data-folder/folder-paths.ts'
import type { RunFiles } from '../flows/run-files.ts'
import type { QueryLimiter } from '../http/query-limiter.ts'
import type { Spool } from '../ingest/spool.ts'
import { countOpenIssues } from '../issues/store.ts'
import { gapTotals } from '../signals/gap-store.ts'
import type { Db } from '../store/database.ts'
import { diskSpace } from '../store/disk-space.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { Timings } from './timings.ts'

/** Cache time: the metrics are public, and each measurement reads whole tables. */
const KEPT_MS = 5 * SECOND_MS

/** Interval in ms at which the delay of the event loop is measured. Shorter pauses can be missed. */
const DELAY_RESOLUTION_MS = 20

/** Returns `measure`, with its result cached for 5 s. */
export function cachedMetrics(
  clock: Clock,
  measure: () => Promise<readonly Metric[]>,
): () => Promise<readonly Metric[]> {
  let kept: { at: Instant; metrics: Promise<readonly Metric[]> } | null = null
  return () => {
    const now = clock.now()
    if (!kept || Math.abs(now - kept.at) >= KEPT_MS) kept = { at: now, metrics: measure() }
    return kept.metrics
  }
}

/** Measures how late timers are because the event loop is busy. */
export class EventLoopDelay {
  private readonly histogram = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS })

  constructor() {
    this.histogram.enable()
  }

  /** Returns the delays since the previous call. */
  measure(): Metric {
    const delays = this.histogram
    const samples =
      delays.count === 0
        ? []
        : [50, 99, 100].map((percent) => ({
            labels: { quantile: String(percent / 100) },
            value: (percent === 100 ? delays.max : delays.percentile(percent)) / 1e9,
          }))
    delays.reset()
    return {
      name: 'tagwarden_event_loop_delay_seconds',
      type: 'gauge',
      help: 'Delay of the event loop in seconds since the previous measurement, by quantile. 1 is the maximum.',
      samples,
    }
  }

  stop(): void {
    this.histogram.disable()
  }
}

export interface MetricDeps {
  db: Db
  clock: Clock
  paths: FolderPaths
  runFiles: Pick<RunFiles, 'uses'>
  spool: Pick<Spool, 'segments' | 'files' | 'oldestAt'>
  gaps: { refusing: boolean }
  serverOutage: { suspected: boolean }
  queryLimiter: Pick<QueryLimiter, 'load'>
  warehouse: Pick<Warehouse, 'runningQueries' | 'storage' | 'failingMerges' | 'pending'>
  browsers: Pick<Browsers, 'load'>
  timings: Timings
  eventLoopDelay: EventLoopDelay
  /** Times of the most recent success of each kind since startup; null before the first. */
  lastFlushAt(): Instant | null
  lastEvaluationAt(): Instant | null
  lastDeliveryAt(): Instant | null
}

/**
 * Returns the metrics for operators. Counters without a label are stored with the data that they count, so they survive
 * restarts and never decrease.
 */
export async function measureServer(parts: MetricDeps): Promise<Metric[]> {
  return [
    ...processMetrics(),
    ...(await diskMetrics(parts)),
    ...pipelineMetrics(parts),
    ...gapMetrics(parts),
    ...queueMetrics(parts),
    ...parts.timings.metrics(),
    parts.eventLoopDelay.measure(),
  ]
}

/** Returns metrics of the process, named as by the official client libraries. */
export function processMetrics(): Metric[] {
  const { user, system } = process.cpuUsage()
  return [
    {
      name: 'tagwarden_build_info',
      type: 'gauge',
      help: 'Always 1. The labels are the version, the commit, and the version of the database schema.',
      samples: [
        {
          labels: {
            version: buildInfo.version,
            commit: buildInfo.commit ?? 'unknown',
            schema: String(migrations.length),
          },
          value: 1,
        },
      ],
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      help: 'Start of the process in seconds since the Unix epoch.',
      value: processStartedAt() / SECOND_MS,
    },
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'Processor time used by the process in seconds.',
      value: (user + system) / 1e6,
    },
    {
      name: 'tagwarden_resident_memory_bytes',
      type: 'gauge',
      help: 'Resident memory of the process in bytes.',
      value: process.memoryUsage.rss(),
    },
    {
      name: 'tagwarden_heap_bytes',
      type: 'gauge',
      help: 'Memory of JavaScript objects in bytes, including those that will be collected.',
      value: process.memoryUsage().heapUsed,
    },
    ...descriptorMetrics(),
  ]
}

/** File descriptors, where the system has `/proc`: https://docs.kernel.org/filesystems/proc.html */
function descriptorMetrics(): Metric[] {
  let open: number
  let limits: string
  try {
    open = readdirSync('/proc/self/fd').length
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return []
  }
  const max = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  return [
    { name: 'process_open_fds', type: 'gauge', help: 'Open file descriptors.', value: open },
    {
      name: 'process_max_fds',
      type: 'gauge',
      help: 'Maximum number of open file descriptors.',
      samples: Number.isFinite(max) ? [{ labels: {}, value: max }] : [],
    },
  ]
}

async function diskMetrics({ db, paths, runFiles, spool, warehouse }: MetricDeps): Promise<Metric[]> {
  const { freeBytes, totalBytes } = diskSpace(paths.folder)
  const stored = warehouse.storage()
  const intact = stored.filter(({ isDamaged }) => !isDamaged)
  const bytesOf = (kind: string) =>
    intact.filter((file) => file.kind === kind).reduce((sum, { bytes }) => sum + bytes, 0)
  const runs = (await runFiles.uses(db)).reduce((sum, { bytes }) => sum + bytes, 0)
  const kinds = {
    events: bytesOf('events'),
    counts: bytesOf('counts'),
    pages: bytesOf('pages'),
    spool: sizeOf(spool.files()),
    runs,
    database: sizeOf([paths.database]),
  }
  return [
    {
      name: 'tagwarden_disk_free_bytes',
      type: 'gauge',
      help: 'Free space on the disk of the data folder in bytes.',
      value: freeBytes,
    },
    {
      name: 'tagwarden_disk_size_bytes',
      type: 'gauge',
      help: 'Size of the disk of the data folder in bytes.',
      value: totalBytes,
    },
    {
      name: 'tagwarden_stored_bytes',
      type: 'gauge',
      help: 'Size of the stored data in bytes, by kind.',
      samples: Object.entries(kinds).map(([kind, value]) => ({ labels: { kind }, value })),
    },
    {
      name: 'tagwarden_wal_bytes',
      type: 'gauge',
      help: "Size of SQLite's write-ahead log in bytes.",
      value: sizeOf([`${paths.database}-wal`]),
    },
    {
      name: 'tagwarden_event_files',
      type: 'gauge',
      help: 'Parquet files of events.',
      value: intact.filter(({ kind }) => kind === 'events').length,
    },
    {
      name: 'tagwarden_event_bytes',
      type: 'gauge',
      help: 'Size of the Parquet files of events in bytes.',
      value: kinds.events,
    },
    {
      name: 'tagwarden_damaged_files',
      type: 'gauge',
      help: 'Files of the event history that are excluded from results because they are damaged.',
      value: stored.length - intact.length,
    },
    {
      name: 'tagwarden_failing_merges',
      type: 'gauge',
      help: 'Failed merges of event files that will be retried.',
      value: warehouse.failingMerges,
    },
  ]
}

/** Total size in bytes of the files that exist. */
const sizeOf = (paths: readonly string[]) =>
  paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)

const earliest = (a: Instant | null, b: Instant | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))

function pipelineMetrics(parts: MetricDeps): Metric[] {
  const { db, clock, spool, warehouse, serverOutage } = parts
  const total = (name: 'eventsStored' | 'itemsRejected' | 'deliveriesFailed') =>
    db.prepare<[string], number>('SELECT value FROM total WHERE name = ?').pluck().get(name) ?? 0
  const due = countDueAlerts(
    db,
    alertTypes.map(({ kind }) => kind),
    clock.now(),
  )
  const age = (name: string, help: string, at: Instant | null): Metric => ({
    name,
    type: 'gauge',
    help,
    samples: at === null ? [] : [{ labels: {}, value: Math.max(0, clock.now() - at) / SECOND_MS }],
  })
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
    age(
      'tagwarden_oldest_segment_age_seconds',
      'Age in seconds of the oldest events that are not in the warehouse yet. Absent if there are none.',
      earliest(spool.oldestAt(), warehouse.pending.since),
    ),
    age(
      'tagwarden_last_flush_age_seconds',
      'Time in seconds since the last successful move of the spool into the warehouse. Absent until then.',
      parts.lastFlushAt(),
    ),
    { name: 'tagwarden_alerts_due', type: 'gauge', help: 'Alerts waiting for evaluation.', value: due.count },
    age(
      'tagwarden_oldest_due_alert_age_seconds',
      'Time in seconds for which the first due alert has been waiting. Absent if none is due.',
      due.since,
    ),
    age(
      'tagwarden_last_evaluation_age_seconds',
      'Time in seconds since the last successful round of evaluations. Absent until then.',
      parts.lastEvaluationAt(),
    ),
    {
      name: 'tagwarden_open_issues',
      type: 'gauge',
      help: 'Open issues of all organizations.',
      value: countOpenIssues(db),
    },
    {
      name: 'tagwarden_deliveries_waiting',
      type: 'gauge',
      help: 'Notifications waiting for delivery, including messages to the operator and e-mails about second factors.',
      value:
        db
          .prepare<[], number>(
            `SELECT count(*) FROM delivery WHERE status IN ('pending', 'sending') AND channelType <> 'canary'`,
          )
          .pluck()
          .get() ?? 0,
    },
    {
      name: 'tagwarden_deliveries_failed_total',
      type: 'counter',
      help: 'Notifications that could not be delivered.',
      value: total('deliveriesFailed'),
    },
    age(
      'tagwarden_last_delivery_age_seconds',
      'Time in seconds since the last delivered notification. Absent until the first one after startup.',
      parts.lastDeliveryAt(),
    ),
    {
      name: 'tagwarden_pipeline_suspected',
      type: 'gauge',
      help: '1 while the traffic of all domains has dropped at once, which suggests a problem with this server.',
      value: serverOutage.suspected ? 1 : 0,
    },
  ]
}

function queueMetrics({ queryLimiter, warehouse, browsers }: MetricDeps): Metric[] {
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
    {
      name: 'tagwarden_browser_tasks_running',
      type: 'gauge',
      help: 'Flow tests and audited pages running in a browser.',
      value: browsers.load.running,
    },
    {
      name: 'tagwarden_browser_tasks_waiting',
      type: 'gauge',
      help: 'Flow tests and audits waiting for a browser.',
      value: browsers.load.waiting,
    },
  ]
}

function gapMetrics({ db, gaps: { refusing } }: MetricDeps): Metric[] {
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
      help: 'Total length in seconds of the periods in the last 400 days in which nothing could be collected.',
      value: totalMs / SECOND_MS,
    },
  ]
}
