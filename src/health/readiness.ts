import { type Clock, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type CheckResult, type ReadinessCheck, runChecks } from '../http/health-routes.ts'
import { diskFault, diskSpace } from '../store/disk-space.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { Alarms } from './alarms.ts'

/** Age at which waiting work makes the server not ready. */
export const MAX_WAIT_MS = 2 * MINUTE_MS

const GIB = 2 ** 30

/** The operator is warned when less than this is free. */
const LOW_BYTES = GIB
const LOW_SHARE = 0.05
/** The warning ends when this many times as much is free, so that it doesn't begin and end repeatedly. */
const ENOUGH_FACTOR = 1.2

interface Space {
  freeBytes: number
  totalBytes: number
}

/** True when less than 5 % or 1 GiB is free. `factor` raises both limits. */
export const isLow = ({ freeBytes, totalBytes }: Space, factor = 1): boolean =>
  freeBytes < LOW_BYTES * factor || freeBytes < totalBytes * LOW_SHARE * factor

const spaceText = ({ freeBytes, totalBytes }: Space) =>
  `${(freeBytes / GIB).toFixed(1)} GiB free (${Math.floor((100 * freeBytes) / Math.max(1, totalBytes))} %)`

export function diskCheck(folder: string, isRefusing: () => boolean): ReadinessCheck {
  return {
    name: 'disk',
    check() {
      const fault = diskFault(folder, isRefusing())
      return fault === null ? { ok: true, message: spaceText(diskSpace(folder)) } : { ok: false, message: fault }
    },
  }
}

/** Warns the operator once when the disk is almost full, and once when there is enough space again. */
export function watchDiskSpace(space: Space, alarms: Alarms): void {
  if (isLow(space)) {
    alarms.raise('low disk', {
      subject: 'the disk is almost full',
      text: `The disk of the data folder has ${spaceText(space)}. When it is full, no events can be stored. Free some space, or limit the size of collected data with TAGWARDEN_DISK_BUDGET.`,
    })
  } else if (!isLow(space, ENOUGH_FACTOR)) {
    alarms.clear('low disk', {
      subject: 'the disk has enough free space again',
      text: `The disk of the data folder has ${spaceText(space)}.`,
    })
  }
}

/** Checks repeatedly that the engine of the warehouse answers. */
export class EngineProbe {
  /** Failure of the last probe; null if it succeeded. */
  private fault: string | null = null
  /** Start of the running probe; null between probes. */
  private begunAt: Instant | null = null

  constructor(
    private readonly warehouse: Pick<Warehouse, 'probe'>,
    private readonly clock: Clock,
    private readonly report: (error: unknown, where: string) => void,
  ) {}

  /** Runs one probe. Never throws: the first failure is reported, and `check` returns the result. */
  async run(): Promise<void> {
    this.begunAt = this.clock.now()
    try {
      await this.warehouse.probe()
      this.fault = null
    } catch (error) {
      const isKnown = error instanceof AppError
      if (this.fault === null && !isKnown) this.report(error, 'the query engine')
      this.fault = isKnown ? error.message : 'the query engine fails; see the log, and restart the server'
    } finally {
      this.begunAt = null
    }
  }

  readonly check: ReadinessCheck = {
    name: 'engine',
    check: () => {
      if (this.fault !== null) return { ok: false, message: this.fault }
      const waitedMs = this.begunAt === null ? 0 : this.clock.now() - this.begunAt
      if (waitedMs > MAX_WAIT_MS)
        return { ok: false, message: `the query engine has not answered for ${ageText(waitedMs)}` }
      return { ok: true, message: 'the query engine answers' }
    },
  }
}

interface WaitingWork {
  name: string
  /** The waiting things: `received events`. */
  what: string
  /** The end of their wait: `to be moved into the event files`. */
  until: string
  /** Time since which the oldest of them waits; null if nothing waits. */
  since(): Instant | null
}

/** A check that fails when work has been waiting for more than 2 minutes. */
export function waitingCheck({ name, what, until, since }: WaitingWork, clock: Clock): ReadinessCheck {
  return {
    name,
    check(): CheckResult {
      const at = since()
      const ageMs = at === null ? 0 : clock.now() - at
      if (ageMs <= MAX_WAIT_MS) return { ok: true, message: 'nothing has been waiting for more than 2 minutes' }
      return { ok: false, message: `${what} have been waiting for ${ageText(ageMs)} ${until}` }
    },
  }
}

function ageText(ms: number): string {
  return ms < 2 * MINUTE_MS ? `${Math.round(ms / SECOND_MS)} s` : `${Math.floor(ms / MINUTE_MS)} min`
}

/** Number of consecutive runs in which a check must fail or succeed before the operator is notified. */
const CONFIRMATIONS = 3

/** Notifies the operator once when a check fails, and once when it succeeds again. */
export class ReadinessWatch {
  /** Number of consecutive runs with the same result, by check. */
  private readonly streaks = new Map<string, { ok: boolean; runs: number }>()

  constructor(
    private readonly checks: () => readonly ReadinessCheck[],
    private readonly alarms: Alarms,
  ) {}

  /** Must be called about every 10 s. Returns true if all checks succeed. */
  run(): boolean {
    const results = runChecks(this.checks())
    for (const { name, ok, message } of results) {
      const before = this.streaks.get(name)
      const runs = before?.ok === ok ? before.runs + 1 : 1
      this.streaks.set(name, { ok, runs })
      if (runs < CONFIRMATIONS) continue
      if (ok) this.alarms.clear(`check ${name}`, { subject: `the check "${name}" succeeds again`, text: `${message}.` })
      else {
        this.alarms.raise(`check ${name}`, {
          subject: `the server is not ready: the check "${name}" fails`,
          text: `${message}. GET /readyz lists all checks.`,
        })
      }
    }
    return results.every(({ ok }) => ok)
  }
}
