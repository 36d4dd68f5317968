import { AppError } from '../core/error.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { sizeOfPattern } from './pattern.ts'

const PATTERN_OPERATORS: readonly unknown[] = ['regex', 'custom_pii_regex']

/**
 * Compiles the patterns of all conditions in a parsed body and yields to the event loop in between, because 5,000
 * patterns of 1,000 characters take 20 s. Afterwards `checkRule` and `costOf` use the cached sizes. Invalid patterns
 * are skipped and reported by `checkRule`. Stops when `signal` aborts.
 */
export async function measurePatterns(body: unknown, signal?: AbortSignal): Promise<void> {
  const yielder = new Yielder()
  const open = [{ items: [body], next: 0, arePatterns: false }]
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const value = top.items[top.next++]
    if (top.next > top.items.length) open.pop()
    else if (top.arePatterns) {
      if (typeof value === 'string') measure(value)
    } else if (typeof value === 'object' && value !== null) {
      const { op, values } = value as { op?: unknown; values?: unknown }
      const arePatterns = PATTERN_OPERATORS.includes(op) && Array.isArray(values)
      const items = arePatterns ? (values as unknown[]) : Array.isArray(value) ? value : Object.values(value)
      open.push({ items, next: 0, arePatterns })
    }
    if (yielder.isDue) await yielder.yieldNow()
    if (signal?.aborted) return
  }
}

function measure(source: string): void {
  try {
    sizeOfPattern(source)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}
