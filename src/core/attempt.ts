import { messageOf } from './error.ts'

const NAMED = 5

/** All of several failures as one; `what` they are stands in the message, with the first five. */
export function allFailed(what: string, errors: readonly unknown[]): AggregateError {
  const named = errors.slice(0, NAMED).map(messageOf).join('; ')
  return new AggregateError(errors, `${errors.length} ${what} failed, such as ${named}`)
}

/**
 * Does `work` with one after another. One that fails costs the others nothing; what failed is thrown at the end, all
 * together as an `AggregateError`, and is not tried again.
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
  if (errors.length > 0) throw allFailed(what, errors)
}
