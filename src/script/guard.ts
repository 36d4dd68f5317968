/** After so many errors of our own the script does nothing more on this page. */
const MAX_ERRORS = 5
/** Of every second on the main thread, at most this much is ours. */
const BUDGET_MS = 5
const BUDGET_WINDOW_MS = 1000

/** Everything of ours runs in here: nothing of it can throw into the page, and it ends when it fails too often. */
export interface Guard {
  /** What `work` answers; undefined when it threw, and when the guard is off. */
  run<T>(work: () => T): T | undefined
  /** True when this second's share of the main thread is used up, or `times` as much: what can wait, waits. */
  isSpent(times?: number): boolean
  isOff(): boolean
  /** For good: wrapped functions do nothing any more but call what they wrap. */
  stop(): void
}

/** `now` in ms, of a clock that never goes back. */
export function makeGuard(now: () => number): Guard {
  let errors = 0
  let isOff = false
  let depth = 0
  let windowAt = 0
  let usedMs = 0
  return {
    run(work) {
      if (isOff) return undefined
      // Only the outermost is measured, or time would count twice.
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
