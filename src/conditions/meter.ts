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

/** A meter that ends `ms` from now, by a clock that never goes back. */
export function meterOf(ms: number, now: () => number): Meter {
  const end = now() + ms
  return {
    check(neededMs) {
      if (now() + neededMs >= end) throw new OutOfTime()
    },
  }
}
