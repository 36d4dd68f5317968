import { messageOf } from './error.ts'

const NAMED = 5

/** Combines several errors into one: `3 <what> failed: …`, followed by the first five messages. */
export function combinedError(what: string, errors: readonly unknown[]): AggregateError {
  const named = errors.slice(0, NAMED).map(messageOf).join('; ')
  return new AggregateError(errors, `${errors.length} ${what} failed: ${named}`)
}

/**
 * Runs `work` for each item, one after another. A failed item does not prevent the next items from running. After the
 * last item, all errors are thrown together as an `AggregateError`. Nothing is retried.
 */
export async function attemptEach<T>(
  what: string,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = []
  for (const item of items) {
    try {
      await work(item)
    } catch (error) {
      errors.push(...(error instanceof AggregateError ? error.errors : [error]))
    }
  }
  if (errors.length > 0) throw combinedError(what, errors)
}
