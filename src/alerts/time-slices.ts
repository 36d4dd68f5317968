import { type Meter, meterOf, type Stopwatch, stopwatch } from '../conditions/meter.ts'

/** What one batch may take while nobody else sends, and at worst as much again: how long the server answers nothing. */
const ALONE_MS = 25
/** What one batch may take while another organization sends too. */
const SHARED_MS = 3
/** What an organization may take of the time that others share with it, and how much of it at once. */
const SHARE = 0.25
const BURST_MS = 50
/** Events that cost less are not counted: with 10,000 rules that differ, one takes half of it. */
const FREE_MS = 0.1
/** An organization that sent nothing for so long shares nothing. */
const ACTIVE_MS = 1000

interface Account {
  leftMs: number
  at: number
}

/**
 * How long the events of an organization may be judged at the door. By time that passes, not by the clock of events: the
 * server's own work is what is shared out.
 */
export class TimeSlices {
  private readonly accounts = new Map<string, Account>()
  private latest: { orgId: string; at: number } = { orgId: '', at: Number.NEGATIVE_INFINITY }
  /** When somebody else than the latest last sent. */
  private othersAt = Number.NEGATIVE_INFINITY

  constructor(private readonly watch: Stopwatch = stopwatch) {}

  /** A meter for one batch, and what to call at its end with the number of its events. */
  begin(orgId: string): { meter: Meter; end(events: number): void } {
    const startedAt = this.watch.wallMs()
    const account = this.accountOf(orgId, startedAt)
    const isShared = this.isShared(orgId, startedAt)
    const meter = meterOf(isShared ? Math.min(SHARED_MS, account.leftMs) : ALONE_MS, this.watch)
    // Who was dear before is measured more closely, without the time that the machine had other things to do.
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
