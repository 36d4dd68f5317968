/** Thrown inside a rule set when the caller's time limit is reached. It is always caught there. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
}

/** Time limit for the evaluation of a rule set. */
export interface Meter {
  /** Throws `OutOfTime` when less than `neededMs` remains. */
  check(neededMs: number): void
}

/** A meter without a limit, for work that does not block a caller. */
export const UNLIMITED: Meter = { check() {} }

/** Monotonic clocks, in milliseconds since an arbitrary point in time. */
export interface Stopwatch {
  /** Elapsed real time. */
  wallMs(): number
  /** Processor time of this thread. Reading it is more expensive. */
  processorMs(): number
}

export const stopwatch: Stopwatch = {
  wallMs: () => performance.now(),
  processorMs() {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
}

/**
 * Returns a meter with a limit of `ms` of real time. When the machine is busy with other work, the limit is extended
 * until `ms` of processor time are used.
 */
export function meterOf(ms: number, { wallMs, processorMs }: Stopwatch): Meter {
  const end = wallMs() + ms
  let processorEnd: number | null = null
  return {
    check(neededMs) {
      if (wallMs() + neededMs < end) return
      const processor = processorMs()
      processorEnd ??= processor + ms
      if (processor + neededMs >= processorEnd) throw new OutOfTime()
    },
  }
}
