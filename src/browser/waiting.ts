import { setTimeout as sleep } from 'node:timers/promises'

/** A pause between two looks at a page. */
const EVERY_MS = 50

/** Work took longer than its limit. */
export class TooLate extends Error {
  constructor(readonly limitMs: number) {
    super(`nothing came of it in ${limitMs} ms`)
  }
}

/**
 * Resolves or fails as `work` does. Fails with `TooLate` after `limitMs`, and with the reason of `stopping` when that is
 * aborted; what becomes of the work then is nobody's business.
 */
export async function within<T>(work: Promise<T>, limitMs: number, stopping: AbortSignal): Promise<T> {
  const timer = new AbortController()
  const signal = AbortSignal.any([stopping, timer.signal])
  const late = sleep(Math.max(0, limitMs), null, { signal }).then(
    () => Promise.reject(new TooLate(limitMs)),
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
 * Calls `look` until it returns something, and returns that; null after `limitMs`. A look that hangs counts as nothing.
 * Fails when `stopping` is aborted, or `look` fails.
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
      if (error instanceof TooLate) return null
      throw error
    })
    if (found !== null) return found
    if (performance.now() + everyMs > end) return null
    await sleep(everyMs, null, { signal: stopping }).catch(() => {})
    stopping.throwIfAborted()
  }
}
