import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { ActiveRules } from '../alerts/active-rules.ts'
import { JudgeProcess } from '../alerts/judge-process.ts'
import type { Base, Log } from '../base.ts'
import { openCapture } from '../capture/room.ts'
import type { CollectorStatus } from '../collectors/protocol.ts'
import type { ChangedRow } from '../collectors/row-feed.ts'
import { SHARED_NUMBERING } from '../collectors/store.ts'
import { compileMask, maskPersonal } from '../conditions/mask-personal-data.ts'
import { privacyFrom } from '../conditions/privacy-settings.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { Emitter } from '../core/emitter.ts'
import type { Metric } from '../core/metric.ts'
import { secretBox } from '../core/secret-box.ts'
import { otherProcess } from '../data-folder/folder-errors.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { domainDirectory } from '../domains/domain-directory.ts'
import { Timings } from '../health/timings.ts'
import type { Collector } from '../ingest/collector.ts'
import { openIngest } from '../ingest/room.ts'
import { deleteExpiredBatches } from '../ingest/seen-batches.ts'
import { segmentNotice } from '../ingest/segment-recovery.ts'
import { Spool } from '../ingest/spool.ts'
import type { Job } from '../jobs/job.ts'
import { privacySettings } from '../org/store.ts'
import { type Db, openDatabase, tx } from '../store/database.ts'
import { diskSpace } from '../store/disk-space.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { addressGuard } from '../transport/address-guard.ts'
import type { Transport } from '../transport/transport.ts'
import { openVisitor } from '../visitor/room.ts'
import type { SegmentOutlet } from '../warehouse/open-segment-outlet.ts'
import { type CollectorHealth, collectorHealth } from './collector-health.ts'
import { ControlClient } from './control-client.ts'
import { DoorReport } from './door-report.ts'
import { forward } from './forward-segments.ts'
import { Patience } from './patience.ts'
import { RejectedSegments } from './rejected-segments.ts'
import { Replica, stateOf } from './replica.ts'

/**
 * Space that received events don't use, or a share of a small disk: to be forwarded, a segment is first written to
 * other files, and after an hour without the control node, the spool may have used up everything else.
 */
const RESERVE_BYTES = 256 * 1024 * 1024
const RESERVE_SHARE = 0.1
const EVERY_SECOND = '* * * * * *'

export interface CollectOptions {
  config: Config
  /** URL of the control node, without a trailing slash. */
  controlUrl: string
  token: string
  clock: Clock
  log: Log
  transport: Transport
  openOutlet(db: Db, folder: string): Promise<SegmentOutlet>
}

/** A collector without its listening socket. */
export interface CollectProcess {
  collector: Collector
  jobs: readonly Job[]
  /** Copies the rows of the control node for the first time. Throws if that is not possible at the moment. */
  copyRows(): Promise<void>
  /** True once rows have been copied. Until then, all property tokens are unknown. */
  readonly isReady: boolean
  health: CollectorHealth
  metrics(): Promise<readonly Metric[]>
  /** Seals and forwards everything that was received. Throws at the first failure. */
  forwardAll(): Promise<void>
  /** Aborts requests and inserts. */
  abort(): void
  /** Writes pending batches and releases the data folder. Segments are forwarded after the next start. */
  close(): Promise<void>
}

/**
 * Opens the data folder of a collector. Throws `FolderInUse` if another process uses it, and `FolderError` if it belongs
 * to a server.
 */
