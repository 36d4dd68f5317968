/** Thrown inside a rule set when the time of a caller is used up; never leaves it. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
}

/** How long a rule set may work for its caller. */
export interface Meter {
  /** Throws `OutOfTime` when less than `neededMs` is left. */
  check(neededMs: number): void
}

/** Where nobody waits. */
export const UNLIMITED: Meter = { check() {} }

/** Clocks that never go back, in milliseconds from any moment. */
export interface Stopwatch {
  /** Time that passes. */
  wallMs(): number
  /** Time that the processor spends on this thread; dearer to ask for. */
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
 * A meter that ends after `ms`, and after as much work again where more time than that has passed: a machine may be busy
 * with other things meanwhile, for which nobody is to blame.
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
