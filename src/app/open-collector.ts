import { ActiveRules } from '../alerts/active-rules.ts'
import { JudgeProcess } from '../alerts/judge-process.ts'
import { scriptBundle } from '../capture/script-bundle.ts'
import { ScriptFiles } from '../capture/script-files.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Stores } from '../data-folder/open-folder.ts'
import { routingOf } from '../domains/domain.ts'
import { type DomainDirectory, domainDirectory } from '../domains/domain-directory.ts'
import { lastEventAt } from '../domains/record-sightings.ts'
import { noteLegacyScript } from '../domains/routing-store.ts'
import { findDomain } from '../domains/store.ts'
import type { WokenAlerts } from '../evaluation/evaluate.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { Collector } from '../ingest/collector.ts'
import { IngestRates } from '../ingest/ingest-rates.ts'
import { JudgingQueue, type Verdicts } from '../ingest/judging-queue.ts'
import { LiveBuffer } from '../ingest/live-buffer.ts'
import { SeenBatches } from '../ingest/seen-batches.ts'
import type { GapDetector } from '../signals/gap-detector.ts'
import type { BaseDeps } from './base-deps.ts'

/** The components that receive events and validate them on arrival. */
export interface CollectorComponents {
  collector: Collector
  domains: DomainDirectory
  rules: ActiveRules
  batches: SeenBatches
  live: LiveBuffer
  /** Counts of stored events. */
  counts: IngestRates
  /** Batches that have not been validated against the rules yet. */
  late: JudgingQueue
  /**
   * Returns, for each event, the ids of the active alerts whose rules it violates; null for an event whose evaluation
   * timed out.
   */
  judgeEvents(orgId: string, events: readonly StoredEvent[]): Promise<Verdicts>
  /** Stops validating late batches. Pending batches are validated after the next start. */
  close(): Promise<void>
}

interface Needs {
  stores: Stores
  gaps: GapDetector
  woken: WokenAlerts
  isOverBudget(orgId: string): boolean
  privacyOf(orgId: string): Privacy
}

/** Opens the collector and starts validating late batches left over from an earlier run. */
export function openCollector(
  base: BaseDeps,
  { stores, gaps, woken, isOverBudget, privacyOf }: Needs,
): CollectorComponents {
  const { config, clock, report } = base
  const { db, spool } = stores
  const domains = domainDirectory({ db, clock })
  const live = new LiveBuffer(clock)
  const counts = new IngestRates((orgId) => lastEventAt(db, orgId))
  const batches = new SeenBatches(db, clock)
  const rules = new ActiveRules(db, (orgId) => privacyOf(orgId).regions)
  const lateJudge = new JudgeProcess(rules)
  rules.onChange((orgId, id, rule) => lateJudge.changed(orgId, id, rule))
  rules.refresh()
  const late = new JudgingQueue({
    folder: stores.late,
    judgeHere: rules.judgeAll,
    judge: (orgId, events) => lateJudge.judge(orgId, events),
    admit: (batch) => collector.admit(batch),
    isKnown: (hash) => spool.answerOf(hash) !== null || batches.answerOf(hash) !== null,
    report,
  })
  const collector: Collector = new Collector({
    ...{ clock, spool, domains, batches, late, live, counts, report, isOverBudget },
    rate: new RateLimit(clock, config.rateCollectPerSecond),
    judge: rules.judgeBatch,
    violated: (alertIds, domainId, receivedAt) => woken.add(alertIds, domainId, receivedAt),
    storing: gaps,
    files: scriptFilesOf(base, stores, domains),
  })
  late.start()
  return {
    ...{ collector, domains, rules, batches, live, counts, late },
    judgeEvents: async (orgId, events) => rules.judgeAll(orgId, events) ?? lateJudge.judge(orgId, events),
    async close() {
      const closed = late.close()
      lateJudge.close()
      await closed
    },
  }
}

/** Returns the scripts that browsers load. Each domain's script sends events to that domain's collection endpoint. */
function scriptFilesOf({ clock, config, publicUrl }: BaseDeps, { db }: Stores, domains: DomainDirectory): ScriptFiles {
  const addresses = { collectUrl: config.collectUrl || publicUrl, publicUrl }
  const legacyHost = new URL(publicUrl).host
  return new ScriptFiles({
    clock,
    domains,
    bundle: scriptBundle,
    collectUrlOf: ({ orgId, id }) => routingOf(findDomain(db, { orgId, id }, clock.now()), addresses).collectEndpoint,
    legacyHost: legacyHost === new URL(addresses.collectUrl).host ? null : legacyHost,
    askedAtLegacy: (domainId) => noteLegacyScript(db, domainId, clock.now()),
  })
}