export async function openCollect(options: CollectOptions): Promise<CollectProcess> {
  const { config, clock, log } = options
  const paths = folderPaths(config.data)
  for (const path of [paths.folder, paths.spool, paths.events, paths.rejected])
    mkdirSync(path, { recursive: true, mode: 0o700 })
  await using opened = new AsyncDisposableStack()
  opened.adopt(lockFolder(paths.folder), (unlock) => unlock())
  if (existsSync(paths.key)) throw otherProcess(paths, 'server')
  const db = opened.adopt(openDatabase(paths.database), (one) => void one.close())
  const outlet = opened.adopt(await options.openOutlet(db, paths.events), (one) => one.close())
  const stopping = new AbortController()
  const base = baseOf(options, db, stopping.signal)
  const control = new ControlClient({ ...options, url: options.controlUrl, stopping: stopping.signal })
  const state = stateOf(db)
  let hasSpace = hasReserve(paths.spool)
  const spool = new Spool(
    paths.spool,
    clock,
    { ...state, has: (name) => state.lastSegment !== null && name <= state.lastSegment, last: state.lastSegment },
    {
      damaged: (damage) => base.notifyOperator(segmentNotice([damage])),
      hasSpace: () => hasSpace,
      numbering: {
        ...SHARED_NUMBERING,
        get slot() {
          return replica.slot
        },
      },
    },
  )
  const directory = domainDirectory({ db, clock })
  const privacyOf = (orgId: string) => privacyFrom(privacySettings(db, orgId))
  const rules = new ActiveRules(db, (orgId) => privacyOf(orgId).regions)
  const judgeProcess = new JudgeProcess(rules)
  rules.onChange((orgId, id, rule) => judgeProcess.changed(orgId, id, rule))
  const report = new DoorReport()
  const replica: Replica = new Replica({
    db,
    control,
    clock,
    report,
    status: () => statusOf(spool, paths.spool),
    changed(rows) {
      directory.invalidate()
      rulesChanged(db, rules, rows)
      if (rows.some(({ table }) => table === 'countedName')) outlet.namesChanged()
    },
  })
  rules.refresh()
  const timings = new Timings()
  let isRefusing = false
  const visitor = openVisitor(base)
  const ingest = openIngest(
    { ...base, spool, lateFolder: paths.late },
    {
      directory,
      scripts: openCapture(base, { directory, askedAtLegacy: (id) => report.legacyScript(id) }).scripts,
      rules,
      judgeProcess,
      storing: {
        stored(at) {
          isRefusing = false
          report.storedBatch(at)
        },
        refused(at) {
          isRefusing = true
          report.refusedBatch(at)
        },
      },
      receivers: () => replica.live,
      liveDelayMs: () => 0,
      elsewhere: report,
      countryOf: (address) => visitor.countries.countryOf(address),
      isOverBudget: (orgId) => replica.isOverBudget(orgId),
      answered: (status, ms) => timings.noteRequest('collector', status, ms),
      maskOf: (orgId) => compileMask([], privacyOf(orgId)),
      maskTextOf: (orgId) => (text) => maskPersonal(text, '', privacyOf(orgId)),
      storageOf: async () => ({ diskBytes: 0, clickhouseBytes: null, oldestEventAt: null }),
      waitingDeletions: () => [],
    },
  )
  const { instance } = replica
  const rejected = new RejectedSegments(paths.rejected)
  const forwarding = {
    db,
    spool,
    batches: ingest.batches,
    collector: ingest.collector,
    control,
    outlet,
    rejected,
    notifyOperator: base.notifyOperator,
    instance,
    name: instance,
    folder: join(paths.events, 'tmp'),
  }
  const patience = new Patience(log, clock)
  const metrics = async () => [
    ...((await ingest.metrics?.()) ?? []),
    ...metricsOf(spool, clock, { replica, rejected }),
    ...timings.metrics(),
  ]
  const health = collectorHealth({
    clock,
    folder: paths.folder,
    isReady: () => replica.isComplete,
    isRefusing: () => isRefusing,
    failureOf: (job) => patience.failureOf(job),
    oldestAt: () => spool.oldestAt(),
    measure: metrics,
  })
  const all = opened.move()
  return {
    collector: ingest.collector,
    jobs: [
      { name: 'sync', pattern: EVERY_SECOND, run: () => patience.run('sync', () => replica.sync()) },
      {
        name: 'forward',
        pattern: EVERY_SECOND,
        async run() {
          hasSpace = hasReserve(paths.spool)
          await patience.run('forward', () => forward(forwarding))
        },
      },
      {
        name: 'retain',
        pattern: '30 * * * * *',
        run: async () => void tx(db, () => deleteExpiredBatches(db, clock.now())),
      },
      ...(visitor.jobs ?? []),
    ].map((job) => timings.timed(job)),
    copyRows: () => replica.sync(),
    get isReady() {
      return replica.isComplete
    },
    health,
    metrics,
    forwardAll: () => forward(forwarding, 0),
    abort() {
      stopping.abort()
      outlet.interrupt()
    },
    async close() {
      stopping.abort()
      await visitor.stop?.()
      await ingest.close?.()
      await spool.close()
      await all.disposeAsync()
    },
  }
}

