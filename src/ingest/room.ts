import type { Base, Room } from '../base.ts'
import type { ScriptFiles } from '../capture/serve-capture-script.ts'
import type { Instant } from '../core/clock.ts'
import { Emitter } from '../core/emitter.ts'
import type { DomainDirectory } from '../domains/domain-directory.ts'
import { lastEventAt, recordFirstEvent } from '../domains/record-sightings.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { Collector, type CollectorDeps } from './collector.ts'
import { IngestRates } from './ingest-rates.ts'
import { JudgingQueue, type JudgingQueueDeps } from './judging-queue.ts'
import { LiveBuffer } from './live-buffer.ts'
import { type LiveRouteDeps, liveRoutes } from './live-routes.ts'
import { RefusedItems } from './refused-items.ts'
import { SeenBatches } from './seen-batches.ts'
import { SenderClocks } from './sender-clocks.ts'
import type { Spool } from './spool.ts'
import { type UsageRouteDeps, usageRoutes } from './usage-routes.ts'

/** An event that violates alerts, once it is visible to queries. */
interface Violation {
  alertIds: ReadonlySet<string>
  domainId: string
  receivedAt: Instant
}

/** Receives events and validates them on arrival. */
export interface IngestRoom extends Room {
  collector: Collector
  batches: SeenBatches
  /** Batches that have not been evaluated against the rules yet. */
  late: JudgingQueue
  /** Counts of stored events. */
  counts: IngestRates
  live: LiveBuffer
  violated: Emitter<Violation>
}

interface IngestBase extends Base {
  spool: Spool
  /** Folder for the batches that have not been evaluated against the rules yet. */
  lateFolder: string
}

interface Deps
  extends Pick<LiveRouteDeps, 'maskOf'>,
    Pick<UsageRouteDeps, 'storageOf' | 'waitingDeletions' | 'maskTextOf'>,
    Required<Pick<CollectorDeps, 'storing' | 'isOverBudget' | 'countryOf' | 'answered'>> {
  directory: DomainDirectory
  scripts: ScriptFiles
  rules: { judgeBatch: CollectorDeps['judge']; judgeAll: JudgingQueueDeps['judgeHere'] }
  /** Evaluates batches in another process. Closed together with this room. */
  judgeProcess: { judge: JudgingQueueDeps['judge']; close(): void }
  /** Number of processes among which the rate limits are divided, including this one. */
  receivers(): number
  /** Time for which the live view waits for events that other processes have received. */
  liveDelayMs(): number
  /** Receives events and first events in a process whose live view and domains are on another server. */
  elsewhere?: { add: LiveBuffer['add']; firstEvent(domainId: string, receivedAt: Instant): void }
}

/** Opens the collector and starts evaluating late batches left over from an earlier run. */
export function openIngest(base: IngestBase, deps: Deps): IngestRoom {
  const { db, clock, config, spool, report, lateFolder } = base
  const { directory, scripts, rules, judgeProcess, storing, isOverBudget, countryOf, maskOf, storageOf, maskTextOf } =
    deps
  const { elsewhere } = deps
  const refused = new RefusedItems()
  const senderClocks = new SenderClocks()
  const live = new LiveBuffer(clock, deps.liveDelayMs)
  const counts = new IngestRates((orgId) => lastEventAt(db, orgId))
  const batches = new SeenBatches(db, clock)
  const violated = new Emitter<Violation>()
  const received = new Set<string>()
  // Recorded immediately, because events are only counted when their segment is converted, seconds later.
  const noteFirstEvent = (domainId: string, receivedAt: Instant) => {
    if (received.has(domainId)) return
    received.add(domainId)
    try {
      if (elsewhere) elsewhere.firstEvent(domainId, receivedAt)
      else recordFirstEvent(db, domainId, receivedAt)
    } catch (error) {
      report(error, 'collect')
    }
  }
  const late = new JudgingQueue({
    folder: lateFolder,
    judgeHere: rules.judgeAll,
    judge: (orgId, events) => judgeProcess.judge(orgId, events),
    admit: (batch) => collector.admit(batch),
    isKnown: (hash) => spool.answerOf(hash) !== null || batches.answerOf(hash) !== null,
    report,
  })
  const collector: Collector = new Collector({
    clock,
    spool,
    domains: directory,
    batches,
    rate: new RateLimit(clock, config.rateCollectPerSecond, 1, () => 1 / deps.receivers()),
    isOverBudget,
    countryOf,
    judge: rules.judgeBatch,
    late,
    violated: (alertIds, domainId, receivedAt) => violated.emit({ alertIds, domainId, receivedAt }),
    storing,
    files: scripts,
    live: elsewhere ?? live,
    received: noteFirstEvent,
    counts,
    refused,
    senderClocks,
    answered: deps.answered,
    report,
  })
  late.start()
  return {
    collector,
    batches,
    late,
    counts,
    live,
    violated,
    metrics: () => [...refused.metrics(), ...senderClocks.metrics()],
    routes: [
      ...usageRoutes({ db, clock, storageOf, waitingDeletions: deps.waitingDeletions, maskTextOf }),
      ...liveRoutes({ db, live, maskOf }),
    ],
    // Pending batches are evaluated after the next start.
    async close() {
      const closed = late.close()
      judgeProcess.close()
      await closed
    },
  }
}
