import { type Meter, meterOf } from '../conditions/meter.ts'

/** What one batch may take while nobody else sends: how long the server answers nothing else. */
const ALONE_MS = 50
/** What one batch may take while another organization sends too. */
const SHARED_MS = 5
/** What an organization may take of the time that others share with it, and how much of it at once. */
const SHARE = 0.25
const BURST_MS = 50
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

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** A meter for one batch, and what to call at its end. */
  begin(orgId: string): { meter: Meter; end(): void } {
    const startedAt = this.now()
    const account = this.accountOf(orgId, startedAt)
    const isShared = this.isShared(orgId, startedAt)
    const meter = meterOf(isShared ? Math.min(SHARED_MS, account.leftMs) : ALONE_MS, this.now)
    return {
      meter,
      end: () => {
        account.leftMs -= this.now() - startedAt
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
