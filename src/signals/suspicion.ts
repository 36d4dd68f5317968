import { HOUR_MS, type Instant } from '../core/clock.ts'
import type { SeriesState } from '../detector/detector.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Follower } from './follower.ts'
import { type SeriesScope, SIGNAL_STEP_MS, type Span, TICK_MS } from './series.ts'

/** Fewer domains can fall at once by chance. */
const MIN_DOMAINS = 3

/** Domains that fell so long before the last one fell for reasons of their own. */
const SPREAD_MS = 3 * HOUR_MS

/** How the whole traffic of one domain stands. */
export interface DomainState {
  domainId: string
  state: SeriesState
  /** True when it is low or silent. */
  down: boolean
  /** Since when it is so: start of the row, or end of the last minute with events. */
  since: Instant
}

/** Domains that fell at once, beyond doubt or by what it looks like. */
export interface CommonFall {
  /** When the last of those fell that did beyond doubt. */
  since: Instant
  /** Of the others; that it was no fall of ours is shown by any event of theirs since. */
  doubtful: string[]
}

/**
 * What looks as if not the domains fell, but we: of at least three whose traffic is known half or more fell within three
 * hours. The others may be too quiet for a silence to show yet. Null when it does not look so.
 */
export function commonFall(domains: readonly DomainState[]): CommonFall | null {
  const known = domains.filter(({ state }) => state !== 'learning')
  const since = known.reduce((last, one) => (one.down ? Math.max(last, one.since) : last), Number.NEGATIVE_INFINITY)
  const standing = known.filter((one) => !one.down || one.since >= since - SPREAD_MS)
  const doubtful = standing.filter(({ down }) => !down).map(({ domainId }) => domainId)
  if (standing.length < MIN_DOMAINS || doubtful.length * 2 > standing.length) return null
  return { since, doubtful }
}

/** Whose traffic is followed, and how. */
export type WatchedTraffic = Pick<SeriesScope, 'orgId' | 'domainId' | 'sensitivity' | 'timezone'>

export interface SuspicionParts {
  warehouse: History
  follower: Pick<Follower, 'verdicts'>
  /** All domains with signals, of all organizations. */
  domains(): readonly WatchedTraffic[]
  /** Told when a suspicion arises, and not again while it lasts. */
  arose(at: Instant): void
}

/** Whether falls of signals are ours, because everything fell at once: then only the operator is told. */
export class Suspicion {
  private last: { at: Instant; answer: Promise<boolean> } | null = null
  private isSuspected = false

  constructor(private readonly parts: SuspicionParts) {}

  /** As of the last tick that was asked for. */
  get suspected(): boolean {
    return this.isSuspected
  }

  /**
   * Whether everything fell at the tick that ends then. Ticks may be asked for again and in any order. Fails with
   * `unavailable` as the warehouse does.
   */
  at(tickAt: Instant): Promise<boolean> {
    if (this.last?.at === tickAt) return this.last.answer
    const isLater = this.last === null || tickAt > this.last.at
    const answer = this.look(tickAt)
    if (!isLater) return answer
    const asked = { at: tickAt, answer }
    this.last = asked
    return answer.then(
      (suspected) => {
        if (this.last === asked) this.note(suspected, tickAt)
        return suspected
      },
      (error: unknown) => {
        if (this.last === asked) this.last = null
        throw error
      },
    )
  }

  /** The clock was put back: what is asked next is later than anything before. */
  forget(): void {
    this.last = null
    this.isSuspected = false
  }

  private note(suspected: boolean, tickAt: Instant): void {
    if (suspected && !this.isSuspected) this.parts.arose(tickAt)
    this.isSuspected = suspected
  }

  private async look(tickAt: Instant): Promise<boolean> {
    const { follower, domains } = this.parts
    const watched = domains()
    if (watched.length < MIN_DOMAINS) return false
    const window = { from: tickAt - TICK_MS, to: tickAt }
    const states: DomainState[] = []
    for (const some of Map.groupBy(watched, ({ orgId }) => orgId).values()) {
      const scopes = some.map((one) => ({ ...one, vendor: null, event: null, stepMs: SIGNAL_STEP_MS }))
      const [rows = []] = await follower.verdicts(scopes, [window])
      states.push(...rows)
    }
    const fall = commonFall(states)
    return fall !== null && !(await this.hasTraffic(fall.doubtful, { from: fall.since, to: tickAt }))
  }

  private async hasTraffic(domainIds: readonly string[], window: Span): Promise<boolean> {
    if (domainIds.length === 0) return false
    return (await this.parts.warehouse.query(trafficQuery(domainIds, window))).length > 0
  }
}

/** Finds a row where one of these domains, at least one, has traffic; for all organizations. */
export function trafficQuery(domainIds: readonly string[], window: Span): Query {
  return query('signals.traffic', {
    over: 'counts',
    orgId: null,
    window,
    write: (binder) => ({ sql: `SELECT 1 FROM counts WHERE ${binder.among('domainId', domainIds).join('')} LIMIT 1` }),
  })
}

/** What an operator is told of it. */
export function suspicionNotice(at: Instant): { subject: string; text: string } {
  return {
    subject: `the traffic of all domains fell at once, before ${new Date(at).toISOString()}`,
    text: 'That looks like something in front of this server, not like their tags: is the collector reached from outside? Nobody else is told of these falls until traffic comes back.',
  }
}
