import type { Issue, IssueMoved, StreamPulse } from '#client/types.gen'
import { timeOfId } from '../../contract/id-time.ts'
import { SEVERITIES_DESCENDING } from '../../contract/severities.ts'

/** New issues that are announced together. */
export interface NewIssueSummary {
  count: number
  /** The worst severity among the issues; `worstCount` of them have it. */
  worst: Issue['severity']
  worstCount: number
}

/** Issues opened within this time are announced together. */
const GATHER_MS = 2000
/** Minimum time between announcements. */
const PAUSE_MS = 60_000

/** Collects newly opened issues for announcements. Times are milliseconds since the epoch. */
export class NewIssueCollector {
  /** Server time of the first pulse; issues opened earlier are not announced. */
  private since: number | null = null
  private readonly open = new Map<string, Issue['severity']>()
  private readonly told = new Set<string>()
  private toldAt = Number.NEGATIVE_INFINITY

  /** Handles a stream event. Returns whether there is an issue to announce. */
  hear(name: string, data: unknown): boolean {
    if (name === 'pulse') this.since ??= (data as StreamPulse).at
    if (name !== 'issue' || this.since === null) return this.open.size > 0
    const { id, status, severity } = data as IssueMoved
    if (status !== 'open') this.open.delete(id)
    else if (timeOfId('iss', id) >= this.since && !this.told.has(id)) this.open.set(id, severity)
    return this.open.size > 0
  }

  /** Milliseconds until the next announcement is allowed. */
  wait(now: number): number {
    return Math.max(GATHER_MS, this.toldAt + PAUSE_MS - now)
  }

  /** Removes and returns the pending announcement; null if none of its issues is still open. */
  take(now: number): NewIssueSummary | null {
    const severities = [...this.open.values()]
    for (const id of this.open.keys()) this.told.add(id)
    this.open.clear()
    const worst = SEVERITIES_DESCENDING.find((severity) => severities.includes(severity))
    if (worst === undefined) return null
    this.toldAt = now
    return { count: severities.length, worst, worstCount: severities.filter((one) => one === worst).length }
  }
}
