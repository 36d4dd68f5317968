import type { Issue, IssueMoved, StreamPulse } from '#client/types.gen'

/** New issues of which somebody is told in one sentence. */
export interface NewIssueSummary {
  count: number
  /** Of the worst severity among them. */
  worst: Issue['severity']
  worstCount: number
}

/** Issues that open together are told together. */
const GATHER_MS = 2000
/** At most one sentence in this time. */
const PAUSE_MS = 60_000

const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

/** When the issue was opened, by its id, in milliseconds since the epoch; NaN for an id without a time. */
export function openedAt(id: string): number {
  const time = /^iss_([0-9a-hjkmnp-tv-z]{10})/.exec(id)?.[1] ?? ''
  return time === '' ? Number.NaN : [...time].reduce((sum, digit) => sum * 32 + DIGITS.indexOf(digit), 0)
}

/** Tells new issues from those that only moved, and when it is time to say how many there are. Times are milliseconds. */
export class NewIssueCollector {
  /** The server's time when listening began: what was opened before is no news. */
  private since: number | null = null
  private readonly open = new Map<string, Issue['severity']>()
  private readonly told = new Set<string>()
  private toldAt = Number.NEGATIVE_INFINITY

  /** Takes an event of the stream. Returns true when there is something to say. */
  hear(name: string, data: unknown): boolean {
    if (name === 'pulse') this.since ??= (data as StreamPulse).at
    if (name !== 'issue' || this.since === null) return this.open.size > 0
    const { id, status, severity } = data as IssueMoved
    if (status !== 'open') this.open.delete(id)
    else if (openedAt(id) >= this.since && !this.told.has(id)) this.open.set(id, severity)
    return this.open.size > 0
  }

  /** In how many milliseconds it may be said. */
  wait(now: number): number {
    return Math.max(GATHER_MS, this.toldAt + PAUSE_MS - now)
  }

  /** What is said now; null where all of it is over. It is said once. */
  take(now: number): NewIssueSummary | null {
    const severities = [...this.open.values()]
    for (const id of this.open.keys()) this.told.add(id)
    this.open.clear()
    const worst = SEVERITIES.find((severity) => severities.includes(severity))
    if (worst === undefined) return null
    this.toldAt = now
    return { count: severities.length, worst, worstCount: severities.filter((one) => one === worst).length }
  }
}
