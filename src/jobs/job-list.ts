import type { Audits } from '../audits/audits.ts'
import { type JudgeParts as ChangeParts, judgeChanges } from '../changes/judge.ts'
import { type NoticeParts, noticeReleases } from '../changes/notice.ts'
import { type ConsentCheckDeps, checkConsent } from '../compliance/consent-check.ts'
import { type ScanDeps, scan } from '../compliance/scan.ts'
import type { Clock, Instant } from '../core/clock.ts'
import type { Emitter } from '../core/emitter.ts'
import type { DigestSender } from '../digest/sender.ts'
import { type DomainDirectory, hasDomains } from '../domains/directory.ts'
import { type EvaluateDeps, evaluate } from '../evaluation/evaluate.ts'
import { type MonitorSeriesDeps, monitorSeries } from '../evaluation/evaluate-series.ts'
import type { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import type { NotifierDeps } from '../integrations/delivery/notifier.ts'
import type { Listeners } from '../integrations/inbound/listeners.ts'
import type { Poller } from '../integrations/inbound/poller.ts'
import type { StatusSync } from '../integrations/status/status-sync.ts'
import { unmuteDue } from '../issues/store.ts'
import { releaseFilePages } from '../native/release-file-pages.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { type AutoAlertDeps, autoAlertJob } from '../evaluation/auto-alerts.ts'
import { type CheckHostsDeps, checkHosts } from '../domains/check-hosts.ts'
import { deliver } from '../integrations/delivery/deliver.ts'
import type { DiskBudget } from '../data-folder/disk-budget.ts'
import { type FlushDeps, flush, SEGMENT_AGE_MS } from '../data-folder/flush.ts'
import { IdleDetector } from '../native/idle-detector.ts'
import type { Job } from './job.ts'
import { type RetainDeps, retain } from '../data-folder/retain.ts'

export interface JobDeps {
  clock: Clock
  /** Time of the last successful flush and evaluation. Updated by the jobs. */
  lastRuns: { flushAt: Instant | null; evaluationAt: Instant | null }
  /** Checks whether the clock was set back, and records a heartbeat. */
  heartbeat(): void
  flushing: FlushDeps
  warehouse: Pick<Warehouse, 'compact' | 'check'>
  evaluating: EvaluateDeps
  scanning: ScanDeps
  series: MonitorSeriesDeps
  autoAlerts: AutoAlertDeps
  consent: ConsentCheckDeps
  retaining: RetainDeps
  diskBudget: Pick<DiskBudget, 'enforce'>
  domains: Pick<DomainDirectory, 'refresh'>
  notifying: NotifierDeps
  dispatcher: Dispatcher
  /** Emits when a message that must be sent is committed. */
  outboxEmitter: Emitter
  statusSync: Pick<StatusSync, 'start'>
  polls: Pick<Poller, 'start'>
  listeners: Pick<Listeners, 'start'>
  audits: Pick<Audits, 'start'>
  digests: Pick<DigestSender, 'run'>
  hosts: CheckHostsDeps
  changes: ChangeParts & NoticeParts
  /** Queues flow tests that are due, and starts tests that are queued. */
  flows: { plan(): void; start(): void }
}

const EVERY_SECOND = '* * * * * *'

/** Returns all jobs. If several jobs are due at the same time, they start in the order of the list. */
export function jobsOf(parts: JobDeps): Job[] {
  const { clock, lastRuns } = parts
  const idleDetector = new IdleDetector(() => process.cpuUsage(), releaseFilePages)
  const keepAutoAlerts = autoAlertJob(parts.autoAlerts)
  return [
    // First, so that collection gaps are known before counts are judged.
    { name: 'heartbeat', pattern: EVERY_SECOND, run: async () => parts.heartbeat() },
    {
      name: 'flush',
      pattern: EVERY_SECOND,
      async run() {
        await flush(parts.flushing, SEGMENT_AGE_MS)
        lastRuns.flushAt = clock.now()
      },
    },
    { name: 'compact', pattern: '*/5 * * * * *', run: () => parts.warehouse.compact() },
    { name: 'check files', pattern: '20 * * * * *', run: () => parts.warehouse.check() },
    {
      name: 'evaluate',
      pattern: EVERY_SECOND,
      trigger: parts.evaluating.woken.emitter,
      async run(stopping) {
        await evaluate(parts.evaluating, stopping)
        lastRuns.evaluationAt = clock.now()
      },
    },
    {
      name: 'unmute issues',
      pattern: EVERY_SECOND,
      run: async () => unmuteDue(parts.evaluating.db, clock.now(), parts.evaluating.enqueue),
    },
    { name: 'evaluate series', pattern: '*/10 * * * * *', run: (stopping) => monitorSeries(parts.series, stopping) },
    { name: 'look for personal data', pattern: '3-59/10 * * * * *', run: (stopping) => scan(parts.scanning, stopping) },
    { name: 'check consent', pattern: '5,25,45 * * * * *', run: (stopping) => checkConsent(parts.consent, stopping) },
    { name: 'automatic alerts', pattern: '15 */5 * * * *', run: keepAutoAlerts },
    { name: 'retain', pattern: '30 */5 * * * *', run: () => retain(parts.retaining) },
    { name: 'disk budget', pattern: '*/10 * * * * *', run: () => parts.diskBudget.enforce() },
    { name: 'refresh domains', pattern: EVERY_SECOND, run: async () => parts.domains.refresh() },
    {
      name: 'deliver',
      pattern: EVERY_SECOND,
      trigger: parts.outboxEmitter,
      run: async () => deliver(parts.notifying, parts.dispatcher),
    },
    { name: 'sync statuses', pattern: EVERY_SECOND, run: async () => parts.statusSync.start() },
    { name: 'poll', pattern: EVERY_SECOND, run: async () => parts.polls.start() },
    { name: 'listen', pattern: EVERY_SECOND, run: async () => parts.listeners.start() },
    { name: 'carry out audits', pattern: EVERY_SECOND, run: async () => parts.audits.start() },
    { name: 'send digests', pattern: '2-59/5 * * * * *', run: (stopping) => parts.digests.run(stopping) },
    {
      name: 'notice releases',
      pattern: '*/5 * * * * *',
      async run(stopping) {
        // A new server has no history, so there is no need to start the query engine.
        if (hasDomains(parts.changes.db)) await noticeReleases(parts.changes, stopping)
      },
    },
    { name: 'judge changes', pattern: EVERY_SECOND, run: (stopping) => judgeChanges(parts.changes, stopping) },
    {
      name: 'run flow tests',
      pattern: EVERY_SECOND,
      async run() {
        parts.flows.plan()
        parts.flows.start()
      },
    },
    { name: 'check hosts', pattern: '*/10 * * * * *', run: () => checkHosts(parts.hosts) },
    { name: 'give pages back', pattern: EVERY_SECOND, run: async () => idleDetector.check() },
  ]
}
