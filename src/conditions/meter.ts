/** Thrown inside a rule set when the caller's time is used up, and always caught there. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
}

/** Limits the time a rule set may take for its caller. */
export interface Meter {
  /** Throws `OutOfTime` when less than `neededMs` is left. */
  check(neededMs: number): void
}

/** For work that no caller waits for. */
export const UNLIMITED: Meter = { check() {} }

/** Monotonic clocks, in milliseconds since an arbitrary moment. */
export interface Stopwatch {
  /** Real time. */
  wallMs(): number
  /** Processor time of this thread; more expensive to read. */
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
 * Returns a meter that ends after `ms` of real time, extended until `ms` of processor time are used when the machine is
 * busy with other work.
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
