/** The script stops on this page after this many errors in its code. */
const MAX_ERRORS = 5
/** Time budget of the script on the main thread per second. */
const BUDGET_MS = 5
const BUDGET_WINDOW_MS = 1000

/**
 * Runs all code of the script. Catches its errors so that the page never sees one, and stops the script after too many.
 */
export interface ErrorGuard {
  /** Returns the result of `work`; undefined when `work` threw or the guard was stopped. */
  run<T>(work: () => T): T | undefined
  /**
   * True when the time budget of the current second, or `times` that budget, is used up. Work that can wait is then
   * delayed.
   */
  isSpent(times?: number): boolean
  isOff(): boolean
  /** Stops permanently. Wrapped functions then only call the originals. */
  stop(): void
}

/** Creates a guard. `now` returns the ms of a monotonic clock. */
export function makeErrorGuard(now: () => number): ErrorGuard {
  let errors = 0
  let isOff = false
  let depth = 0
  let windowAt = 0
  let usedMs = 0
  return {
    run(work) {
      if (isOff) return undefined
      // Only the outermost call is measured; otherwise time would be counted twice.
      const startedAt = depth++ === 0 ? now() : 0
      try {
        return work()
      } catch {
        errors++
        if (errors >= MAX_ERRORS) isOff = true
        return undefined
      } finally {
        if (--depth === 0) {
          const endedAt = now()
          if (endedAt - windowAt > BUDGET_WINDOW_MS) {
            windowAt = endedAt
            usedMs = 0
          }
          usedMs += endedAt - startedAt
        }
      }
    },
    isSpent: (times = 1) => usedMs > BUDGET_MS * times && now() - windowAt <= BUDGET_WINDOW_MS,
    isOff: () => isOff,
    stop() {
      isOff = true
    },
  }
}
