/** After this many own errors the script stops on this page. */
const MAX_ERRORS = 5
/** Time budget of the script on the main thread, in each second. */
const BUDGET_MS = 5
const BUDGET_WINDOW_MS = 1000

/** Runs all code of the script: catches its errors, so that none reaches the page, and stops it after too many. */
export interface Guard {
  /** Returns what `work` returns; undefined when it threw, or the guard was stopped. */
  run<T>(work: () => T): T | undefined
  /** True when this second's time budget, or `times` as much, is used up: work that can wait is then delayed. */
  isSpent(times?: number): boolean
  isOff(): boolean
  /** Stops for good: wrapped functions then only call the originals. */
  stop(): void
}

/** `now` returns ms of a monotonic clock. */
export function makeGuard(now: () => number): Guard {
  let errors = 0
  let isOff = false
  let depth = 0
  let windowAt = 0
  let usedMs = 0
  return {
    run(work) {
      if (isOff) return undefined
      // Only the outermost call is measured, or time would count twice.
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
