import { AppError } from '../core/error.ts'
import { Pace } from '../core/pace.ts'
import { sizeOfPattern } from './pattern.ts'

const PATTERN_OPERATORS: readonly unknown[] = ['regex', 'custom_pii_regex']

/**
 * Compiles the patterns of all conditions in a parsed body, whatever else is in it, and yields to the event loop meanwhile:
 * 5,000 patterns of 1,000 characters take 20 s. `checkRule` and `costOf` then know their sizes. Invalid patterns are left
 * to `checkRule`. Stops when `signal` aborts.
 */
export async function measurePatterns(body: unknown, signal?: AbortSignal): Promise<void> {
  const pace = new Pace()
  for (const source of patternsIn(body)) {
    if (signal?.aborted) return
    try {
      sizeOfPattern(source)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
    if (pace.isDue) await pace.rest()
  }
}

function* patternsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  const { op, values } = value as { op?: unknown; values?: unknown }
  if (PATTERN_OPERATORS.includes(op) && Array.isArray(values)) {
    yield* values.filter((one) => typeof one === 'string')
  } else for (const item of Object.values(value)) yield* patternsIn(item)
}
