import type { Base, Room } from '../base.ts'
import { type Instant, SECOND_MS } from '../core/clock.ts'
import type { Metric } from '../core/metric.ts'
import { noteLegacyScript } from '../domains/collect-hostname-store.ts'
import { recordFirstEvent } from '../domains/record-sightings.ts'
import type { IngestRates } from '../ingest/ingest-rates.ts'
import type { LiveBuffer } from '../ingest/live-buffer.ts'
import { recordContent } from '../ingest/record-segment.ts'
import { type Db, tx } from '../store/database.ts'
import { folderMarkOf } from '../store/folder-mark.ts'
import { ClaimProcess } from './claim-process.ts'
import { ControlEndpoint } from './control-endpoint.ts'
import type { Commit, Report } from './protocol.ts'
import { collectorRoutes } from './routes.ts'
import { epochOf } from './row-feed.ts'
import {
  type CollectorRecord,
  countLive,
  isLate,
  type LateSpan,
  lagOf,
  listCollectors,
  markAway,
  removeOldSegments,
} from './store.ts'

/** Collectors send live events every second. */
export const LIVE_DELAY_MS = 2 * SECOND_MS

export interface CollectorsRoom extends Room {
  /** Answers the requests of collectors. */
  endpoint: ControlEndpoint
  /** Number of collectors in contact, as of the last second. */
  live(): number
}

interface Deps {
  /** File of the claims. */
  claimsFile: string
  /** True if the events are stored in ClickHouse, so that collectors can store theirs as well. */
  isHistoryShared: boolean
  overBudget(): string[]
  /** The live view. */
  live: Pick<LiveBuffer, 'add' | 'watched'>
  /** Counts of stored events. */
  counts: Pick<IngestRates, 'addOther' | 'isReceiving'>
  /** Records a period in which a collector rejected events. */
  refused(span: Report['refused'][number], collector: string): void
  /** Records names that are counted separately, in the caller's transaction. */
  recordNames(names: Commit['names']): void
  /** Records personal data in events, in the caller's transaction. */
  recordPersonalData(sightings: Commit['sightings']): void
  /** Schedules the evaluation of late events, in the caller's transaction. `alertIds`: the alerts that they violate. */
  evaluateLate(span: LateSpan, alertIds: ReadonlySet<string>): void
  /** Called with a violation by an event that has become visible to queries. */
  violated(violation: Commit['violated'][number]): void
}

/** Opens the endpoint with which collectors synchronise. */
export function openCollectors(base: Base & { watermark(): Instant }, deps: Deps): CollectorsRoom {
  const { db, clock, config, report, notifyOperator } = base
  const claims = new ClaimProcess(deps.claimsFile)
  const openedAt = clock.now()
  let live = countLive(db)
  const endpoint = new ControlEndpoint({
    db,
    clock,
    claims,
    isHistoryShared: deps.isHistoryShared,
    epoch: epochOf(db, folderMarkOf(db), clock.now()),
    overBudget: deps.overBudget,
    watched: () => deps.live.watched(),
    isReceiving: () => deps.counts.isReceiving(clock.now()),
    reported({ firstEvents, legacyScripts, refused, live }, { name }) {
      for (const { domainId, receivedAt } of firstEvents) recordFirstEvent(db, domainId, receivedAt)
      for (const id of legacyScripts) noteLegacyScript(db, id, clock.now())
      for (const span of refused) deps.refused(span, name)
      for (const { domainId, events, skipped } of live) deps.live.add(domainId, events, skipped)
    },
    watermark: base.watermark,
    record({ ledger, content, names, span, violated, sightings }, { slot }) {
      const own = { ...span, slot }
      if (isLate(db, own)) deps.evaluateLate(own, new Set(violated.map(({ alertId }) => alertId)))
      deps.recordNames(names)
      recordContent(db, ledger, content)
      deps.recordPersonalData(sightings)
    },
    committed({ violated, content }) {
      for (const { orgId, lastReceivedAt, events } of content.counts)
        deps.counts.addOther(orgId, lastReceivedAt, events)
      for (const violation of violated) deps.violated(violation)
    },
    report,
  })
  return {
    endpoint,
    live: () => live,
    routes: collectorRoutes({ db, clock, eventStore: config.warehouse === null ? 'dataFolder' : 'clickhouse' }),
    metrics: () => metricsOf(db, clock.now()),
    jobs: [
      {
        name: 'collectors',
        pattern: '* * * * * *',
        async run() {
          for (const collector of tx(db, () => markAway(db, clock.now(), openedAt)))
            notifyOperator(absenceNotice(collector))
          live = countLive(db)
        },
      },
      { name: 'forget segments', pattern: '10 0 * * * *', run: async () => removeOldSegments(db, clock.now()) },
    ],
    close: () => claims.close(),
  }
}

function absenceNotice({ name, seenAt }: CollectorRecord): { subject: string; text: string } {
  return {
    subject: `no contact with the collector ${name} since ${new Date(seenAt ?? 0).toISOString()}`,
    text: 'Alerts are evaluated without its events, and counts since then are not evaluated. It keeps accepting events while its disk has space, and stores them when it reaches this server again.',
  }
}

function metricsOf(db: Db, now: Instant): Metric[] {
  const all = listCollectors(db)
  const gauge = (name: string, help: string, read: (one: CollectorRecord) => number | null): Metric => ({
    name: `tagwarden_collectors_${name}`,
    help,
    type: 'gauge',
    samples: all.flatMap((one) => {
      const value = read(one)
      return value === null ? [] : [{ labels: { collector: one.name }, value }]
    }),
  })
  const age = (at: Instant | null) => (at === null ? null : Math.max(0, now - at) / SECOND_MS)
  return [
    gauge('contact_age_seconds', 'Time since the most recent contact with a collector.', ({ seenAt }) => age(seenAt)),
    gauge(
      'lag_seconds',
      'Age of the oldest event of a collector that is not in the event history yet, at its last contact.',
      (one) => {
        const lagMs = lagOf(one)
        return lagMs === null ? null : lagMs / SECOND_MS
      },
    ),
    gauge('disk_bytes', 'Size of the events that wait on the disk of a collector.', ({ diskBytes }) => diskBytes),
    gauge('disk_free_bytes', 'Free space on the disk of a collector.', ({ freeBytes }) => freeBytes),
    gauge('away', '1 while alerts are evaluated without waiting for a collector.', ({ isAway }) => (isAway ? 1 : 0)),
  ]
}
