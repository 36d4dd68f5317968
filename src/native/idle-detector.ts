import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'

/** The program is considered idle during a second in which it uses less than this fraction of a processor. */
const IDLE_SHARE = 0.05
/** Number of consecutive checks that must find the program idle. */
const IDLE_CHECKS = 4
/** If the program has used less processor time than this since the last release, there is little memory to release. */
const MIN_WORK_MS = SECOND_MS / 5
const MIN_PAUSE_MS = MINUTE_MS

/** Calls `onIdle` when the program becomes idle after work, at most once a minute. */
export class IdleDetector {
  private last: { atMs: number; usedMs: number }
  private released = { atMs: Number.NEGATIVE_INFINITY, usedMs: 0 }
  private idleChecks = 0

  /** @param usage returns the processor time used by the program, in µs */
  constructor(
    private readonly usage: () => { user: number; system: number },
    private readonly onIdle: () => void,
    private readonly now = () => performance.now(),
  ) {
    this.last = this.measure()
  }

  /** Must be called about every second. */
  check(): void {
    const { atMs, usedMs } = this.measure()
    const isIdle = usedMs - this.last.usedMs < (atMs - this.last.atMs) * IDLE_SHARE
    this.last = { atMs, usedMs }
    this.idleChecks = isIdle ? this.idleChecks + 1 : 0
    if (this.idleChecks < IDLE_CHECKS || usedMs - this.released.usedMs < MIN_WORK_MS) return
    if (atMs - this.released.atMs < MIN_PAUSE_MS) return
    this.released = { atMs, usedMs }
    this.onIdle()
  }

  private measure() {
    const { user, system } = this.usage()
    return { atMs: this.now(), usedMs: (user + system) / 1000 }
  }
}
