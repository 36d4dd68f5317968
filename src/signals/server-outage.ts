import { HOUR_MS, type Instant } from '../core/clock.ts'
import { timeText } from '../core/text.ts'
import type { SeriesState } from '../detector/detector.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import { type SeriesScope, SIGNAL_STEP_MS, type Span, TICK_MS } from './series.ts'
import type { SeriesMonitor } from './series-monitor.ts'

/** Minimum number of domains; fewer domains can drop at once by chance. */
const MIN_DOMAINS = 3

/** Domains that dropped more than this time before the last one are ignored, because their drops have other causes. */
const MAX_SPREAD_MS = 3 * HOUR_MS

/** The state of one domain's total traffic. */
export interface DomainState {
  domainId: string
  state: SeriesState
  /** True when the traffic is low or silent. */
  down: boolean
  /** Start of the state: the start of the row, or the end of the last minute with events. */
  since: Instant
}

/** Domains that certainly or possibly dropped at the same time. */
export interface CommonDrop {
  /** Time at which the last of the certainly dropped domains dropped. */
  since: Instant
  /** Domains that may have dropped. An event in one of them after `since` shows that the server is not the cause. */
  uncertain: string[]
}

/**
 * Returns the common drop when the server, not the domains, may be the cause: of at least three domains with known
 * traffic, half or more dropped within three hours. The other domains may have too little traffic for their silence to
 * be detectable yet. Otherwise returns null.
 */
export function commonDrop(domains: readonly DomainState[]): CommonDrop | null {
  const known = domains.filter(({ state }) => state !== 'learning')
  const since = known.reduce((last, one) => (one.down ? Math.max(last, one.since) : last), Number.NEGATIVE_INFINITY)
  const relevant = known.filter((one) => !one.down || one.since >= since - MAX_SPREAD_MS)
  const uncertain = relevant.filter(({ down }) => !down).map(({ domainId }) => domainId)
  if (relevant.length < MIN_DOMAINS || uncertain.length * 2 > relevant.length) return null
  return { since, uncertain }
}

/** A domain whose total traffic is monitored. */
type MonitoredDomain = Pick<SeriesScope, 'orgId' | 'domainId' | 'sensitivity' | 'timezone'>

export interface ServerOutageDeps {
  warehouse: History
  seriesMonitor: Pick<SeriesMonitor, 'verdicts'>
  /** All domains with signals, of all organizations. */
  domains(): readonly MonitoredDomain[]
  /** Called when an outage is first suspected, and not again while the suspicion lasts. */
  onSuspected(at: Instant): void
}

/**
 * Decides whether the server, rather than the domains, caused a drop in all traffic; in that case only the operator is
 * notified.
 */
export class ServerOutageDetector {
  private last: { at: Instant; answer: Promise<boolean> } | null = null
  private isSuspected = false

  constructor(private readonly parts: ServerOutageDeps) {}

  /** The result for the last evaluated tick. */
  get suspected(): boolean {
    return this.isSuspected
  }

  /**
   * Returns whether all traffic had dropped at the tick that ends at `tickAt`. Ticks may be queried repeatedly and in
   * any order. Throws `AppError('unavailable')` when the warehouse is unavailable.
   */
  isSuspectedAt(tickAt: Instant): Promise<boolean> {
    if (this.last?.at === tickAt) return this.last.answer
    const isLater = this.last === null || tickAt > this.last.at
    const answer = this.evaluate(tickAt)
    if (!isLater) return answer
    const request = { at: tickAt, answer }
    this.last = request
    return answer.then(
      (suspected) => {
        if (this.last === request) this.record(suspected, tickAt)
        return suspected
      },
      (error: unknown) => {
        if (this.last === request) this.last = null
        throw error
      },
    )
  }

  /** Resets the state. To be called when the clock was set back, because the state would be ahead of the clock. */
  reset(): void {
    this.last = null
    this.isSuspected = false
  }

  private record(suspected: boolean, tickAt: Instant): void {
    if (suspected && !this.isSuspected) this.parts.onSuspected(tickAt)
    this.isSuspected = suspected
  }

  private async evaluate(tickAt: Instant): Promise<boolean> {
    const { seriesMonitor, domains } = this.parts
    const watched = domains()
    if (watched.length < MIN_DOMAINS) return false
    const window = { from: tickAt - TICK_MS, to: tickAt }
    const states: DomainState[] = []
    for (const some of Map.groupBy(watched, ({ orgId }) => orgId).values()) {
      const scopes = some.map((one) => ({ ...one, vendor: null, event: null, stepMs: SIGNAL_STEP_MS }))
      const [rows = []] = await seriesMonitor.verdicts(scopes, [window])
      states.push(...rows)
    }
    const fall = commonDrop(states)
    return fall !== null && !(await this.hasTraffic(fall.uncertain, { from: fall.since, to: tickAt }))
  }

  private async hasTraffic(domainIds: readonly string[], window: Span): Promise<boolean> {
    if (domainIds.length === 0) return false
    return (await this.parts.warehouse.query(trafficQuery(domainIds, window))).length > 0
  }
}

/** Returns the query for any event in these domains of any organization. Requires at least one domain. */
export function trafficQuery(domainIds: readonly string[], window: Span): Query {
  return query('signals.traffic', {
    over: 'counts',
    orgId: null,
    window,
    write: (binder) => ({ sql: `SELECT 1 FROM counts WHERE ${binder.among('domainId', domainIds).join('')} LIMIT 1` }),
  })
}

/** Returns the message to the operator. */
export function serverOutageNotice(at: Instant): { subject: string; text: string } {
  return {
    subject: `traffic on all domains dropped at once, before ${timeText(at)}`,
    text: 'The cause is probably in front of this server, not in the tags: check that the collector can be reached from outside. Only the operator is notified of these drops until traffic returns.',
  }
}
