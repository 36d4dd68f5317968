import { type Meter, meterOf, type Stopwatch, stopwatch } from '../conditions/evaluation-time-limit.ts'

/**
 * Time limit for one batch while no other organization sends; exceeded at most by a factor of 2. The server handles no
 * other requests during this time.
 */
const ALONE_MS = 25
/** Time limit for one batch while another organization is sending. */
const SHARED_MS = 3
/** Fraction of elapsed time that is credited to an organization's account, and the maximum balance. */
const SHARE = 0.25
const BURST_MS = 50
/**
 * Batches that take less time per event are not charged. With 10,000 different rules, an event takes half this time.
 */
const FREE_MS = 0.1
/** An organization that has sent nothing for this time is not considered to be sending. */
const ACTIVE_MS = 1000

interface Account {
  leftMs: number
  at: number
}

/**
 * Limits the time spent evaluating an organization's events on arrival. Measures real time, not event time, because
 * organizations share the server's processing time.
 */
export class TimeSlices {
  private readonly accounts = new Map<string, Account>()
  private latest: { orgId: string; at: number } = { orgId: '', at: Number.NEGATIVE_INFINITY }
  /** Time at which an organization other than the latest sender last sent. */
  private othersAt = Number.NEGATIVE_INFINITY

  constructor(private readonly watch: Stopwatch = stopwatch) {}

  /**
   * Returns a meter for one batch, and `end`, which is to be called with the number of events after the batch has been
   * evaluated.
   */
  begin(orgId: string): { meter: Meter; end(events: number): void } {
    const startedAt = this.watch.wallMs()
    const account = this.accountOf(orgId, startedAt)
    const isShared = this.isShared(orgId, startedAt)
    const meter = meterOf(isShared ? Math.min(SHARED_MS, account.leftMs) : ALONE_MS, this.watch)
    // An organization with a reduced balance is charged only for processor time, not for time spent on other work.
    const clock = account.leftMs < BURST_MS ? this.watch.processorMs : this.watch.wallMs
    const from = clock()
    return {
      meter,
      end(events) {
        const tookMs = clock() - from
        if (tookMs > events * FREE_MS) account.leftMs -= tookMs
      },
    }
  }

  private isShared(orgId: string, now: number): boolean {
    if (this.latest.orgId !== orgId) this.othersAt = this.latest.at
    this.latest = { orgId, at: now }
    return now - this.othersAt < ACTIVE_MS
  }

  private accountOf(orgId: string, now: number): Account {
    const account = this.accounts.get(orgId) ?? { leftMs: BURST_MS, at: now }
    account.leftMs = Math.min(BURST_MS, account.leftMs + (now - account.at) * SHARE)
    account.at = now
    this.accounts.set(orgId, account)
    return account
  }
}