/** The shared dependencies of the rooms, for a process without users: it sends nothing but segments. */
function baseOf({ config, clock, log, transport }: CollectOptions, db: Db, stopping: AbortSignal): Base {
  const publicUrl = config.publicUrl || config.collectUrl
  return {
    config,
    clock,
    log,
    report: (error, where) => log.error(error, where),
    db,
    // A collector has no secrets to encrypt.
    box: secretBox(Buffer.alloc(32)),
    rowChanges: new Emitter(),
    guard: addressGuard(config.outboundAllow),
    transport,
    quiet: () => null,
    notifyOperator: ({ subject, text }) => log.warn(`${subject}: ${text}`),
    publicUrl,
    collectUrl: config.collectUrl || publicUrl,
    stopping,
  }
}

function statusOf(spool: Spool, folder: string): Omit<CollectorStatus, 'instance'> {
  const diskBytes = spool.files().reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
  return { version, diskBytes, freeBytes: diskSpace(folder).freeBytes, storedThrough: storedThrough(spool) }
}

function hasReserve(folder: string): boolean {
  const { freeBytes, totalBytes } = diskSpace(folder)
  return freeBytes >= Math.min(RESERVE_BYTES, totalBytes * RESERVE_SHARE)
}

/** Returns the time before which everything received is in the event history. */
function storedThrough(spool: Spool): number {
  return Math.min(spool.watermark(), spool.oldestAt() ?? Number.POSITIVE_INFINITY)
}

function rulesChanged(db: Db, rules: ActiveRules, rows: readonly ChangedRow[]): void {
  const alertIds = rows.flatMap(({ table, key }) => (table === 'alert' ? [String(key[0])] : []))
  if (alertIds.length > 0) rules.changed(alertIds)
  if (!rows.some(({ table }) => table === 'org' || table === 'label' || table === 'labelMember')) return
  const orgIds = db.prepare<[], string>('SELECT id FROM org').pluck().all()
  for (const orgId of orgIds) {
    rules.organizationChanged(orgId)
    rules.labelsChanged(orgId)
  }
}

function metricsOf(
  spool: Spool,
  clock: Clock,
  { replica, rejected }: { replica: Replica; rejected: RejectedSegments },
): Metric[] {
  return [
    {
      name: 'tagwarden_collect_lag_seconds',
      help: 'Age of the oldest event that is not in the event history yet.',
      type: 'gauge',
      value: Math.max(0, clock.now() - storedThrough(spool)) / 1000,
    },
    {
      name: 'tagwarden_collect_waiting_segments',
      help: 'Segments of the spool that wait for the control node or the event history.',
      type: 'gauge',
      value: spool.segments().length,
    },
    {
      name: 'tagwarden_collect_rejected_segments',
      help: 'Segments that could not be stored although later ones could.',
      type: 'gauge',
      value: rejected.size,
    },
    {
      name: 'tagwarden_collect_live_collectors',
      help: 'Collectors in contact with the control node, according to its last answer.',
      type: 'gauge',
      value: replica.live,
    },
  ]
}
