import { setTimeout as sleep } from 'node:timers/promises'

/** Interval between two checks, in milliseconds. */
const EVERY_MS = 50

/** Thrown when work has exceeded its time limit. */
export class TimeLimitExceeded extends Error {
  constructor(readonly limitMs: number) {
    super(`no result within ${limitMs} ms`)
  }
}

/**
 * Returns the result of `work`, or rejects with its error. Rejects with `TimeLimitExceeded` after `limitMs`, and with
 * the abort reason when `stopping` is aborted. A later result of `work` is ignored.
 */
export async function within<T>(work: Promise<T>, limitMs: number, stopping: AbortSignal): Promise<T> {
  const timer = new AbortController()
  const signal = AbortSignal.any([stopping, timer.signal])
  const late = sleep(Math.max(0, limitMs), null, { signal }).then(
    () => Promise.reject(new TimeLimitExceeded(limitMs)),
    () => (stopping.aborted ? Promise.reject(stopping.reason) : null),
  )
  work.catch(() => {})
  try {
    return (await Promise.race([work, late])) as T
  } finally {
    timer.abort()
    late.catch(() => {})
  }
}

/**
 * Calls `look` until it returns a value, and returns that value; null after `limitMs`. A call that hangs is treated
 * like a call that returns nothing. Rejects when `stopping` is aborted or `look` rejects.
 */
export async function until<T>(
  look: () => Promise<T | null>,
  limitMs: number,
  stopping: AbortSignal,
  everyMs = EVERY_MS,
): Promise<T | null> {
  const end = performance.now() + limitMs
  for (;;) {
    const left = end - performance.now()
    const found = await within(look(), Math.max(left, everyMs), stopping).catch((error: unknown) => {
      if (error instanceof TimeLimitExceeded) return null
      throw error
    })
    if (found !== null) return found
    if (performance.now() + everyMs > end) return null
    await sleep(everyMs, null, { signal: stopping }).catch(() => {})
    stopping.throwIfAborted()
  }
}
